// SPDX-License-Identifier: Apache-2.0
// Arrays, and copies between them and memory, of which AMD's libamdhip64 does something else. (Seen in 5.2.3,
// 6.4.3 and 7.2.4. Its sources show when each was mended.)
//
// * Until 6.0 it forgets the offset of an address in its allocation, and starts at the allocation's begin. It
//   does respect the position along x. So a copy names the begin, and the offset as its position. The
//   worker's memory lies in larger allocations, so nearly every copy has an offset.
// * Until 6.0 layers of one-dimensional arrays are along y, where HIP and CUDA have z.
// * Until 5.5 it forgets the pitch of memory. Newer ones count pitches in elements, and round down. So rows
//   that lie otherwise are copied one by one.
// * It counts offsets in words (amd_arrays.cc), and rounds down. So what lies between two words is refused.
//
// And until 6.0 a device without mipmapped arrays says hipErrorInvalidValue, not hipErrorNotSupported.
#pragma once

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

// Replaces the functions of `hip` that the worker makes and copies arrays with. Once in a process, before any
// of them is called.
void mend_amd_arrays(protocol::HipTable& hip);

}  // namespace tf::worker
