// SPDX-License-Identifier: Apache-2.0
// Allocation and release of whole ranges, shared by the exported functions of memory.cc and host.cc.
// Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "worker/runtime/cpu/memory_map.h"

namespace tf::cpu {

class Device;

// Maps and books memory of the device (host memory is not booked). 0 bytes: null and success.
hipError_t allocate(Device& device, MemoryKind kind, unsigned flags, std::size_t bytes, void** pointer);
// Null is success. The devices are idle before the memory goes.
hipError_t release(void* pointer);
// Unmaps what was removed from the map, or returns it to its pool.
void release_pages(const Allocation& allocation);

}  // namespace tf::cpu
