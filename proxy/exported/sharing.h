// SPDX-License-Identifier: Apache-2.0
// Device memory under a name that other processes open: of hipIpc handles, and of pools' pointers.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "proxy/client/client.h"
#include "proxy/exported/api_call.h"
#include "proxy/memory/shared_memory.h"

namespace tf::proxy {

// Waits for what was written before: a process that opens the memory must see that.
hipError_t share_memory(Client& client, const DevicePointer& allocation, const void* pointer,
                        hipIpcMemHandle_t& handle);
// Maps another process's memory at an address of ours. REQUIRES for both: call.connected()
hipError_t open_shared(ApiCall& call, const MemoryTicket& ticket, SharedMemory::Way way, void** pointer);
// Unmaps it; waits for every device. `base`: as SharedMemory::close() has returned it.
hipError_t close_shared(ApiCall& call, std::uint64_t base);

}  // namespace tf::proxy
