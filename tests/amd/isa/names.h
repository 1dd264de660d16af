// SPDX-License-Identifier: Apache-2.0
// Which row of the table a processor's mnemonic means.
#pragma once

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

}  // namespace tf::amd::isa
