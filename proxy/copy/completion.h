// SPDX-License-Identifier: Apache-2.0
// Who completes a copy: the call, which then waits, or its stream. Any thread.
#pragma once

#include "proxy/copy/plan.h"

namespace tf::proxy {

// Waits for the stream, looking at shared memory where there is some (stream_words.h).
hipError_t await_stream(CopyEngine& engine, const CopyMode& mode);
// The end of a call whose copy the worker makes: `made` is what posting it, and moving its payload, came to.
// Waits for what the call has promised.
hipError_t complete(CopyEngine& engine, const CopyPlan& plan, hipError_t made);

}  // namespace tf::proxy
