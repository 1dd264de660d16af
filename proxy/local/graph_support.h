// SPDX-License-Identifier: Apache-2.0
// The frame of the graph functions that need no stream.
#pragma once

#include "proxy/graphs/graphs.h"
#include "proxy/local/support.h"

namespace tf::proxy::local {

template <typename Body>
hipError_t with_graphs(Body&& body) {
  hipError_t error = hipSuccess;
  Session* session = session_for(error);
  return note_error(session == nullptr ? error : body(session->graphs().library()));
}

}  // namespace tf::proxy::local
