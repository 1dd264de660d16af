// SPDX-License-Identifier: Apache-2.0
// What copies, launched or in graphs, are checked for and how they are made. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/graph/work.h"

namespace tf::cpu {

// Whether one end is host memory that is neither from hipHostMalloc, nor registered, nor managed.
bool is_pageable(const graph::CopyWork& copy);
// Copies, now.
hipError_t run_copy(const graph::CopyWork& copy);
// The known memory at both ends reaches as far as the copy.
bool within_memory(const graph::CopyWork& copy);

}  // namespace tf::cpu
