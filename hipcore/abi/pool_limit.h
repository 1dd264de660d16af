// SPDX-License-Identifier: Apache-2.0
// The largest size of a memory pool: hipMemPoolProps::maxSize of HIP 6, where HIP 5 has reserved bytes. Pure,
// any thread. Source: HIP's headers of 5.2.3, 6.4.3 and 7.2.4.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tf::abi {

// Bytes; 0: no limit but the device's memory.
inline std::uint64_t pool_limit(unsigned major, const hipMemPoolProps& theirs) {
  constexpr std::size_t kOffset = offsetof(hipMemPoolProps, win32SecurityAttributes) + sizeof(void*);
  static_assert(kOffset == 24 && sizeof(hipMemPoolProps) == 88);
  std::uint64_t limit = 0;
  if (major >= 6) std::memcpy(&limit, reinterpret_cast<const std::byte*>(&theirs) + kOffset, sizeof limit);
  return limit;
}

}  // namespace tf::abi
