// SPDX-License-Identifier: Apache-2.0
// Graphs, running them, and capture. Everything but running is the graph library's.
#include <utility>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/graphs.h"

namespace tf::cpu {
namespace {

template <typename Body>
hipError_t with_graphs(Body&& body) {
  return api([&]() -> hipError_t {
    if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
    return body(Runtime::get().graphs());
  });
}

template <typename Body>
hipError_t with_exec(hipGraphExec_t exec, Body&& body) {
  return with_graphs([&](graph::Library& graphs) { return exec ? body(graphs) : hipErrorInvalidValue; });
}

// With the stream as captures know it. The stream lives as long as the body runs.
template <typename Body>
hipError_t with_stream(hipStream_t handle, Body&& body) {
  return with_graphs([&](graph::Library& graphs) -> hipError_t {
    std::shared_ptr<Stream> stream;
    if (const hipError_t status = find_stream(handle, stream)) return status;
    return body(graphs, reference(*stream));
  });
}

}  // namespace
}  // namespace tf::cpu

using namespace tf;
using namespace tf::cpu;

extern "C" {

#include "hipcore/graph/functions.inc"

TF_CPU_EXPORT hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int) {
  return with_graphs([&](graph::Library& graphs) { return graphs.print(graph, path); });
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t handle) {
  return with_stream(handle, [&](graph::Library& graphs, const graph::StreamRef& stream) {
    return graphs.launch(exec, stream);
  });
}

hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode mode) {
  return with_stream(handle, [&](graph::Library& graphs, const graph::StreamRef& stream) {
    return graphs.begin_capture(stream, mode);
  });
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t* graph) {
  return with_stream(handle, [&](graph::Library& graphs, const graph::StreamRef& stream) {
    return graphs.end_capture(stream, graph);
  });
}

hipError_t hipStreamIsCapturing(hipStream_t handle, hipStreamCaptureStatus* status) {
  return with_stream(handle, [&](graph::Library& graphs, const graph::StreamRef& stream) {
    return graphs.capture_info(stream, status, nullptr, nullptr, nullptr, nullptr);
  });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t handle, hipStreamCaptureStatus* status,
                                   unsigned long long* id) {
  return with_stream(handle, [&](graph::Library& graphs, const graph::StreamRef& stream) {
    return graphs.capture_info(stream, status, id, nullptr, nullptr, nullptr);
  });
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t handle, hipStreamCaptureStatus* status,
                                      unsigned long long* id, hipGraph_t* graph,
                                      const hipGraphNode_t** dependencies, size_t* count) {
  return with_stream(handle, [&](graph::Library& graphs, const graph::StreamRef& stream) {
    return graphs.capture_info(stream, status, id, graph, dependencies, count);
  });
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t handle, hipGraphNode_t* nodes, size_t count,
                                              unsigned int flags) {
  return with_stream(handle, [&](graph::Library& graphs, const graph::StreamRef& stream) {
    return graphs.update_capture(stream, nodes, count, flags);
  });
}

TF_CPU_EXPORT hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t handle) {
  return with_stream(handle,
                     [&](graph::Library& graphs, const graph::StreamRef&) { return graphs.upload(exec); });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return api([&] { return graph::Library::exchange_mode(thread_state().capture_mode, mode); });
}

}  // extern "C"
