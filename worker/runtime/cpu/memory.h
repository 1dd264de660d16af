// SPDX-License-Identifier: Apache-2.0
// Allocation and release of whole ranges, of every kind of memory but pools and mappings.
// Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "worker/runtime/cpu/memory_map.h"

namespace tf::cpu {

class Device;

// Maps memory, and counts it against the device (host memory and managed memory are not counted). 0 bytes:
// null and success.
hipError_t allocate(Device& device, MemoryKind kind, unsigned flags, std::size_t bytes, void** pointer);
// Null is success. Waits until the devices are idle before the memory goes.
hipError_t release(void* pointer);
// Unmaps an allocation that was removed from the map, or returns it to its pool.
void release_pages(const Allocation& allocation);

}  // namespace tf::cpu
