// SPDX-License-Identifier: Apache-2.0
// Memory of other processes' pools.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::cpu {

// Unmaps what hipMemPoolImportPointer has mapped here; waits for the devices.
hipError_t close_imported(void* pointer);

}  // namespace tf::cpu
