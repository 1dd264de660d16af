// SPDX-License-Identifier: Apache-2.0
// Graphs: this runtime's side of the graph library. What graphs and captures are is decided there, as for the
// client; the driver gets graphs to run, made node by node when they are instantiated, and none of its
// streams is ever in capture mode. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "hipcore/graph/library.h"
#include "worker/runtime/cuda/copy.h"

namespace tf::cuda {

namespace internal {
extern std::atomic<graph::Library*> graph_library;  // null until graphs() makes it
}

// For ever, as the Runtime.
graph::Library& graphs();

// The library while some stream is being captured, else null: what every call on a stream looks at. Acquire
// pairs with the release of who makes the library.
inline graph::Library* capturing() {
  graph::Library* const library = internal::graph_library.load(std::memory_order_acquire);
  return library && library->capturing() ? library : nullptr;
}

// REQUIRES for all below: the thread is ready, and the stream is a stream.

// The stream as captures know it: by its handle, until it is destroyed.
graph::StreamRef reference(hipStream_t stream);
// Enough of it for a launch while nothing is captured.
graph::StreamRef short_reference(hipStream_t stream);
inline std::uint64_t reference(hipEvent_t event) { return reinterpret_cast<std::uint64_t>(event); }

// Takes the work into a capture, if the stream is being captured; then the verdict is the call's result. What
// is waited for cannot be taken.
graph::Library::Verdict capture(graph::Library& library, hipStream_t stream, graph::Work work, Wait wait);
// A launch of `function`, which the program named as the parameters say.
graph::Library::Verdict capture_launch(graph::Library& library, hipStream_t stream, hipFunction_t function,
                                       const hipKernelNodeParams& parameters, bool cooperative);

// For what no graph can hold and what asks about a stream or an event: an error if that is being captured.
hipError_t refuse_captured(hipStream_t stream);
hipError_t refuse_captured(hipEvent_t event);

// An event is recorded, or taken into the capture.
hipError_t record_event(hipEvent_t event, hipStream_t stream);

}  // namespace tf::cuda
