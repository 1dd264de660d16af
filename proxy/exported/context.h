// SPDX-License-Identifier: Apache-2.0
// A context stands for its device, as AMD's primary contexts do.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

namespace tf::proxy {

// hipCtx_t is the ordinal plus one.
inline hipCtx_t context_of(int device) {
  return reinterpret_cast<hipCtx_t>(static_cast<std::intptr_t>(device) + 1);
}

}  // namespace tf::proxy
