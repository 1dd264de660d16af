// SPDX-License-Identifier: Apache-2.0
// Captures of streams.
#include "worker/runtime/common/capture.h"

#include <utility>

#include "worker/runtime/common/stream_frame.h"

namespace tf::runtime {

bool is_captured(graph::Library& library, const graph::StreamRef& stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  static_cast<void>(library.capture_info(stream, &status, nullptr, nullptr, nullptr, nullptr));
  return status == hipStreamCaptureStatusActive;
}

graph::Library::Verdict capture(graph::Library& library, const Backend::Stream& stream, graph::Work work,
                                Wait wait) {
  const graph::StreamRef ref = Backend::reference(stream);
  if (wait == Wait::kYes) return library.refuse(ref);
  if (is_captured(library, ref))
    if (const hipError_t status = Backend::check_work(work)) return status;
  return library.capture(ref, std::move(work));
}

namespace {

// Calls the body with the stream's name in captures.
template <typename Body>
hipError_t with_reference(hipStream_t handle, Body&& body) {
  return with_stream(handle, [&](const Backend::Stream& stream) -> hipError_t {
    return body(graphs(), Backend::reference(stream));
  });
}

}  // namespace
}  // namespace tf::runtime

using namespace tf;
using namespace tf::runtime;

extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode mode) {
  return with_reference(handle, [&](graph::Library& library, const graph::StreamRef& stream) {
    return library.begin_capture(stream, mode);
  });
}

TF_EXPORT hipError_t hipStreamBeginCaptureToGraph(hipStream_t handle, hipGraph_t graph,
                                                  const hipGraphNode_t* dependencies,
                                                  const hipGraphEdgeData* edges, size_t count,
                                                  hipStreamCaptureMode mode) {
  return with_reference(handle, [&](graph::Library& library, const graph::StreamRef& stream) {
    return library.begin_capture(stream, mode, graph, dependencies, edges, count);
  });
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t* graph) {
  return with_reference(handle, [&](graph::Library& library, const graph::StreamRef& stream) {
    return library.end_capture(stream, graph);
  });
}

hipError_t hipStreamIsCapturing(hipStream_t handle, hipStreamCaptureStatus* status) {
  return with_reference(handle, [&](graph::Library& library, const graph::StreamRef& stream) {
    return library.capture_info(stream, status, nullptr, nullptr, nullptr, nullptr);
  });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t handle, hipStreamCaptureStatus* status,
                                   unsigned long long* id) {
  return with_reference(handle, [&](graph::Library& library, const graph::StreamRef& stream) {
    return library.capture_info(stream, status, id, nullptr, nullptr, nullptr);
  });
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t handle, hipStreamCaptureStatus* status,
                                      unsigned long long* id, hipGraph_t* graph,
                                      const hipGraphNode_t** dependencies, size_t* count) {
  return with_reference(handle, [&](graph::Library& library, const graph::StreamRef& stream) {
    return library.capture_info(stream, status, id, graph, dependencies, count);
  });
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t handle, hipGraphNode_t* nodes, size_t count,
                                              unsigned int flags) {
  return with_reference(handle, [&](graph::Library& library, const graph::StreamRef& stream) {
    return library.update_capture(stream, nodes, count, flags);
  });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return host_api([&] { return graph::Library::exchange_mode(thread().capture_mode, mode); });
}

}  // extern "C"
