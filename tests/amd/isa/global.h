// SPDX-License-Identifier: Apache-2.0
// Addresses of global, flat and scratch accesses [CDNA2 chapter 9 "Flat Memory Instructions"].
#pragma once

#include <cstdint>

#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {

enum class Space : std::uint8_t { kGlobal, kFlat, kScratch };

// Where every lane that takes part finds its bytes.
struct Places {
  std::uint8_t* at[kLanes];
};

// `address` and `base`: operands; of flat accesses only `address`.
void global_places(Wave& w, const Instruction& in, Space space, int address, int base, unsigned bytes,
                   bool write, Places& places);

// A place in a lane's private memory, LDS or global memory, by a flat address.
std::uint8_t* flat_at(Wave& w, int lane, std::uint64_t address, unsigned bytes, bool write);
// A place in a lane's private memory.
std::uint8_t* private_at(Wave& w, int lane, std::uint64_t offset, unsigned bytes);

}  // namespace tf::amd::isa
