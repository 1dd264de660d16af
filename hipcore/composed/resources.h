// SPDX-License-Identifier: Apache-2.0
// Resources of devices that execution contexts are made of (HIP 7.14): multiprocessors, in ranges. What HIP
// keeps in a resource that a program holds is its place on the device (Tag); the program may have changed it,
// so it is checked wherever it comes back. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "hipcore/composed/composed.h"

namespace tf::composed {

using UnitMask = std::vector<std::uint32_t>;  // a bit for each multiprocessor, the first the lowest of word 0

inline constexpr unsigned kUnitsPerWord = 32;
inline constexpr int kUnitsMax = 2048;  // of a device: more than any has

struct Tag {
  int device = 0;
  std::uint32_t first = 0;   // multiprocessor
  std::uint32_t family = 0;  // of those that one split made; 0: of none
};

// Of a resource that HIP did not make: that of the whole first device.
Tag tag_of(const hipDevResource& resource);
hipDevResource make_resource(const Tag& tag, unsigned units, unsigned alignment, unsigned flags);

// Success: there is such a device, and `units` is how many multiprocessors it has.
hipError_t count_units(int device, unsigned& units);
// hipErrorInvalidResourceConfiguration: the resource lies outside its device.
hipError_t check_place(const hipDevResource& resource);

// The units of all these resources. REQUIRES: check_place() of each succeeded, and they are of one device
UnitMask mask_of(const std::vector<hipDevResource>& resources, unsigned units);

// Resources by the descriptor that hipDevResourceGenerateDesc() made of them. Nothing: there is no such
// descriptor. HIP has no function that ends one: of kDescriptorsMax the oldest makes room.
inline constexpr std::size_t kDescriptorsMax = 4096;
std::vector<hipDevResource> resources_of(hipDevResourceDesc_t descriptor);

}  // namespace tf::composed
