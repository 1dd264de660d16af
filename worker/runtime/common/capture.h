// SPDX-License-Identifier: Apache-2.0
// Used by calls on a stream while some stream is being captured. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include "worker/runtime/common/backend.h"
#include "worker/runtime/common/graph_library.h"
#include "worker/runtime/common/wait.h"

namespace tf::runtime {

// If the stream is being captured, takes the work into the capture; then the verdict is the call's result.
// Work that is waited for cannot be captured.
graph::Library::Verdict capture(graph::Library& library, const Backend::Stream& stream, graph::Work work,
                                Wait wait);

bool is_captured(graph::Library& library, const graph::StreamRef& stream);

// For calls that no graph can hold, and for queries of a stream or event: an error if that is being captured.
inline hipError_t refuse_captured(const Backend::Stream& stream) {
  graph::Library* const library = capturing();
  return library ? library->refuse(Backend::reference(stream)).value_or(hipSuccess) : hipSuccess;
}

}  // namespace tf::runtime
