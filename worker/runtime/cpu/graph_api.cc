// SPDX-License-Identifier: Apache-2.0
// Graphs as a whole, running them, and capture. Everything but running is the graph library's.
#include "worker/runtime/cpu/graph_api.h"

namespace tf::cpu {
namespace {

// With the stream as captures know it. The stream lives as long as the body runs.
template <typename Body>
hipError_t with_stream(hipStream_t handle, Body&& body) {
  return with_graphs([&](graph::Library& graphs) -> hipError_t {
    std::shared_ptr<Stream> stream;
    if (const hipError_t status = find_stream(handle, stream)) return status;
    return body(graphs, reference(*stream));
  });
}

hipStream_t own(hipStream_t stream) { return stream ? stream : hipStreamPerThread; }

}  // namespace
}  // namespace tf::cpu

using namespace tf;
using namespace tf::cpu;

extern "C" {

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned int flags) {
  return with_graphs([&](graph::Library& graphs) { return graphs.create(graph, flags); });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return with_graphs([&](graph::Library& graphs) { return graphs.destroy(graph); });
}

hipError_t hipGraphClone(hipGraph_t* copy, hipGraph_t graph) {
  return with_graphs([&](graph::Library& graphs) { return graphs.clone(copy, graph); });
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_nodes(graph, nodes, count); });
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_roots(graph, nodes, count); });
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_edges(graph, from, to, count); });
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   size_t count) {
  return with_graphs([&](graph::Library& graphs) { return graphs.add_edges(graph, from, to, count); });
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                      size_t count) {
  return with_graphs([&](graph::Library& graphs) { return graphs.remove_edges(graph, from, to, count); });
}

hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  return with_graphs([&](graph::Library& graphs) { return graphs.destroy_node(node); });
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_type(node, type); });
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* nodes, size_t* count) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_dependencies(node, nodes, count); });
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* nodes, size_t* count) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_dependents(node, nodes, count); });
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t* node, hipGraphNode_t original, hipGraph_t copy) {
  return with_graphs([&](graph::Library& graphs) { return graphs.find_in_clone(node, original, copy); });
}

hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                               size_t log_bytes) {
  return with_graphs(
      [&](graph::Library& graphs) { return graphs.instantiate(exec, graph, error_node, log, log_bytes); });
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  return with_graphs([&](graph::Library& graphs) { return graphs.instantiate(exec, graph, flags); });
}

hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                              hipGraphExecUpdateResult* result) {
  return with_graphs([&](graph::Library& graphs) { return graphs.update(exec, graph, error_node, result); });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  return with_graphs([&](graph::Library& graphs) { return graphs.destroy(exec); });
}

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

TF_CPU_EXPORT hipError_t hipGraphLaunch_spt(hipGraphExec_t exec, hipStream_t handle) {
  return hipGraphLaunch(exec, own(handle));
}

TF_CPU_EXPORT hipError_t hipStreamBeginCapture_spt(hipStream_t handle, hipStreamCaptureMode mode) {
  return hipStreamBeginCapture(own(handle), mode);
}

TF_CPU_EXPORT hipError_t hipStreamEndCapture_spt(hipStream_t handle, hipGraph_t* graph) {
  return hipStreamEndCapture(own(handle), graph);
}

TF_CPU_EXPORT hipError_t hipStreamIsCapturing_spt(hipStream_t handle, hipStreamCaptureStatus* status) {
  return hipStreamIsCapturing(own(handle), status);
}

TF_CPU_EXPORT hipError_t hipStreamGetCaptureInfo_spt(hipStream_t handle, hipStreamCaptureStatus* status,
                                                     unsigned long long* id) {
  return hipStreamGetCaptureInfo(own(handle), status, id);
}

TF_CPU_EXPORT hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t handle, hipStreamCaptureStatus* status,
                                                        unsigned long long* id, hipGraph_t* graph,
                                                        const hipGraphNode_t** dependencies, size_t* count) {
  return hipStreamGetCaptureInfo_v2(own(handle), status, id, graph, dependencies, count);
}

}  // extern "C"
