// SPDX-License-Identifier: Apache-2.0
// Nodes of graphs, and their parameters, in graphs and in executable ones.
#include "proxy/gen/local.h"
#include "proxy/local/graph_support.h"

namespace tf::proxy::local {
namespace {

// Null is no executable graph, but means the node itself to the library.
template <typename Body>
hipError_t with_exec(hipGraphExec_t exec, Body&& body) {
  return with_graphs(
      [&](graph::Library& graphs) { return exec != nullptr ? body(graphs) : hipErrorInvalidValue; });
}

}  // namespace

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                size_t count) {
  return with_graphs([&](graph::Library& graphs) {
    return graphs.add(node, graph, dependencies, count, graph::EmptyWork{});
  });
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipKernelNodeParams* parameters) {
  return with_graphs([&](graph::Library& graphs) {
    return graphs.add_kernel(node, graph, dependencies, count, parameters);
  });
}

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemcpy3DParms* parameters) {
  return with_graphs(
      [&](graph::Library& graphs) { return graphs.add_copy(node, graph, dependencies, count, parameters); });
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, void* target, const void* source, size_t bytes,
                                   hipMemcpyKind kind) {
  return with_graphs([&](graph::Library& graphs) {
    return graphs.add_copy_1d(node, graph, dependencies, count, target, source, bytes, kind);
  });
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemsetParams* parameters) {
  return with_graphs(
      [&](graph::Library& graphs) { return graphs.add_fill(node, graph, dependencies, count, parameters); });
}

hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                               size_t count, const hipHostNodeParams* parameters) {
  return with_graphs(
      [&](graph::Library& graphs) { return graphs.add_host(node, graph, dependencies, count, parameters); });
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph,
                                     const hipGraphNode_t* dependencies, size_t count, hipGraph_t child) {
  return with_graphs(
      [&](graph::Library& graphs) { return graphs.add_child(node, graph, dependencies, count, child); });
}

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph,
                                      const hipGraphNode_t* dependencies, size_t count, hipEvent_t event) {
  return with_graphs([&](graph::Library& graphs) {
    return graphs.add_event(node, graph, dependencies, count, event, true);
  });
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, size_t count, hipEvent_t event) {
  return with_graphs([&](graph::Library& graphs) {
    return graphs.add_event(node, graph, dependencies, count, event, false);
  });
}

hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_child(node, graph); });
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* parameters) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_kernel(node, parameters); });
}

hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          hipKernelNodeAttrValue* value) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_attribute(node, attribute, value); });
}

hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          const hipKernelNodeAttrValue* value) {
  return with_graphs([&](graph::Library& graphs) { return graphs.set_attribute(node, attribute, value); });
}

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* parameters) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_copy(node, parameters); });
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* parameters) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_fill(node, parameters); });
}

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* parameters) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_host(node, parameters); });
}

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_event(node, event, true); });
}

hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return with_graphs([&](graph::Library& graphs) { return graphs.get_event(node, event, false); });
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* parameters) {
  return with_graphs([&](graph::Library& graphs) { return graphs.set_kernel(nullptr, node, parameters); });
}

hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* parameters) {
  return with_graphs([&](graph::Library& graphs) { return graphs.set_copy(nullptr, node, parameters); });
}

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* target, const void* source, size_t bytes,
                                         hipMemcpyKind kind) {
  return with_graphs(
      [&](graph::Library& graphs) { return graphs.set_copy_1d(nullptr, node, target, source, bytes, kind); });
}

hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* parameters) {
  return with_graphs([&](graph::Library& graphs) { return graphs.set_fill(nullptr, node, parameters); });
}

hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* parameters) {
  return with_graphs([&](graph::Library& graphs) { return graphs.set_host(nullptr, node, parameters); });
}

hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return with_graphs([&](graph::Library& graphs) { return graphs.set_event(nullptr, node, event, true); });
}

hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return with_graphs([&](graph::Library& graphs) { return graphs.set_event(nullptr, node, event, false); });
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams* parameters) {
  return with_exec(exec, [&](graph::Library& graphs) { return graphs.set_kernel(exec, node, parameters); });
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           hipMemcpy3DParms* parameters) {
  return with_exec(exec, [&](graph::Library& graphs) { return graphs.set_copy(exec, node, parameters); });
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* target,
                                             const void* source, size_t bytes, hipMemcpyKind kind) {
  return with_exec(exec, [&](graph::Library& graphs) {
    return graphs.set_copy_1d(exec, node, target, source, bytes, kind);
  });
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipMemsetParams* parameters) {
  return with_exec(exec, [&](graph::Library& graphs) { return graphs.set_fill(exec, node, parameters); });
}

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                         const hipHostNodeParams* parameters) {
  return with_exec(exec, [&](graph::Library& graphs) { return graphs.set_host(exec, node, parameters); });
}

hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child) {
  return with_exec(exec, [&](graph::Library& graphs) { return graphs.set_child(exec, node, child); });
}

hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return with_exec(exec, [&](graph::Library& graphs) { return graphs.set_event(exec, node, event, true); });
}

hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return with_exec(exec, [&](graph::Library& graphs) { return graphs.set_event(exec, node, event, false); });
}

hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                         const hipGraphNode_t* dependencies, size_t count, const void* symbol,
                                         const void* source, size_t bytes, size_t offset,
                                         hipMemcpyKind kind) {
  return with_graphs([&](graph::Library& graphs) {
    return graphs.add_symbol_copy(node, graph, dependencies, count, true, symbol, source, bytes, offset,
                                  kind);
  });
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                           const hipGraphNode_t* dependencies, size_t count, void* target,
                                           const void* symbol, size_t bytes, size_t offset,
                                           hipMemcpyKind kind) {
  return with_graphs([&](graph::Library& graphs) {
    return graphs.add_symbol_copy(node, graph, dependencies, count, false, symbol, target, bytes, offset,
                                  kind);
  });
}

hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol, const void* source,
                                               size_t bytes, size_t offset, hipMemcpyKind kind) {
  return with_graphs([&](graph::Library& graphs) {
    return graphs.set_symbol_copy(nullptr, node, true, symbol, source, bytes, offset, kind);
  });
}

hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* target, const void* symbol,
                                                 size_t bytes, size_t offset, hipMemcpyKind kind) {
  return with_graphs([&](graph::Library& graphs) {
    return graphs.set_symbol_copy(nullptr, node, false, symbol, target, bytes, offset, kind);
  });
}

hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node,
                                                   const void* symbol, const void* source, size_t bytes,
                                                   size_t offset, hipMemcpyKind kind) {
  return with_exec(exec, [&](graph::Library& graphs) {
    return graphs.set_symbol_copy(exec, node, true, symbol, source, bytes, offset, kind);
  });
}

hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node, void* target,
                                                     const void* symbol, size_t bytes, size_t offset,
                                                     hipMemcpyKind kind) {
  return with_exec(exec, [&](graph::Library& graphs) {
    return graphs.set_symbol_copy(exec, node, false, symbol, target, bytes, offset, kind);
  });
}

}  // namespace tf::proxy::local
