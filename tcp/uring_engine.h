// SPDX-License-Identifier: Apache-2.0
// An engine that uses io_uring: one small ring per direction of a lane. See tcp/engine.h.
//
// Rings are not created for a single issuer, because several threads may take turns as consumer or mover.
// When the thread that started an operation ends, the kernel cancels the operation; finish() then reports
// nothing and start() begins again.
#pragma once

#include "tcp/engine.h"

namespace tf::tcp {

// `features` must be what probe() allows. `whole`: a receive ends when its memory is full.
Result<LaneIo> make_uring_io(int socket, Lane lane, const UringFeatures& features, bool whole);

}  // namespace tf::tcp
