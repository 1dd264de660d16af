// SPDX-License-Identifier: Apache-2.0
// The calls with which staging slots get memory and events: memory of this process, and events that are only
// addresses. What an event says is each test's affair.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdlib>

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

inline void fake_staging(protocol::HipTable& hip) {
  hip.hipHostMalloc = [](void** memory, std::size_t bytes, unsigned) {
    *memory = std::aligned_alloc(4096, bytes);
    return *memory == nullptr ? hipErrorOutOfMemory : hipSuccess;
  };
  hip.hipHostFree = [](void* memory) {
    std::free(memory);
    return hipSuccess;
  };
  hip.hipEventCreateWithFlags = [](hipEvent_t* event, unsigned) {
    *event = reinterpret_cast<hipEvent_t>(std::malloc(1));
    return hipSuccess;
  };
  hip.hipEventDestroy = [](hipEvent_t event) {
    std::free(event);
    return hipSuccess;
  };
}

}  // namespace tf::worker
