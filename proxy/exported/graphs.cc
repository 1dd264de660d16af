// SPDX-License-Identifier: Apache-2.0
// Graphs and their nodes, which are the client's own (hipcore/graph/library.h).
#include "proxy/graphs/graphs.h"
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

template <typename Body>
hipError_t with_graphs(Body&& body) {
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  return note_error(client == nullptr ? error : body(client->graphs().library()));
}

template <typename Body>
hipError_t with_exec(hipGraphExec_t exec, Body&& body) {
  return with_graphs(
      [&](graph::Library& graphs) { return exec != nullptr ? body(graphs) : hipErrorInvalidValue; });
}

}  // namespace

#include "hipcore/graph/functions.inc"

hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int) {
  return with_graphs([&](graph::Library& graphs) { return graphs.print(graph, path); });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return note_error(graph::Library::exchange_mode(thread_state().capture_mode, mode));
}

}  // namespace tf::proxy::local
