// SPDX-License-Identifier: Apache-2.0
// Graphs and executable graphs: the driver's own. What is in their nodes: graph_nodes.cc and graph_copies.cc.
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"

namespace tf::cuda {
namespace {

hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  if (!exec || !graph) return hipErrorInvalidValue;
  return check(cu().GraphInstantiateWithFlags(exec, graph, flags));
}

hipError_t update(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                  hipGraphExecUpdateResult* result) {
  if (!exec || !graph || !result) return hipErrorInvalidValue;
  hipGraphNode_t node = nullptr;
  int number = 0;
  const hipError_t error = check(cu().GraphExecUpdate(exec, graph, &node, &number));
  if (error_node) *error_node = node;
  // Reasons that HIP has no number for.
  if (number > hipGraphExecUpdateErrorUnsupportedFunctionChange) number = hipGraphExecUpdateError;
  *result = static_cast<hipGraphExecUpdateResult>(number);
  return error;
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned int flags) {
  return api([&] { return graph ? check(cu().GraphCreate(graph, flags)) : hipErrorInvalidValue; });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return api([&] { return graph ? check(cu().GraphDestroy(graph)) : hipErrorInvalidValue; });
}

hipError_t hipGraphClone(hipGraph_t* copy, hipGraph_t graph) {
  return api([&] { return copy && graph ? check(cu().GraphClone(copy, graph)) : hipErrorInvalidValue; });
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  return api(
      [&] { return graph && count ? check(cu().GraphGetNodes(graph, nodes, count)) : hipErrorInvalidValue; });
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  return api([&] {
    return graph && count ? check(cu().GraphGetRootNodes(graph, nodes, count)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count) {
  return api([&] {
    return graph && count ? check(cu().GraphGetEdges(graph, from, to, count)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   size_t count) {
  return api([&] {
    return graph ? check(cu().GraphAddDependencies(graph, from, to, count)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                      size_t count) {
  return api([&] {
    return graph ? check(cu().GraphRemoveDependencies(graph, from, to, count)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  return api([&] { return node ? check(cu().GraphDestroyNode(node)) : hipErrorInvalidValue; });
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  return api([&] {
    if (!node || !type) return hipErrorInvalidValue;
    int number = 0;
    const hipError_t error = check(cu().GraphNodeGetType(node, &number));
    if (error == hipSuccess) *type = convert_node_type(number);
    return error;
  });
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* nodes, size_t* count) {
  return api([&] {
    return node && count ? check(cu().GraphNodeGetDependencies(node, nodes, count)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* nodes, size_t* count) {
  return api([&] {
    return node && count ? check(cu().GraphNodeGetDependentNodes(node, nodes, count)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t* node, hipGraphNode_t original, hipGraph_t copy) {
  return api([&] {
    if (!node || !original || !copy) return hipErrorInvalidValue;
    return check(cu().GraphNodeFindInClone(node, original, copy));
  });
}

// The driver names no node and writes no log any more.
hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                               size_t log_bytes) {
  return api([&] {
    if (error_node) *error_node = nullptr;
    if (log && log_bytes != 0) log[0] = '\0';
    return instantiate(exec, graph, 0);
  });
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  return api([&] { return instantiate(exec, graph, flags); });
}

hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                              hipGraphExecUpdateResult* result) {
  return api([&] { return update(exec, graph, error_node, result); });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  return api([&] { return exec ? check(cu().GraphExecDestroy(exec)) : hipErrorInvalidValue; });
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  return api([&] { return exec ? check(cu().GraphLaunch(exec, stream)) : hipErrorInvalidValue; });
}

TF_CUDA_EXPORT hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream) {
  return api([&] { return exec ? check(cu().GraphUpload(exec, stream)) : hipErrorInvalidValue; });
}

TF_CUDA_EXPORT hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int flags) {
  return api([&] {
    return graph && path ? check(cu().GraphDebugDotPrint(graph, path, flags)) : hipErrorInvalidValue;
  });
}

}  // extern "C"
