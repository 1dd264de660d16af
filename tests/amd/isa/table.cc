// SPDX-License-Identifier: Apache-2.0
// The table of all instructions, by the mnemonic of a processor.
#include "tests/amd/isa/names.h"

namespace tf::amd::isa {
namespace {

using Table = std::unordered_map<std::string, const TableRow*>;

Table make_rows() {
  Table table;
  for (const std::span<const TableRow> rows :
       {scalar_rows(),  program_rows(),      scalar_memory_rows(), vector1_rows(), vector2_rows(),
        vector3_rows(), carry_rows(),        compare_rows(),       packed_rows(),  lane_rows(),
        local_rows(),   local_atomic_rows(), local_load_rows(),    global_rows(),  global_atomic_rows(),
        buffer_rows(),  formatted_rows(),    image_rows(),         matrix_rows(),  sparse_rows(),
        wmma_rows(),    conversion8_rows(),  indexed_rows()}) {
    for (const TableRow& row : rows) table.emplace(std::string(row.name), &row);
  }
  return table;
}

// A form of an instruction has a row of its own: it returns the value before, or saturates.
constexpr std::string_view kForms[] = {"", " glc", " clamp", " lds"};

void rename(Table& table, const Table& rows, const std::string& name, const std::string& row) {
  for (const std::string_view form : kForms) {
    const auto found = rows.find(row + std::string(form));
    if (found != rows.end()) table[name + std::string(form)] = found->second;
  }
}

}  // namespace

Names::Names(const Processor& processor) {
  const Table rows = make_rows();
  names_ = rows;
  for (const Renamed& each : processor.names)
    rename(names_, rows, std::string(each.name), std::string(each.row));
  for (const std::string prefix : {"global_", "flat_", "scratch_", "buffer_"}) {
    for (const Renamed& each : processor.memory_names) {
      rename(names_, rows, prefix + std::string(each.name), prefix + std::string(each.row));
    }
  }
  if (processor.variant.empty()) return;
  for (const auto& [name, row] : rows) {
    if (name.ends_with(processor.variant))
      names_[name.substr(0, name.size() - processor.variant.size())] = row;
  }
}

const TableRow* Names::find(const std::string& mnemonic) const {
  const auto found = names_.find(mnemonic);
  return found == names_.end() ? nullptr : found->second;
}

}  // namespace tf::amd::isa
