// SPDX-License-Identifier: Apache-2.0
// What stands behind the void* of hipMemPool{Get,Set}Attribute (hip_runtime_api.h, hipMemPoolAttr).
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace tf::proxy {

// The reuse policies are ints, thresholds and statistics 64 bits.
constexpr std::size_t pool_attribute_bytes(hipMemPoolAttr attribute) {
  return attribute <= hipMemPoolReuseAllowInternalDependencies ? sizeof(int) : sizeof(std::uint64_t);
}

}  // namespace tf::proxy
