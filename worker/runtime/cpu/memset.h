// SPDX-License-Identifier: Apache-2.0
// What fills, launched or in graphs, are checked for and how they are made. Thread-safe.
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
