// SPDX-License-Identifier: Apache-2.0
// Decides whether a copy's call waits for it or its stream completes it. Any thread.
#pragma once

#include <cstdint>

#include "proxy/copy/plan.h"

namespace tf::proxy {

// Waits for the stream, by polling shared memory if there is some (stream_words.h).
hipError_t await_stream(CopyEngine& engine, const CopyMode& mode);
// Whether a wait for the stream shows the program nothing, and may be left to the worker
// (Connection::leave_wait()).
bool may_leave_wait(CopyEngine& engine, int device, std::uint64_t stream);
// Ends a call whose copy the worker makes. `made` is the result of posting it and moving its payload. Waits
// for what the call guarantees.
hipError_t complete(CopyEngine& engine, const CopyPlan& plan, hipError_t made);

}  // namespace tf::proxy
