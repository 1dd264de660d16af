// SPDX-License-Identifier: Apache-2.0
// What copies of every kind, launched or in graphs, need. REQUIRES: the thread is ready.
#pragma once

#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

// Memory is shared with other processes: from then on what a synchronous call did is there when it returns,
// as in HIP. The driver's return earlier where no one in this process could tell.
void note_sharing();
// The end of a synchronous fill or copy on the legacy stream.
driver::Result settle(driver::Result result);

// Says of pageable host memory that it is the host's: the driver demands that for boxes, and in graphs.
void tell_pageable(driver::Copy2D& copy);
void tell_pageable(driver::Copy3D& copy);
// Says for both ends whether it is the host's memory or the device's, as graphs want it.
void tell_places(driver::Copy3D& copy);

}  // namespace tf::cuda
