// SPDX-License-Identifier: Apache-2.0
// Buffer resources, and where a lane's bytes lie in one.
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

Buffer buffer_of(const Wave& w, const Instruction& in, const Operand& o);

// Null where the lane is outside. `vaddr`: the index, or the offset, or both.
std::uint8_t* buffer_place(Wave& w, const Instruction& in, const Buffer& buffer, std::uint32_t soffset,
                           const Row* vaddr, int lane, unsigned first, unsigned bytes, bool write);
// The same with the address of an instruction that has data, address, buffer, offset.
std::uint8_t* place(Wave& w, const Instruction& in, const Buffer& buffer, std::uint32_t soffset, int lane,
                    unsigned first, unsigned bytes, bool write);

}  // namespace tf::amd::isa
