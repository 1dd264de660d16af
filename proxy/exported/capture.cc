// SPDX-License-Identifier: Apache-2.0
// Capture and launching of graphs: what needs a stream. The rest is in proxy/exported.
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/graphs/graphs.h"

namespace tf::proxy::custom {
namespace {

// Calls body(graphs, stream) with the stream as captures know it.
template <typename Body>
hipError_t with_stream(ApiCall& call, hipStream_t stream, Body&& body) {
  if (!call.connected()) return call.finish();
  std::uint64_t handle = 0;
  if (!call.translate(protocol::HandleKind::kStream, stream, handle)) return call.finish();
  Graphs& graphs = call.client().graphs();
  return call.finish(body(graphs, graphs.reference(call.device(), handle)));
}

using graph::StreamRef;

}  // namespace

hipError_t hipStreamBeginCapture(ApiCall& call, hipStream_t stream, hipStreamCaptureMode mode) {
  return with_stream(call, stream,
                     [&](Graphs& graphs, const StreamRef& on) { return graphs.begin_capture(on, mode); });
}

hipError_t hipStreamEndCapture(ApiCall& call, hipStream_t stream, hipGraph_t* graph) {
  return with_stream(call, stream,
                     [&](Graphs& graphs, const StreamRef& on) { return graphs.end_capture(on, graph); });
}

hipError_t hipStreamIsCapturing(ApiCall& call, hipStream_t stream, hipStreamCaptureStatus* status) {
  return with_stream(call, stream, [&](Graphs& graphs, const StreamRef& on) {
    return graphs.library().capture_info(on, status, nullptr, nullptr, nullptr, nullptr);
  });
}

hipError_t hipStreamGetCaptureInfo(ApiCall& call, hipStream_t stream, hipStreamCaptureStatus* status,
                                   unsigned long long* id) {
  return with_stream(call, stream, [&](Graphs& graphs, const StreamRef& on) {
    return graphs.library().capture_info(on, status, id, nullptr, nullptr, nullptr);
  });
}

hipError_t hipStreamGetCaptureInfo_v2(ApiCall& call, hipStream_t stream, hipStreamCaptureStatus* status,
                                      unsigned long long* id, hipGraph_t* graph,
                                      const hipGraphNode_t** dependencies, size_t* count) {
  return with_stream(call, stream, [&](Graphs& graphs, const StreamRef& on) {
    return graphs.library().capture_info(on, status, id, graph, dependencies, count);
  });
}

hipError_t hipStreamUpdateCaptureDependencies(ApiCall& call, hipStream_t stream, hipGraphNode_t* nodes,
                                              size_t count, unsigned int flags) {
  return with_stream(call, stream, [&](Graphs& graphs, const StreamRef& on) {
    return graphs.library().update_capture(on, nodes, count, flags);
  });
}

hipError_t hipGraphLaunch(ApiCall& call, hipGraphExec_t exec, hipStream_t stream) {
  return with_stream(call, stream,
                     [&](Graphs& graphs, const StreamRef& on) { return graphs.library().launch(exec, on); });
}

hipError_t hipGraphUpload(ApiCall& call, hipGraphExec_t exec, hipStream_t stream) {
  return with_stream(call, stream,
                     [&](Graphs& graphs, const StreamRef&) { return graphs.library().upload(exec); });
}

}  // namespace tf::proxy::custom
