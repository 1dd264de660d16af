// SPDX-License-Identifier: Apache-2.0
// Helpers for copies of every kind, whether called or in graphs. REQUIRES: the thread is ready.
#pragma once

#include "hipcore/graph/box.h"
#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

// Memory is now shared with other processes: from now on a synchronous call is done when it returns, as in
// HIP. The driver's calls return earlier if nobody in this process could tell.
void note_sharing();
// The end of a synchronous fill or copy on the legacy stream.
driver::Result settle(driver::Result result);

// As convert_copy(), with the arrays that the box's addresses name.
hipError_t convert_named(driver::Copy3D& copy, const graph::Box& box);

// Marks pageable host memory as host memory: the driver requires that for boxes, and in graphs.
void tell_pageable(driver::Copy2D& copy);
void tell_pageable(driver::Copy3D& copy);
// Marks both ends as host or device memory, as graphs require.
void tell_places(driver::Copy3D& copy);

}  // namespace tf::cuda
