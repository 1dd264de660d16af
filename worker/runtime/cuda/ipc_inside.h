// SPDX-License-Identifier: Apache-2.0
// Handles of memory inside an allocation. The driver's handles name the allocation and have no room for more.
// So such a handle says where its process keeps the driver's handle and the offset: in a memory file, which
// goes away with the process. The kernel lets processes of the same user read it. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

// hipErrorOutOfMemory if the file cannot be made.
hipError_t make_inside_handle(const driver::IpcMemoryHandle& whole, std::uint64_t offset,
                              hipIpcMemHandle_t& handle);
bool is_inside_handle(const hipIpcMemHandle_t& handle);
// hipErrorInvalidContext: it is this process's own. hipErrorInvalidDevicePointer: it no longer exists.
hipError_t read_inside_handle(const hipIpcMemHandle_t& handle, driver::IpcMemoryHandle& whole,
                              std::uint64_t& offset);

}  // namespace tf::cuda
