// SPDX-License-Identifier: Apache-2.0
// Graphs as a whole, and making executable ones.
#include "proxy/gen/local.h"
#include "proxy/local/graph_support.h"

namespace tf::proxy::local {

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

hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int) {
  return with_graphs([&](graph::Library& graphs) { return graphs.print(graph, path); });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return note_error(graph::Library::exchange_mode(thread_state().capture_mode, mode));
}

}  // namespace tf::proxy::local
