// SPDX-License-Identifier: Apache-2.0
// Graphs, running them, and capture. Everything but running is the graph library's.
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/graphs.h"
#include "worker/runtime/cuda/streams.h"

namespace tf::cuda {
namespace {

template <typename Body>
hipError_t with_graphs(Body&& body) {
  return api([&]() -> hipError_t { return body(graphs()); });
}

template <typename Body>
hipError_t with_exec(hipGraphExec_t exec, Body&& body) {
  return with_graphs([&](graph::Library& library) { return exec ? body(library) : hipErrorInvalidValue; });
}

// With the stream as captures know it.
template <typename Body>
hipError_t with_stream(hipStream_t stream, Body&& body) {
  return with_graphs([&](graph::Library& library) -> hipError_t {
    if (!is_stream(stream)) return kUnknownStream;
    return body(library, reference(stream));
  });
}

}  // namespace
}  // namespace tf::cuda

using namespace tf;
using namespace tf::cuda;

extern "C" {

#include "hipcore/graph/functions.inc"

TF_CUDA_EXPORT hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int) {
  return with_graphs([&](graph::Library& library) { return library.print(graph, path); });
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  return with_graphs([&](graph::Library& library) -> hipError_t {
    if (!is_stream(stream)) return kUnknownStream;
    return library.launch(exec, library.capturing() ? reference(stream) : short_reference(stream));
  });
}

TF_CUDA_EXPORT hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream) {
  return with_stream(stream,
                     [&](graph::Library& library, const graph::StreamRef&) { return library.upload(exec); });
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return with_stream(stream, [&](graph::Library& library, const graph::StreamRef& ref) {
    return library.begin_capture(ref, mode);
  });
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return with_stream(stream, [&](graph::Library& library, const graph::StreamRef& ref) {
    return library.end_capture(ref, graph);
  });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return with_stream(stream, [&](graph::Library& library, const graph::StreamRef& ref) {
    return library.capture_info(ref, status, nullptr, nullptr, nullptr, nullptr);
  });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                   unsigned long long* id) {
  return with_stream(stream, [&](graph::Library& library, const graph::StreamRef& ref) {
    return library.capture_info(ref, status, id, nullptr, nullptr, nullptr);
  });
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status,
                                      unsigned long long* id, hipGraph_t* graph,
                                      const hipGraphNode_t** dependencies, size_t* count) {
  return with_stream(stream, [&](graph::Library& library, const graph::StreamRef& ref) {
    return library.capture_info(ref, status, id, graph, dependencies, count);
  });
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t* nodes, size_t count,
                                              unsigned int flags) {
  return with_stream(stream, [&](graph::Library& library, const graph::StreamRef& ref) {
    return library.update_capture(ref, nodes, count, flags);
  });
}

// Of no concern to the driver, whose streams are never captured.
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return host_api([&] { return graph::Library::exchange_mode(thread_state().capture_mode, mode); });
}

}  // extern "C"
