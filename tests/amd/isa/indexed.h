// SPDX-License-Identifier: Apache-2.0
// Instructions between s_set_gpr_idx_on and s_set_gpr_idx_off, whose operands are indexed.
#pragma once

#include <cstdint>

#include "tests/amd/isa/instruction.h"

namespace tf::amd::isa {

// What the index is added to: bits of s_set_gpr_idx_on.
enum Indexes : std::uint8_t {
  kIndexesSource0 = 1,
  kIndexesSource1 = 2,
  kIndexesSource2 = 4,
  kIndexesTarget = 8
};

bool is_indexing_on(const Instruction& in);
bool is_indexing_off(const Instruction& in);
// Makes it what it is there. Throws Stop where that is not known: of vector instructions only v_mov_b32 is,
// which is what compilers use.
void make_indexed(Instruction& in);

}  // namespace tf::amd::isa
