// SPDX-License-Identifier: Apache-2.0
// What hipExtMallocWithFlags accepts: the same from the client and from our runtimes.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <optional>

namespace tf::hipcore {

inline constexpr std::size_t kSignalBytes = 8;  // the one size of hipMallocSignalMemory
// Of programs since HIP 6.
inline constexpr unsigned kDeviceMallocUncached = 3;
inline constexpr unsigned kDeviceMallocContiguous = 4;

// What the flags mean here: of hipDeviceMallocDefault, hipDeviceMallocFinegrained and hipMallocSignalMemory.
// Memory that no cache of the device holds is fine-grained, and contiguous memory like any other. Nothing:
// there are no such flags, or not for so many bytes.
constexpr std::optional<unsigned> device_flags_of(unsigned flags, std::size_t bytes, unsigned major) {
  if (flags == hipMallocSignalMemory && bytes != kSignalBytes) return std::nullopt;
  if (flags <= hipMallocSignalMemory) return flags;
  if (major < 6) return std::nullopt;
  if (flags == kDeviceMallocUncached) return hipDeviceMallocFinegrained;
  if (flags == kDeviceMallocContiguous) return hipDeviceMallocDefault;
  return std::nullopt;
}

}  // namespace tf::hipcore
