// SPDX-License-Identifier: Apache-2.0
// Vector registers whose indices a register gives (s_set_gpr_idx_on) [CDNA2 chapter 4 "GPR indexing"].
#pragma once

#include <cstdint>

#include "tests/amd/isa/wave.h"

namespace tf::amd::isa {

constexpr std::uint32_t kIndexesRegisters = 1U << 27;  // of MODE

inline bool indexes_registers(const Wave& w) { return (w.mode.bits & kIndexesRegisters) != 0; }
// The instruction with the registers that M0 says. Throws Stop where it is not known what that means.
Instruction with_indices(const Wave& w, const Instruction& in);

}  // namespace tf::amd::isa
