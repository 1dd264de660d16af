// SPDX-License-Identifier: Apache-2.0
// Which row of the table a processor's mnemonic means.
#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "tests/amd/isa/instruction.h"
#include "tests/amd/isa/processor.h"

namespace tf::amd::isa {

class Names {
 public:
  explicit Names(const Processor& processor);
  // Null: not known.
  const TableRow* find(const std::string& mnemonic) const;

 private:
  std::unordered_map<std::string, const TableRow*> names_;
};

// Rows of gfx940 and gfx942.
std::span<const TableRow> conversion8_rows();
std::span<const TableRow> sparse_rows();
// Loads from global memory to LDS.
std::span<const TableRow> local_load_rows();

}  // namespace tf::amd::isa
