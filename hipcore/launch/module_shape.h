// SPDX-License-Identifier: Apache-2.0
// Shapes of launches of a module's function: what AMD's runtime calls an invalid value there. Launches by
// host stub have other limits and another code.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

namespace tf::hipdata {

inline constexpr std::uint64_t kModuleThreadsMax = 1024;  // of a block
// Along the first axis. Of the others AMD's runtime takes 65536, ours what the 32 bits of a launch hold: a
// worker launches the kernels of host stubs this way, too, and they may have more.
inline constexpr std::uint32_t kModuleBlocksMax = INT32_MAX;

inline hipError_t check_module_shape(const std::uint32_t (&blocks)[3], const std::uint32_t (&threads)[3]) {
  std::uint64_t all = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (blocks[axis] == 0 || (axis == 0 && blocks[axis] > kModuleBlocksMax)) return hipErrorInvalidValue;
    if (threads[axis] == 0 || threads[axis] > kModuleThreadsMax) return hipErrorInvalidValue;
    all *= threads[axis];
  }
  return all > kModuleThreadsMax ? hipErrorInvalidValue : hipSuccess;
}

}  // namespace tf::hipdata
