// SPDX-License-Identifier: Apache-2.0
// What AMD's runtime says of shapes before it looks at the device, by the form of the launch and the major
// (hip_module.cpp and hip_platform.cpp of its releases 5.6, 6.3 and 7). `major`: of the library that the
// program is linked with.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

namespace tf::hipdata {

inline constexpr std::uint64_t kModuleThreadsMax = 1024;      // of a block
inline constexpr std::uint32_t kModuleBlocksMax = INT32_MAX;  // along the first axis
// Along the others, for hipModuleLaunchKernel of HIP 6. What launches by host stub may have is what the 32
// bits of a launch hold: more than maxGridSize says.
inline constexpr std::uint32_t kModuleRowsMax = 65536;

// Launches of a module's function.
inline hipError_t check_module_shape(const std::uint32_t (&blocks)[3], const std::uint32_t (&threads)[3]) {
  std::uint64_t all = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (blocks[axis] == 0 || (axis == 0 && blocks[axis] > kModuleBlocksMax)) return hipErrorInvalidValue;
    if (threads[axis] == 0 || threads[axis] > kModuleThreadsMax) return hipErrorInvalidValue;
    all *= threads[axis];
  }
  return all > kModuleThreadsMax ? hipErrorInvalidValue : hipSuccess;
}

// hipModuleLaunchKernel alone, which counts blocks.
inline hipError_t check_module_blocks(unsigned major, const std::uint32_t (&blocks)[3],
                                      const std::uint32_t (&threads)[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    if (major == 6 && axis > 0 && blocks[axis] > kModuleRowsMax) return hipErrorInvalidValue;
    if (major >= 7 && std::uint64_t{blocks[axis]} * threads[axis] > UINT32_MAX) return hipErrorInvalidValue;
  }
  return hipSuccess;
}

// Blocks of hipExtModuleLaunchKernel, which counts threads. A block longer than the launch is cut to it,
// unless its size is refused anyway. False: `threads` has a 0, or the last block of an axis is smaller (`blocks`
// counts it).
inline bool whole_blocks(const std::uint32_t (&all)[3], std::uint32_t (&threads)[3],
                         std::uint32_t (&blocks)[3]) {
  const bool may_be = check_module_shape({1, 1, 1}, threads) == hipSuccess;
  bool whole = true;
  for (int axis = 0; axis < 3; ++axis) {
    if (may_be && all[axis] != 0 && all[axis] < threads[axis]) threads[axis] = all[axis];
    if (threads[axis] == 0) return false;
    blocks[axis] = all[axis] / threads[axis] + (all[axis] % threads[axis] != 0 ? 1 : 0);
    whole = whole && all[axis] % threads[axis] == 0;
  }
  return whole;
}

// Launches by host stub, but for cooperative ones, of nothing: an invalid value up to HIP 6, an invalid
// configuration in HIP 7.
inline hipError_t check_stub_shape(unsigned major, const std::uint32_t (&blocks)[3],
                                   const std::uint32_t (&threads)[3]) {
  const bool empty = blocks[0] == 0 || blocks[1] == 0 || blocks[2] == 0 || threads[0] == 0 ||
                     threads[1] == 0 || threads[2] == 0;
  return empty && major < 7 ? hipErrorInvalidValue : hipSuccess;  // the device's limits refuse it in HIP 7
}

}  // namespace tf::hipdata
