// SPDX-License-Identifier: Apache-2.0
// Checks and makes fills, whether called or in graphs. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include "worker/runtime/common/fill.h"

namespace tf::cpu {

using runtime::Fill;

// Fills, now.
hipError_t run_fill(const Fill& wish);
// Checks pointer, alignment and bounds. REQUIRES: none of its sizes is 0
bool fillable(const Fill& wish);

}  // namespace tf::cpu
