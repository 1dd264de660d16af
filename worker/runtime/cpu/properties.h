// SPDX-License-Identifier: Apache-2.0
// What a CPU device says about itself. Pure functions of the machine; any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <optional>

namespace tf::cpu {

// A block never has more resident threads on one core than this: what occupancy is computed from.
inline constexpr int kMaxThreadsPerMultiprocessor = 2048;
inline constexpr int kMaxBlocksPerMultiprocessor = 32;
inline constexpr std::size_t kPitchAlignment_bytes = 256;

// `behind_bus`: to the host it looks like a card whose memory only copies reach.
hipDeviceProp_t make_properties(int ordinal, int devices, std::size_t total_bytes, bool behind_bus);

// The attribute's value, none for an attribute that this release does not know or answer.
std::optional<int> attribute_of(const hipDeviceProp_t& properties, hipDeviceAttribute_t attribute);

}  // namespace tf::cpu
