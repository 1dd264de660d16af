// SPDX-License-Identifier: Apache-2.0
// What hipFuncSetAttribute takes, whatever the function. Pure.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::hipcore {

// The carveout is in per cent; -1 is the runtime's own.
inline bool takes_attribute(hipFuncAttribute attribute, int value) {
  if (attribute == hipFuncAttributePreferredSharedMemoryCarveout) return value >= -1 && value <= 100;
  return attribute == hipFuncAttributeMaxDynamicSharedMemorySize && value >= 0;
}

// Whether HIP knows the hint. It may be ignored.
inline bool is_cache_config(hipFuncCache_t config) {
  return static_cast<unsigned>(config) <= hipFuncCachePreferEqual;
}
inline bool is_shared_config(hipSharedMemConfig config) {
  return static_cast<unsigned>(config) <= hipSharedMemBankSizeEightByte;
}

}  // namespace tf::hipcore
