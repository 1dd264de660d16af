// SPDX-License-Identifier: Apache-2.0
// Turned arrays: copies between arrays and memory that AMD's runtime understands otherwise.
//
// AMD's libamdhip64 before ROCm 6.1 (seen in 5.2.3; the sources show it) hands the whole allocation to the
// kernel that copies, and drops how far into it an address lies: it copies from or to the begin. Only the
// position along x reaches the kernel. The worker's memory lies in larger allocations, so that nearly every
// copy would go wrong. Copies name the begin of the allocation and a position, which means the same. And the
// layers of arrays of lines (one dimension, hipArrayLayered) are along y there, where HIP and CUDA have z.
#pragma once

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

// Replaces the functions of `hip` that the worker makes and copies arrays with. Once in a process, before any
// of them is called.
void mend_turned_arrays(protocol::HipTable& hip);

}  // namespace tf::worker
