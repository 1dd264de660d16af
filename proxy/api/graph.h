// SPDX-License-Identifier: Apache-2.0
// Graphs and capture. The client keeps all of it (hipcore/graph/, proxy/graphs/); the worker builds only what a
// graph does on the device. Functions that only the symbol lists name are exported as unsupported.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

// --- capture -------------------------------------------------------------------------------------------

ANSWERS(captures.begin_capture(on, mode))
hipError_t hipStreamBeginCapture(IN(stream) hipStream_t stream, hipStreamCaptureMode mode);
ANSWERS(captures.begin_capture(on, mode, graph, dependencies, edges, count))
hipError_t hipStreamBeginCaptureToGraph(IN(stream) hipStream_t stream, IN(graph) hipGraph_t graph,
                                        IN(opaque) OPTIONAL const hipGraphNode_t* dependencies,
                                        IN(opaque) OPTIONAL const hipGraphEdgeData* edges, size_t count,
                                        hipStreamCaptureMode mode);
ANSWERS(captures.end_capture(on, graph))
hipError_t hipStreamEndCapture(IN(stream) hipStream_t stream, OUT(graph) hipGraph_t* graph);
ANSWERS(graphs.capture_info(on, status, nullptr, nullptr, nullptr, nullptr))
hipError_t hipStreamIsCapturing(IN(stream) hipStream_t stream, OUT() hipStreamCaptureStatus* status);
ANSWERS(graphs.capture_info(on, status, id, nullptr, nullptr, nullptr))
hipError_t hipStreamGetCaptureInfo(IN(stream) hipStream_t stream, OUT() hipStreamCaptureStatus* status,
                                   OUT() OPTIONAL unsigned long long* id);
ANSWERS(graphs.capture_info(on, status, id, graph, dependencies, count))
hipError_t hipStreamGetCaptureInfo_v2(IN(stream) hipStream_t stream, OUT() hipStreamCaptureStatus* status,
                                      OUT() OPTIONAL unsigned long long* id, OUT(graph) OPTIONAL hipGraph_t* graph,
                                      OUT(opaque) OPTIONAL const hipGraphNode_t** dependencies,
                                      OUT() OPTIONAL size_t* count);
ANSWERS(graphs.update_capture(on, nodes, count, flags))
hipError_t hipStreamUpdateCaptureDependencies(IN(stream) hipStream_t stream,
                                              IN(opaque) OPTIONAL hipGraphNode_t* nodes, size_t count,
                                              unsigned int flags);
LOCAL(thread) hipError_t hipThreadExchangeStreamCaptureMode(INOUT() hipStreamCaptureMode* mode);

ALIAS(hipStreamBeginCapture)
hipError_t hipStreamBeginCapture_spt(IN(stream) hipStream_t stream, hipStreamCaptureMode mode);
ALIAS(hipStreamEndCapture)
hipError_t hipStreamEndCapture_spt(IN(stream) hipStream_t stream, OUT(graph) hipGraph_t* graph);
ALIAS(hipStreamIsCapturing)
hipError_t hipStreamIsCapturing_spt(IN(stream) hipStream_t stream, OUT() hipStreamCaptureStatus* status);
ALIAS(hipStreamGetCaptureInfo)
hipError_t hipStreamGetCaptureInfo_spt(IN(stream) hipStream_t stream, OUT() hipStreamCaptureStatus* status,
                                       OUT() OPTIONAL unsigned long long* id);
ALIAS(hipStreamGetCaptureInfo_v2)
hipError_t hipStreamGetCaptureInfo_v2_spt(IN(stream) hipStream_t stream, OUT() hipStreamCaptureStatus* status,
                                          OUT() OPTIONAL unsigned long long* id,
                                          OUT(graph) OPTIONAL hipGraph_t* graph,
                                          OUT(opaque) OPTIONAL const hipGraphNode_t** dependencies,
                                          OUT() OPTIONAL size_t* count);

// --- graphs, and executable ones ------------------------------------------------------------------------

ANSWERS(graphs.launch(exec, on))
hipError_t hipGraphLaunch(IN(graph_exec) hipGraphExec_t exec, IN(stream) hipStream_t stream);
ALIAS(hipGraphLaunch)
hipError_t hipGraphLaunch_spt(IN(graph_exec) hipGraphExec_t exec, IN(stream) hipStream_t stream);
ANSWERS(graphs.upload(exec))
hipError_t hipGraphUpload(IN(graph_exec) hipGraphExec_t exec, IN(stream) hipStream_t stream);
ANSWERS(graphs.create(graph, flags))
hipError_t hipGraphCreate(OUT(graph) hipGraph_t* graph, unsigned int flags);
ANSWERS(graphs.destroy(graph))
hipError_t hipGraphDestroy(CONSUMES(graph) hipGraph_t graph);
ANSWERS(graphs.clone(copy, graph))
hipError_t hipGraphClone(OUT(graph) hipGraph_t* copy, IN(graph) hipGraph_t graph);
ANSWERS(graphs.get_nodes(graph, nodes, count))
hipError_t hipGraphGetNodes(IN(graph) hipGraph_t graph, OUT(graph_node) OPTIONAL hipGraphNode_t* nodes,
                            INOUT() size_t* count);
ANSWERS(graphs.get_roots(graph, nodes, count))
hipError_t hipGraphGetRootNodes(IN(graph) hipGraph_t graph, OUT(graph_node) OPTIONAL hipGraphNode_t* nodes,
                                INOUT() size_t* count);
ANSWERS(graphs.get_edges(graph, from, to, count))
hipError_t hipGraphGetEdges(IN(graph) hipGraph_t graph, OUT(graph_node) OPTIONAL hipGraphNode_t* from,
                            OUT(graph_node) OPTIONAL hipGraphNode_t* to, INOUT() size_t* count);
ANSWERS(graphs.add_edges(graph, from, to, count))
hipError_t hipGraphAddDependencies(IN(graph) hipGraph_t graph, IN(opaque) OPTIONAL const hipGraphNode_t* from,
                                   IN(opaque) OPTIONAL const hipGraphNode_t* to, size_t count);
ANSWERS(graphs.remove_edges(graph, from, to, count))
hipError_t hipGraphRemoveDependencies(IN(graph) hipGraph_t graph, IN(opaque) OPTIONAL const hipGraphNode_t* from,
                                      IN(opaque) OPTIONAL const hipGraphNode_t* to, size_t count);
ANSWERS(graphs.destroy_node(node))
hipError_t hipGraphDestroyNode(CONSUMES(graph_node) hipGraphNode_t node);
ANSWERS(tf::abi::with_number(graphs.get_type(node, type), type))
hipError_t hipGraphNodeGetType(IN(graph_node) hipGraphNode_t node, OUT() hipGraphNodeType* type);
ANSWERS(graphs.get_dependencies(node, nodes, count))
hipError_t hipGraphNodeGetDependencies(IN(graph_node) hipGraphNode_t node,
                                       OUT(graph_node) OPTIONAL hipGraphNode_t* nodes, INOUT() size_t* count);
ANSWERS(graphs.get_dependents(node, nodes, count))
hipError_t hipGraphNodeGetDependentNodes(IN(graph_node) hipGraphNode_t node,
                                         OUT(graph_node) OPTIONAL hipGraphNode_t* nodes, INOUT() size_t* count);
ANSWERS(graphs.find_in_clone(node, original, copy))
hipError_t hipGraphNodeFindInClone(OUT(graph_node) hipGraphNode_t* node, IN(graph_node) hipGraphNode_t original,
                                   IN(graph) hipGraph_t copy);
ANSWERS(graphs.instantiate(exec, graph, error_node, log, log_bytes))
hipError_t hipGraphInstantiate(OUT(graph_exec) hipGraphExec_t* exec, IN(graph) hipGraph_t graph,
                               OUT(graph_node) OPTIONAL hipGraphNode_t* error_node, OUT() OPTIONAL char* log,
                               size_t log_bytes);
ANSWERS(graphs.instantiate(exec, graph, flags)) ASKS(always)
hipError_t hipGraphInstantiateWithFlags(OUT(graph_exec) hipGraphExec_t* exec, IN(graph) hipGraph_t graph,
                                        unsigned long long flags);
ANSWERS(graphs.update(exec, graph, error_node, result))
hipError_t hipGraphExecUpdate(IN(graph_exec) hipGraphExec_t exec, IN(graph) hipGraph_t graph,
                              OUT(graph_node) hipGraphNode_t* error_node, OUT() hipGraphExecUpdateResult* result);
ANSWERS(graphs.destroy(exec))
hipError_t hipGraphExecDestroy(CONSUMES(graph_exec) hipGraphExec_t exec);
ANSWERS(graphs.print(graph, path))
hipError_t hipGraphDebugDotPrint(IN(graph) hipGraph_t graph, IN() STRING(4096) const char* path,
                                 unsigned int flags);

// --- nodes ----------------------------------------------------------------------------------------------

ANSWERS(graphs.add(node, graph, dependencies, count, graph::EmptyWork()))
hipError_t hipGraphAddEmptyNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count);
ANSWERS(graphs.add_kernel(node, graph, dependencies, count, parameters))
hipError_t hipGraphAddKernelNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                 IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                 IN() const hipKernelNodeParams* parameters);
ANSWERS(graphs.add_copy(node, graph, dependencies, count, parameters))
hipError_t hipGraphAddMemcpyNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                 IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                 IN() const hipMemcpy3DParms* parameters);
ANSWERS(graphs.add_copy_1d(node, graph, dependencies, count, target, source, bytes, kind))
hipError_t hipGraphAddMemcpyNode1D(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                   IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                   IN(address) void* target, IN(address) const void* source, size_t bytes,
                                   hipMemcpyKind kind);
ANSWERS(graphs.add_fill(node, graph, dependencies, count, parameters))
hipError_t hipGraphAddMemsetNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                 IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                 IN() const hipMemsetParams* parameters);
ANSWERS(graphs.add_host(node, graph, dependencies, count, parameters))
hipError_t hipGraphAddHostNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                               IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                               IN() const hipHostNodeParams* parameters);
ANSWERS(graphs.add_child(node, graph, dependencies, count, child))
hipError_t hipGraphAddChildGraphNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                     IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                     IN(graph) hipGraph_t child);
ANSWERS(graphs.add_event(node, graph, dependencies, count, event, true))
hipError_t hipGraphAddEventRecordNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                      IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                      IN(event) hipEvent_t event);
ANSWERS(graphs.add_event(node, graph, dependencies, count, event, false))
hipError_t hipGraphAddEventWaitNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                    IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                    IN(event) hipEvent_t event);
ANSWERS(graphs.get_child(node, graph))
hipError_t hipGraphChildGraphNodeGetGraph(IN(graph_node) hipGraphNode_t node, OUT(graph) hipGraph_t* graph);
ANSWERS(graphs.get_kernel(node, parameters))
hipError_t hipGraphKernelNodeGetParams(IN(graph_node) hipGraphNode_t node, OUT() hipKernelNodeParams* parameters);
ANSWERS(graphs.get_attribute(node, attribute, value))
hipError_t hipGraphKernelNodeGetAttribute(IN(graph_node) hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          OUT() hipKernelNodeAttrValue* value);
ANSWERS(graphs.set_attribute(node, attribute, value))
hipError_t hipGraphKernelNodeSetAttribute(IN(graph_node) hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          IN() const hipKernelNodeAttrValue* value);
ANSWERS(graphs.copy_attributes(from, to))
hipError_t hipGraphKernelNodeCopyAttributes(IN(graph_node) hipGraphNode_t from, IN(graph_node) hipGraphNode_t to);
ANSWERS(graphs.set_enabled(exec, node, enabled)) ASKS(always)
hipError_t hipGraphNodeSetEnabled(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                  unsigned int enabled);
ANSWERS(graphs.get_enabled(exec, node, enabled))
hipError_t hipGraphNodeGetEnabled(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                  OUT() unsigned int* enabled);
ANSWERS(graphs.get_copy(node, parameters))
hipError_t hipGraphMemcpyNodeGetParams(IN(graph_node) hipGraphNode_t node, OUT() hipMemcpy3DParms* parameters);
ANSWERS(graphs.get_fill(node, parameters))
hipError_t hipGraphMemsetNodeGetParams(IN(graph_node) hipGraphNode_t node, OUT() hipMemsetParams* parameters);
ANSWERS(graphs.get_host(node, parameters))
hipError_t hipGraphHostNodeGetParams(IN(graph_node) hipGraphNode_t node, OUT() hipHostNodeParams* parameters);
ANSWERS(graphs.get_event(node, event, true))
hipError_t hipGraphEventRecordNodeGetEvent(IN(graph_node) hipGraphNode_t node, OUT(event) hipEvent_t* event);
ANSWERS(graphs.get_event(node, event, false))
hipError_t hipGraphEventWaitNodeGetEvent(IN(graph_node) hipGraphNode_t node, OUT(event) hipEvent_t* event);
ANSWERS(graphs.set_kernel(nullptr, node, parameters))
hipError_t hipGraphKernelNodeSetParams(IN(graph_node) hipGraphNode_t node,
                                       IN() const hipKernelNodeParams* parameters);
ANSWERS(graphs.set_copy(nullptr, node, parameters))
hipError_t hipGraphMemcpyNodeSetParams(IN(graph_node) hipGraphNode_t node, IN() const hipMemcpy3DParms* parameters);
ANSWERS(graphs.set_copy_1d(nullptr, node, target, source, bytes, kind))
hipError_t hipGraphMemcpyNodeSetParams1D(IN(graph_node) hipGraphNode_t node, IN(address) void* target,
                                         IN(address) const void* source, size_t bytes, hipMemcpyKind kind);
ANSWERS(graphs.set_fill(nullptr, node, parameters))
hipError_t hipGraphMemsetNodeSetParams(IN(graph_node) hipGraphNode_t node, IN() const hipMemsetParams* parameters);
ANSWERS(graphs.set_host(nullptr, node, parameters))
hipError_t hipGraphHostNodeSetParams(IN(graph_node) hipGraphNode_t node, IN() const hipHostNodeParams* parameters);
ANSWERS(graphs.set_event(nullptr, node, event, true))
hipError_t hipGraphEventRecordNodeSetEvent(IN(graph_node) hipGraphNode_t node, IN(event) hipEvent_t event);
ANSWERS(graphs.set_event(nullptr, node, event, false))
hipError_t hipGraphEventWaitNodeSetEvent(IN(graph_node) hipGraphNode_t node, IN(event) hipEvent_t event);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_kernel(exec, node, parameters)) ASKS(always)
hipError_t hipGraphExecKernelNodeSetParams(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                           IN() const hipKernelNodeParams* parameters);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_copy(exec, node, parameters)) ASKS(always)
hipError_t hipGraphExecMemcpyNodeSetParams(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                           IN() hipMemcpy3DParms* parameters);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_copy_1d(exec, node, target, source, bytes, kind))
ASKS(always)
hipError_t hipGraphExecMemcpyNodeSetParams1D(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                             IN(address) void* target, IN(address) const void* source, size_t bytes,
                                             hipMemcpyKind kind);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_fill(exec, node, parameters)) ASKS(always)
hipError_t hipGraphExecMemsetNodeSetParams(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                           IN() const hipMemsetParams* parameters);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_host(exec, node, parameters))
hipError_t hipGraphExecHostNodeSetParams(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                         IN() const hipHostNodeParams* parameters);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_child(exec, node, child))
hipError_t hipGraphExecChildGraphNodeSetParams(IN(graph_exec) hipGraphExec_t exec,
                                               IN(graph_node) hipGraphNode_t node, IN(graph) hipGraph_t child);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_event(exec, node, event, true))
hipError_t hipGraphExecEventRecordNodeSetEvent(IN(graph_exec) hipGraphExec_t exec,
                                               IN(graph_node) hipGraphNode_t node, IN(event) hipEvent_t event);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_event(exec, node, event, false))
hipError_t hipGraphExecEventWaitNodeSetEvent(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                             IN(event) hipEvent_t event);
ANSWERS(graphs.add_symbol_copy(node, graph, dependencies, count, true, symbol, source, bytes, offset, kind)) ASKS(code)
hipError_t hipGraphAddMemcpyNodeToSymbol(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                         IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                         IN(symbol) const void* symbol, IN(address) const void* source,
                                         size_t bytes, size_t offset, hipMemcpyKind kind);
ANSWERS(graphs.add_symbol_copy(node, graph, dependencies, count, false, symbol, target, bytes, offset, kind)) ASKS(code)
hipError_t hipGraphAddMemcpyNodeFromSymbol(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                           IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                           IN(address) void* target, IN(symbol) const void* symbol, size_t bytes,
                                           size_t offset, hipMemcpyKind kind);
ANSWERS(graphs.set_symbol_copy(nullptr, node, true, symbol, source, bytes, offset, kind)) ASKS(code)
hipError_t hipGraphMemcpyNodeSetParamsToSymbol(IN(graph_node) hipGraphNode_t node, IN(symbol) const void* symbol,
                                               IN(address) const void* source, size_t bytes, size_t offset,
                                               hipMemcpyKind kind);
ANSWERS(graphs.set_symbol_copy(nullptr, node, false, symbol, target, bytes, offset, kind)) ASKS(code)
hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(IN(graph_node) hipGraphNode_t node, IN(address) void* target,
                                                 IN(symbol) const void* symbol, size_t bytes, size_t offset,
                                                 hipMemcpyKind kind);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_symbol_copy(exec, node, true, symbol, source, bytes,
        offset, kind)) ASKS(always)
hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(IN(graph_exec) hipGraphExec_t exec,
                                                   IN(graph_node) hipGraphNode_t node,
                                                   IN(symbol) const void* symbol, IN(address) const void* source,
                                                   size_t bytes, size_t offset, hipMemcpyKind kind);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_symbol_copy(exec, node, false, symbol, target, bytes,
        offset, kind)) ASKS(always)
hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(IN(graph_exec) hipGraphExec_t exec,
                                                     IN(graph_node) hipGraphNode_t node, IN(address) void* target,
                                                     IN(symbol) const void* symbol, size_t bytes, size_t offset,
                                                     hipMemcpyKind kind);

// --- nodes of every kind, and in the driver's style -------------------------------------------------------

ANSWERS(graphs.add_any(node, graph, dependencies, count, parameters, abi::node_type_of))
hipError_t hipGraphAddNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                           IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                           INOUT(opaque) hipGraphNodeParams* parameters);
ANSWERS(graphs.set_any(nullptr, node, parameters, abi::node_type_of))
hipError_t hipGraphNodeSetParams(IN(graph_node) hipGraphNode_t node, IN(opaque) hipGraphNodeParams* parameters);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_any(exec, node, parameters, abi::node_type_of)) ASKS(always)
hipError_t hipGraphExecNodeSetParams(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                     IN(opaque) hipGraphNodeParams* parameters);
ANSWERS(graphs.instantiate(exec, graph, parameters))
hipError_t hipGraphInstantiateWithParams(OUT(graph_exec) hipGraphExec_t* exec, IN(graph) hipGraph_t graph,
                                         INOUT(opaque) hipGraphInstantiateParams* parameters);
ANSWERS(graphs.get_flags(exec, flags))
hipError_t hipGraphExecGetFlags(IN(graph_exec) hipGraphExec_t exec, OUT() unsigned long long* flags);
ANSWERS(parameters == nullptr ? hipErrorInvalidValue : graphs.add_driver_copy(node, graph, dependencies, count,
        abi::from_program(*parameters), context))
hipError_t hipDrvGraphAddMemcpyNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                    IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                    IN(opaque) const HIP_MEMCPY3D* parameters, IN(ctx) OPTIONAL hipCtx_t context);
ANSWERS(graphs.get_driver_copy(node, parameters, abi::to_program))
hipError_t hipDrvGraphMemcpyNodeGetParams(IN(graph_node) hipGraphNode_t node, OUT(opaque) HIP_MEMCPY3D* parameters);
ANSWERS(parameters == nullptr ? hipErrorInvalidValue : graphs.set_driver_copy(nullptr, node,
        abi::from_program(*parameters), nullptr))
hipError_t hipDrvGraphMemcpyNodeSetParams(IN(graph_node) hipGraphNode_t node,
                                          IN(opaque) const HIP_MEMCPY3D* parameters);
ANSWERS(exec == nullptr || parameters == nullptr ? hipErrorInvalidValue : graphs.set_driver_copy(exec, node,
        abi::from_program(*parameters), context)) ASKS(always)
hipError_t hipDrvGraphExecMemcpyNodeSetParams(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                              IN(opaque) const HIP_MEMCPY3D* parameters,
                                              IN(ctx) OPTIONAL hipCtx_t context);
// Until 6.4 the struct of fills is another one than its type says (abi::driver_fill_from_program).
ANSWERS(parameters == nullptr ? hipErrorInvalidValue : graphs.add_driver_fill(node, graph, dependencies, count,
        abi::driver_fill_from_program(parameters), context))
hipError_t hipDrvGraphAddMemsetNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                    IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                    IN(opaque) const hipMemsetParams* parameters, IN(ctx) OPTIONAL hipCtx_t context);
ANSWERS(exec == nullptr || parameters == nullptr ? hipErrorInvalidValue : graphs.set_driver_fill(exec, node,
        abi::driver_fill_from_program(parameters), context)) ASKS(always)
hipError_t hipDrvGraphExecMemsetNodeSetParams(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                              IN(opaque) const hipMemsetParams* parameters,
                                              IN(ctx) OPTIONAL hipCtx_t context);
ANSWERS(graphs.add_release(node, graph, dependencies, count, pointer))
hipError_t hipDrvGraphAddMemFreeNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                     IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                     IN(address) hipDeviceptr_t pointer);

// --- batches of stream operations -------------------------------------------------------------------------

ANSWERS(graphs.add_batch(node, graph, dependencies, count, parameters))
hipError_t hipGraphAddBatchMemOpNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                     IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                     IN(opaque) const hipBatchMemOpNodeParams* parameters);
ANSWERS(graphs.get_batch(node, parameters))
hipError_t hipGraphBatchMemOpNodeGetParams(IN(graph_node) hipGraphNode_t node,
                                           OUT(opaque) hipBatchMemOpNodeParams* parameters);
ANSWERS(graphs.set_batch(nullptr, node, parameters))
hipError_t hipGraphBatchMemOpNodeSetParams(IN(graph_node) hipGraphNode_t node,
                                           IN(opaque) hipBatchMemOpNodeParams* parameters);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_batch(exec, node, parameters))
hipError_t hipGraphExecBatchMemOpNodeSetParams(IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
                                               IN(opaque) const hipBatchMemOpNodeParams* parameters);

// --- semaphores of other APIs -----------------------------------------------------------------------------
// None can be imported (external.h), so a node names none: another list is hipErrorInvalidValue.

ANSWERS(graphs.add_semaphores(node, graph, dependencies, count, parameters))
hipError_t hipGraphAddExternalSemaphoresSignalNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                         IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                         IN(opaque) const hipExternalSemaphoreSignalNodeParams* parameters);
ANSWERS(graphs.get_semaphores(node, parameters))
hipError_t hipGraphExternalSemaphoresSignalNodeGetParams(IN(graph_node) hipGraphNode_t node,
                                               OUT(opaque) hipExternalSemaphoreSignalNodeParams* parameters);
ANSWERS(graphs.set_semaphores(nullptr, node, parameters))
hipError_t hipGraphExternalSemaphoresSignalNodeSetParams(IN(graph_node) hipGraphNode_t node,
                                               IN(opaque) const hipExternalSemaphoreSignalNodeParams* parameters);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_semaphores(exec, node, parameters))
hipError_t hipGraphExecExternalSemaphoresSignalNodeSetParams(
    IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
    IN(opaque) const hipExternalSemaphoreSignalNodeParams* parameters);
ANSWERS(graphs.add_semaphores(node, graph, dependencies, count, parameters))
hipError_t hipGraphAddExternalSemaphoresWaitNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                         IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                         IN(opaque) const hipExternalSemaphoreWaitNodeParams* parameters);
ANSWERS(graphs.get_semaphores(node, parameters))
hipError_t hipGraphExternalSemaphoresWaitNodeGetParams(IN(graph_node) hipGraphNode_t node,
                                               OUT(opaque) hipExternalSemaphoreWaitNodeParams* parameters);
ANSWERS(graphs.set_semaphores(nullptr, node, parameters))
hipError_t hipGraphExternalSemaphoresWaitNodeSetParams(IN(graph_node) hipGraphNode_t node,
                                               IN(opaque) const hipExternalSemaphoreWaitNodeParams* parameters);
ANSWERS(exec == nullptr ? hipErrorInvalidValue : graphs.set_semaphores(exec, node, parameters))
hipError_t hipGraphExecExternalSemaphoresWaitNodeSetParams(
    IN(graph_exec) hipGraphExec_t exec, IN(graph_node) hipGraphNode_t node,
    IN(opaque) const hipExternalSemaphoreWaitNodeParams* parameters);

// --- memory of graphs -----------------------------------------------------------------------------------

ANSWERS(graphs.add_allocation(node, graph, dependencies, count, parameters))
hipError_t hipGraphAddMemAllocNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                   IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                   INOUT(opaque) hipMemAllocNodeParams* parameters);
ANSWERS(graphs.get_allocation(node, parameters))
hipError_t hipGraphMemAllocNodeGetParams(IN(graph_node) hipGraphNode_t node,
                                         OUT(opaque) hipMemAllocNodeParams* parameters);
ANSWERS(graphs.add_release(node, graph, dependencies, count, pointer))
hipError_t hipGraphAddMemFreeNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                  IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                  IN(address) void* pointer);
ANSWERS(graphs.get_release(node, pointer))
hipError_t hipGraphMemFreeNodeGetParams(IN(graph_node) hipGraphNode_t node, OUT(opaque) void* pointer);
ANSWERS(graphs.get_memory_attribute(device, attribute, value))
hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, OUT(opaque) void* value);
ANSWERS(graphs.set_memory_attribute(device, attribute, value))
hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, IN(opaque) void* value);
ANSWERS(graphs.trim_memory(device))
hipError_t hipDeviceGraphMemTrim(int device);

// --- user objects ---------------------------------------------------------------------------------------

ANSWERS(graphs.create_object(object, data, destroy, count, flags))
hipError_t hipUserObjectCreate(OUT(opaque) hipUserObject_t* object, IN(opaque) void* data,
                               IN(callback) hipHostFn_t destroy, unsigned int count, unsigned int flags);
ANSWERS(graphs.retain_object(object, count))
hipError_t hipUserObjectRetain(IN(opaque) hipUserObject_t object, unsigned int count);
ANSWERS(graphs.release_object(object, count))
hipError_t hipUserObjectRelease(IN(opaque) hipUserObject_t object, unsigned int count);
ANSWERS(graphs.retain_object(graph, object, count, flags))
hipError_t hipGraphRetainUserObject(IN(graph) hipGraph_t graph, IN(opaque) hipUserObject_t object,
                                    unsigned int count, unsigned int flags);
ANSWERS(graphs.release_object(graph, object, count))
hipError_t hipGraphReleaseUserObject(IN(graph) hipGraph_t graph, IN(opaque) hipUserObject_t object,
                                     unsigned int count);

}  // extern "C"
