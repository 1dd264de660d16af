// SPDX-License-Identifier: Apache-2.0
// Streams, events and launches in the graph library's terms. The driver only gets graphs to run, built node
// by node when they are instantiated; none of its streams is ever in capture mode. Thread-safe.
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

// If the stream is being captured, adds the launch to the capture; then the verdict is the call's result.
// `function` is what the program named, as the parameters say.
graph::Library::Verdict capture_launch(graph::Library& library, hipStream_t stream, hipFunction_t function,
                                       const hipKernelNodeParams& parameters, bool cooperative);

}  // namespace tf::cuda
