// SPDX-License-Identifier: Apache-2.0
// Where lanes find what they access of a buffer.
#pragma once

#include <cstdint>

#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {

struct Buffer {
  std::uint64_t base = 0;
  std::uint32_t stride = 0;
  std::uint64_t records = 0;
  bool is_private = false;
  bool structured = false;    // bounds are of the index and of the offset in an element
  bool offset_counts = true;  // of a structured one: also that one
  bool offen_only = true;     // where it is of the vector register alone
};

// Of the descriptor in the scalar registers of `o`.
Buffer buffer_of(const Wave& w, const Instruction& in, const Operand& o);

// Null where the lane is outside. The instruction has data, address, buffer, offset.
std::uint8_t* place(Wave& w, const Instruction& in, const Buffer& buffer, std::uint32_t soffset, int lane,
                    unsigned first, unsigned bytes, bool write);

}  // namespace tf::amd::isa
