// SPDX-License-Identifier: Apache-2.0
// Copies whose box begins or ends in an array, as HIP's three-dimensional copies. Executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/graph/box.h"
#include "hipcore/wire/gen/hip_table.h"
#include "worker/base/life.h"
#include "worker/memory/arrays.h"

namespace tf::worker {

// Whether an end of the box is a name in an array's window, be it an array's or not.
inline bool names_array(const graph::Box& box) {
  return array::is_name(box.target.address) || array::is_name(box.source.address);
}
// A side of a box that is memory, as HIP's three-dimensional copies want it. REQUIRES: its slices are whole
// rows apart.
hipPitchedPtr pointer_of(const graph::Box& box, const graph::BoxSide& side);
// Whether this side of the box stands in an array of the session. Checks the span only; rows are checked by
// as_one_copy().
bool stands_in_array(const Arrays& arrays, const graph::Box& box, const graph::BoxSide& side);
// False: it takes more than one copy.
bool read_array_copy(const Arrays& arrays, const graph::Box& box, hipMemcpyKind kind,
                     hipMemcpy3DParms& parameters);
// Has the runtime copy the box in stream order. REQUIRES: as SlotCopies::copy_in_stream()
hipError_t copy_array_in_stream(const protocol::HipTable& hip, Life& life, const Arrays& arrays,
                                const graph::Box& box, hipMemcpyKind kind, hipStream_t stream);

}  // namespace tf::worker
