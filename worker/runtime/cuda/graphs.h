// SPDX-License-Identifier: Apache-2.0
// Streams, events and launches as the graph library knows them. The driver gets graphs to run, made node by
// node when they are instantiated, and none of its streams is ever in capture mode. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "hipcore/graph/library.h"
#include "worker/runtime/common/graph_library.h"

namespace tf::cuda {

using runtime::capturing;

// REQUIRES for all below: the thread is ready, and the stream is valid.

// The name of the stream in captures: its handle, until it is destroyed.
graph::StreamRef reference(hipStream_t stream);
// Enough of that for a launch while nothing is captured.
graph::StreamRef short_reference(hipStream_t stream);
inline std::uint64_t reference(hipEvent_t event) { return reinterpret_cast<std::uint64_t>(event); }

// Takes a launch into a capture, if the stream is being captured; then the verdict is the call's result:
// of `function`, which the program named as the parameters say.
graph::Library::Verdict capture_launch(graph::Library& library, hipStream_t stream, hipFunction_t function,
                                       const hipKernelNodeParams& parameters, bool cooperative);

}  // namespace tf::cuda
