// SPDX-License-Identifier: Apache-2.0
// Checks and makes copies, whether called or in graphs. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/graph/work.h"

namespace tf::cpu {

// Whether one end is host memory that is neither from hipHostMalloc, nor registered, nor managed.
bool is_pageable(const graph::CopyWork& copy);
// Copies, now.
hipError_t run_copy(const graph::CopyWork& copy);
// Whether its direction fits the memory at both ends (hipcore/memory/copy_kind.h).
bool kind_fits(const graph::CopyWork& copy);
// Whether the known memory at both ends is large enough for the copy.
bool within_memory(const graph::CopyWork& copy);

}  // namespace tf::cpu
