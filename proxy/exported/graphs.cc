// SPDX-License-Identifier: Apache-2.0
// What of graphs is the calling thread's; all else the graph library answers (proxy/api/graph.h).
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return note_error(graph::Library::exchange_mode(thread_state().capture_mode, mode));
}

}  // namespace tf::proxy::local
