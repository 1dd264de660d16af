// SPDX-License-Identifier: Apache-2.0
// Engine on io_uring: one small ring per direction of a lane. See tcp/engine.h.
//
// Rings are not made for a single issuer: consumer and mover may be several threads in turn. When the thread
// that started an operation ends, the kernel cancels it; finish() then reports nothing and start() begins
// anew.
#pragma once

#include "tcp/engine.h"

namespace tf::tcp {

// `features` must be what probe() allows.
Result<LaneIo> make_uring_io(int socket, Lane lane, const UringFeatures& features);

}  // namespace tf::tcp
