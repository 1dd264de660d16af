// SPDX-License-Identifier: Apache-2.0
// The calling thread's part of graphs; the graph library answers everything else (proxy/api/graph.h).
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return note_error(graph::Library::exchange_mode(thread_state().capture_mode, mode));
}

}  // namespace tf::proxy::local
