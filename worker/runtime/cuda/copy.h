// SPDX-License-Identifier: Apache-2.0
// Helpers for copies of every kind, whether called or in graphs. REQUIRES: the thread is ready.
#pragma once

#include "hipcore/graph/work.h"
#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

// Memory is now shared with other processes: from now on a synchronous call is done when it returns, as in
// HIP. The driver's calls return earlier if nobody in this process could tell.
void note_sharing();
// The end of a synchronous fill or copy on the null stream: whoever comes next finds it done (late_work.h).
hipError_t settle(driver::Result result);

// Whether the copy's direction fits the memory at its ends (hipcore/memory/copy_kind.h).
bool kind_fits(const graph::CopyWork& copy);

// As convert_copy(), with the arrays that the box's addresses name.
hipError_t convert_named(driver::Copy3D& copy, const graph::Box& box);

// Marks pageable host memory as host memory: the driver requires that for boxes, and in graphs.
void tell_pageable(driver::Copy2D& copy);
void tell_pageable(driver::Copy3D& copy);
// Marks both ends as host or device memory, as graphs require.
void tell_places(driver::Copy3D& copy);

}  // namespace tf::cuda
