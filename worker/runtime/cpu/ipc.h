// SPDX-License-Identifier: Apache-2.0
// Memory of other processes' pools.
#pragma once

#include <hip/hip_runtime_api.h>

#include "worker/runtime/cpu/stream.h"

namespace tf::cpu {

// Unmaps what hipMemPoolImportPointer has mapped, by the pointer that it gave; waits for the devices.
hipError_t close_imported(void* pointer);
// The same when the stream gets there.
hipError_t close_imported(void* pointer, Stream& stream);

}  // namespace tf::cpu
