// SPDX-License-Identifier: Apache-2.0
// The table of all instructions, by mnemonic.
#include <unordered_map>

#include "tests/amd/isa/instruction.h"

namespace tf::amd::isa {
namespace {

using Table = std::unordered_map<std::string_view, const TableRow*>;

Table make_table() {
  Table table;
  for (const std::span<const TableRow> rows :
       {scalar_rows(), program_rows(), scalar_memory_rows(), vector1_rows(), vector2_rows(), vector3_rows(),
        carry_rows(), compare_rows(), packed_rows(), lane_rows(), local_rows(), local_atomic_rows(),
        global_rows(), global_atomic_rows(), buffer_rows(), matrix_rows()}) {
    for (const TableRow& row : rows) table.emplace(row.name, &row);
  }
  return table;
}

}  // namespace

const TableRow* find_row(std::string_view mnemonic) {
  static const Table kTable = make_table();
  const auto found = kTable.find(mnemonic);
  return found == kTable.end() ? nullptr : found->second;
}

}  // namespace tf::amd::isa
