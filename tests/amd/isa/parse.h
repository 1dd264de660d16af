// SPDX-License-Identifier: Apache-2.0
// The text of one instruction, in parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/amd/isa/instruction.h"

namespace tf::amd::isa {

struct Parsed {
  std::string mnemonic;  // without _e32, _e64, _sdwa, _dpp
  std::vector<std::string_view> operands;
  Modifiers mods;
};

// Views into `text`. On failure `why` says which part is not understood. `zero_bounds`: "bound_ctrl:0" is how
// a disassembler writes that it is on; where it is not, it would be off, and is refused.
std::optional<Parsed> parse(std::string_view text, bool zero_bounds, std::string& why);

// An operand of `type`; constants without rows. Nothing where it is none.
std::optional<Operand> parse_operand(std::string_view text, Type type);

}  // namespace tf::amd::isa
