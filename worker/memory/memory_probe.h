// SPDX-License-Identifier: Apache-2.0
// What this worker can do with its devices' memory besides using it. Tried on the first device, since a
// runtime may have the functions but not the ability. Executor thread, before a client comes.
#pragma once

#include <cstdint>

#include "hipcore/wire/gen/hip_table.h"
#include "worker/memory/lease.h"

namespace tf::worker {

struct MemoryAbilities {
  bool shared = false;  // it can be exported as a descriptor
  bool mapped = false;  // a mapping of that descriptor shows what the device sees
};

// REQUIRES: the first device is current; [address, address + bytes) is reserved, free, and of whole granules
MemoryAbilities probe_memory(const protocol::HipTable& hip, const VmmFunctions& vmm, std::uint64_t address,
                             std::uint64_t bytes);

}  // namespace tf::worker
