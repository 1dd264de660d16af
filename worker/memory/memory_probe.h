// SPDX-License-Identifier: Apache-2.0
// What can be done with the memory of this worker's devices besides using it. Tried out on the first device,
// since a runtime may have the functions and not the ability. Executor thread, before a client comes.
#pragma once

#include <cstdint>

#include "hipcore/wire/gen/hip_table.h"
#include "worker/memory/lease.h"

namespace tf::worker {

struct MemoryAbilities {
  bool shared = false;  // it can leave the process, as a descriptor
  bool mapped = false;  // whoever maps that descriptor reads and writes what the device does
};

// REQUIRES: the first device is current; [address, address + bytes) is reserved, free, and of whole granules
MemoryAbilities probe_memory(const protocol::HipTable& hip, const VmmFunctions& vmm, std::uint64_t address,
                             std::uint64_t bytes);

}  // namespace tf::worker
