// SPDX-License-Identifier: Apache-2.0
// HostAllocations: host memory that devices use, as the program asks for it and gives it back. The transport
// is told of it, since it may pay to register it with a device of its own, and it goes when nobody uses it
// any more. With a worker elsewhere the mirror is told too: of managed memory at once, of other memory when
// devices are about to use it. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "hipcore/memory/memory_advice.h"
#include "proxy/copy/mirror.h"
#include "proxy/memory/host_memory.h"
#include "proxy/session/connection.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

class HostAllocations final : public HostWaker {
 public:
  HostAllocations(Connection& connection, HostMemory& memory, Mirror& mirror, hipcore::MemoryAdvice& advice)
      : connection_(connection), memory_(memory), mirror_(mirror), advice_(advice) {}

  // As HostMemory's functions.
  hipError_t allocate(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags, void*& pointer);
  hipError_t add(int device, void* pointer, std::uint64_t bytes, unsigned flags);
  // Managed memory of a variable (HostRange::is_variable).
  hipError_t allocate_variable(int device, std::uint64_t bytes, void*& pointer);
  hipError_t wake(std::uint64_t address) override;
  // The same for all addresses that a message names. Cheap if nothing is dormant.
  hipError_t wake_named(std::span<const std::byte> message);
  // Frees our host memory once no device uses it: waits for all devices.
  hipError_t free(const HostRange& range);
  // hipHostUnregister; also waits for all devices.
  hipError_t remove(void* pointer);

  // For calls that free memory: they do not report failures of a device, the program's next waiting call
  // does.
  hipError_t wait_for_devices();

 private:
  void mirror_block(const HostRange& range);
  void update_care();

  Connection& connection_;
  HostMemory& memory_;
  Mirror& mirror_;
  hipcore::MemoryAdvice& advice_;
  Mutex waking_;  // one at a time
  Mutex caring_;  // what the connection takes care of is found out and told in one step
};

}  // namespace tf::proxy
