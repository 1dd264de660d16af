// SPDX-License-Identifier: Apache-2.0
// What the hand-written bodies share: the calling thread's stream as a handle, and the way every one of them
// begins.
#pragma once

#include <hip/hip_runtime_api.h>

#include "proxy/copy/copy_engine.h"
#include "proxy/exported/api_call.h"
#include "proxy/graphs/graphs.h"
#include "proxy/session/session.h"

namespace tf::proxy {

// The copy mode for `stream` of this call. False: unknown stream; return call.finish().
inline bool copy_mode(ApiCall& call, hipStream_t stream, bool wait, CopyMode& mode) {
  mode.device = call.device();
  mode.wait = wait;
  return call.translate(protocol::HandleKind::kStream, stream, mode.stream);
}

// For what no graph can hold, and what asks about a stream: an error if the stream is being captured, and the
// end of the capture.
inline hipError_t refuse_captured(ApiCall& call, std::uint64_t stream) {
  Graphs& graphs = call.session().graphs();
  if (!graphs.capturing()) return hipSuccess;
  return graphs.library().refuse(graphs.reference(call.device(), stream)).value_or(hipSuccess);
}

}  // namespace tf::proxy
