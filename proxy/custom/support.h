// SPDX-License-Identifier: Apache-2.0
// What the hand-written bodies share: the calling thread's stream as a handle, and the way every one of them
// begins.
#pragma once

#include <hip/hip_runtime_api.h>

#include "proxy/api_call.h"
#include "proxy/custom/copy_engine.h"
#include "proxy/session.h"

namespace tf::proxy {

// The copy mode for `stream` of this call. False: unknown stream; return call.finish().
inline bool copy_mode(ApiCall& call, hipStream_t stream, bool wait, CopyMode& mode) {
  mode.device = call.device();
  mode.wait = wait;
  return call.translate(protocol::HandleKind::kStream, stream, mode.stream);
}

}  // namespace tf::proxy
