// SPDX-License-Identifier: Apache-2.0
// The calling thread's part of graphs; the graph library answers everything else (proxy/api/graph.h).
#include "proxy/exported/exported.h"
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy {

// Never connects: a process without a client captures nothing.
hipError_t refuse_unsafe() {
  Client* const client = current_client();
  if (client == nullptr || !client->graphs().capturing()) return hipSuccess;
  const auto verdict = client->graphs().library().refuse_unsafe(thread_state().capture_mode);
  return verdict ? note_error(*verdict) : hipSuccess;
}

}  // namespace tf::proxy

namespace tf::proxy::local {

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return note_error(graph::Library::exchange_mode(thread_state().capture_mode, mode));
}

}  // namespace tf::proxy::local
