// SPDX-License-Identifier: Apache-2.0
// Copies in turn: to the device, from memory that earlier work may still write (a host function, a copy from
// the device to the same memory). Otherwise payload is read when its copy is posted; that would be too early.
//
// The worker holds the stream in front of each piece until the client has sent it, on the control connection.
// When the first piece is due all are, so one travels while another is copied. None of this needs the
// worker's executor, which may be blocked in a launch on the same stream. Only for memory that is not
// pageable; pageable memory is read during the call. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include "proxy/copy/plan.h"
#include "proxy/session/callbacks.h"

namespace tf::proxy {

// Queues the copy on its stream. hipErrorOutOfMemory: too many pieces are queued.
hipError_t copy_in_turn(Callbacks& callbacks, const CopyPlan& plan);

}  // namespace tf::proxy
