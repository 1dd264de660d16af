// SPDX-License-Identifier: Apache-2.0
// HostAllocations: host memory that devices use, as the program asks for it and gives it back. The transport
// is told of it, since it may pay to register it with a device of its own, and it goes when nobody uses it
// any more. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "hipcore/memory/memory_advice.h"
#include "proxy/copy/mirror.h"
#include "proxy/memory/host_memory.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

class HostAllocations {
 public:
  HostAllocations(Connection& connection, HostMemory& memory, Mirror& mirror, hipcore::MemoryAdvice& advice)
      : connection_(connection), memory_(memory), mirror_(mirror), advice_(advice) {}

  // As HostMemory's functions.
  hipError_t allocate(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags, void*& pointer);
  hipError_t add(int device, void* pointer, std::uint64_t bytes, unsigned flags);
  // Frees our host memory once no device uses it: waits for all devices.
  hipError_t free(const HostRange& range);
  // hipHostUnregister; also waits for all devices.
  hipError_t remove(void* pointer);

 private:
  hipError_t wait_for_devices();

  Connection& connection_;
  HostMemory& memory_;
  Mirror& mirror_;
  hipcore::MemoryAdvice& advice_;
};

}  // namespace tf::proxy
