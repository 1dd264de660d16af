// SPDX-License-Identifier: Apache-2.0
// Graphs and capture. All of it is the client's (graph/, proxy/graphs/); only what a graph does on the device
// is built by the worker. What the symbol lists name beyond this is exported as unsupported.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

// --- capture -------------------------------------------------------------------------------------------

CUSTOM hipError_t hipStreamBeginCapture(IN(stream) hipStream_t stream, hipStreamCaptureMode mode);
CUSTOM hipError_t hipStreamEndCapture(IN(stream) hipStream_t stream, OUT(graph) hipGraph_t* graph);
CUSTOM hipError_t hipStreamIsCapturing(IN(stream) hipStream_t stream, OUT() hipStreamCaptureStatus* status);
CUSTOM hipError_t hipStreamGetCaptureInfo(IN(stream) hipStream_t stream, OUT() hipStreamCaptureStatus* status,
                                          OUT() OPTIONAL unsigned long long* id);
CUSTOM hipError_t hipStreamGetCaptureInfo_v2(IN(stream) hipStream_t stream, OUT() hipStreamCaptureStatus* status,
                                             OUT() OPTIONAL unsigned long long* id,
                                             OUT(graph) OPTIONAL hipGraph_t* graph,
                                             OUT(opaque) OPTIONAL const hipGraphNode_t** dependencies,
                                             OUT() OPTIONAL size_t* count);
CUSTOM hipError_t hipStreamUpdateCaptureDependencies(IN(stream) hipStream_t stream,
                                                     IN(opaque) OPTIONAL hipGraphNode_t* nodes, size_t count,
                                                     unsigned int flags);
LOCAL hipError_t hipThreadExchangeStreamCaptureMode(INOUT() hipStreamCaptureMode* mode);

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

CUSTOM hipError_t hipGraphLaunch(IN(graph_exec) hipGraphExec_t exec, IN(stream) hipStream_t stream);
ALIAS(hipGraphLaunch)
hipError_t hipGraphLaunch_spt(IN(graph_exec) hipGraphExec_t exec, IN(stream) hipStream_t stream);
CUSTOM hipError_t hipGraphUpload(IN(graph_exec) hipGraphExec_t exec, IN(stream) hipStream_t stream);
LOCAL hipError_t hipGraphCreate(OUT(graph) hipGraph_t* graph, unsigned int flags);
LOCAL hipError_t hipGraphDestroy(CONSUMES(graph) hipGraph_t graph);
LOCAL hipError_t hipGraphClone(OUT(graph) hipGraph_t* copy, IN(graph) hipGraph_t graph);
LOCAL hipError_t hipGraphGetNodes(IN(graph) hipGraph_t graph, OUT(graph_node) OPTIONAL hipGraphNode_t* nodes,
                                  INOUT() size_t* count);
LOCAL hipError_t hipGraphGetRootNodes(IN(graph) hipGraph_t graph, OUT(graph_node) OPTIONAL hipGraphNode_t* nodes,
                                      INOUT() size_t* count);
LOCAL hipError_t hipGraphGetEdges(IN(graph) hipGraph_t graph, OUT(graph_node) OPTIONAL hipGraphNode_t* from,
                                  OUT(graph_node) OPTIONAL hipGraphNode_t* to, INOUT() size_t* count);
LOCAL hipError_t hipGraphAddDependencies(IN(graph) hipGraph_t graph,
                                         IN(opaque) OPTIONAL const hipGraphNode_t* from,
                                         IN(opaque) OPTIONAL const hipGraphNode_t* to, size_t count);
LOCAL hipError_t hipGraphRemoveDependencies(IN(graph) hipGraph_t graph,
                                            IN(opaque) OPTIONAL const hipGraphNode_t* from,
                                            IN(opaque) OPTIONAL const hipGraphNode_t* to, size_t count);
LOCAL hipError_t hipGraphDestroyNode(CONSUMES(graph_node) hipGraphNode_t node);
LOCAL hipError_t hipGraphNodeGetType(IN(graph_node) hipGraphNode_t node, OUT() hipGraphNodeType* type);
LOCAL hipError_t hipGraphNodeGetDependencies(IN(graph_node) hipGraphNode_t node,
                                             OUT(graph_node) OPTIONAL hipGraphNode_t* nodes,
                                             INOUT() size_t* count);
LOCAL hipError_t hipGraphNodeGetDependentNodes(IN(graph_node) hipGraphNode_t node,
                                               OUT(graph_node) OPTIONAL hipGraphNode_t* nodes,
                                               INOUT() size_t* count);
LOCAL hipError_t hipGraphNodeFindInClone(OUT(graph_node) hipGraphNode_t* node,
                                         IN(graph_node) hipGraphNode_t original, IN(graph) hipGraph_t copy);
LOCAL hipError_t hipGraphInstantiate(OUT(graph_exec) hipGraphExec_t* exec, IN(graph) hipGraph_t graph,
                                     OUT(graph_node) OPTIONAL hipGraphNode_t* error_node,
                                     OUT() OPTIONAL char* log, size_t log_bytes);
LOCAL hipError_t hipGraphInstantiateWithFlags(OUT(graph_exec) hipGraphExec_t* exec, IN(graph) hipGraph_t graph,
                                              unsigned long long flags);
LOCAL hipError_t hipGraphExecUpdate(IN(graph_exec) hipGraphExec_t exec, IN(graph) hipGraph_t graph,
                                    OUT(graph_node) hipGraphNode_t* error_node,
                                    OUT() hipGraphExecUpdateResult* result);
LOCAL hipError_t hipGraphExecDestroy(CONSUMES(graph_exec) hipGraphExec_t exec);
LOCAL hipError_t hipGraphDebugDotPrint(IN(graph) hipGraph_t graph, IN() STRING(4096) const char* path,
                                       unsigned int flags);

// --- nodes ----------------------------------------------------------------------------------------------

LOCAL hipError_t hipGraphAddEmptyNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                      IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count);
LOCAL hipError_t hipGraphAddKernelNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                       IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                       IN() const hipKernelNodeParams* parameters);
LOCAL hipError_t hipGraphAddMemcpyNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                       IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                       IN() const hipMemcpy3DParms* parameters);
LOCAL hipError_t hipGraphAddMemcpyNode1D(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                         IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                         IN(address) void* target, IN(address) const void* source, size_t bytes,
                                         hipMemcpyKind kind);
LOCAL hipError_t hipGraphAddMemsetNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                       IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                       IN() const hipMemsetParams* parameters);
LOCAL hipError_t hipGraphAddHostNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                     IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                     IN() const hipHostNodeParams* parameters);
LOCAL hipError_t hipGraphAddChildGraphNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                           IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                           IN(graph) hipGraph_t child);
LOCAL hipError_t hipGraphAddEventRecordNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                            IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                            IN(event) hipEvent_t event);
LOCAL hipError_t hipGraphAddEventWaitNode(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                          IN(opaque) OPTIONAL const hipGraphNode_t* dependencies, size_t count,
                                          IN(event) hipEvent_t event);
LOCAL hipError_t hipGraphChildGraphNodeGetGraph(IN(graph_node) hipGraphNode_t node, OUT(graph) hipGraph_t* graph);
LOCAL hipError_t hipGraphKernelNodeGetParams(IN(graph_node) hipGraphNode_t node,
                                             OUT() hipKernelNodeParams* parameters);
LOCAL hipError_t hipGraphKernelNodeGetAttribute(IN(graph_node) hipGraphNode_t node,
                                                hipKernelNodeAttrID attribute,
                                                OUT() hipKernelNodeAttrValue* value);
LOCAL hipError_t hipGraphKernelNodeSetAttribute(IN(graph_node) hipGraphNode_t node,
                                                hipKernelNodeAttrID attribute,
                                                IN() const hipKernelNodeAttrValue* value);
LOCAL hipError_t hipGraphMemcpyNodeGetParams(IN(graph_node) hipGraphNode_t node,
                                             OUT() hipMemcpy3DParms* parameters);
LOCAL hipError_t hipGraphMemsetNodeGetParams(IN(graph_node) hipGraphNode_t node,
                                             OUT() hipMemsetParams* parameters);
LOCAL hipError_t hipGraphHostNodeGetParams(IN(graph_node) hipGraphNode_t node,
                                           OUT() hipHostNodeParams* parameters);
LOCAL hipError_t hipGraphEventRecordNodeGetEvent(IN(graph_node) hipGraphNode_t node,
                                                 OUT(event) hipEvent_t* event);
LOCAL hipError_t hipGraphEventWaitNodeGetEvent(IN(graph_node) hipGraphNode_t node, OUT(event) hipEvent_t* event);
LOCAL hipError_t hipGraphKernelNodeSetParams(IN(graph_node) hipGraphNode_t node,
                                             IN() const hipKernelNodeParams* parameters);
LOCAL hipError_t hipGraphMemcpyNodeSetParams(IN(graph_node) hipGraphNode_t node,
                                             IN() const hipMemcpy3DParms* parameters);
LOCAL hipError_t hipGraphMemcpyNodeSetParams1D(IN(graph_node) hipGraphNode_t node, IN(address) void* target,
                                               IN(address) const void* source, size_t bytes, hipMemcpyKind kind);
LOCAL hipError_t hipGraphMemsetNodeSetParams(IN(graph_node) hipGraphNode_t node,
                                             IN() const hipMemsetParams* parameters);
LOCAL hipError_t hipGraphHostNodeSetParams(IN(graph_node) hipGraphNode_t node,
                                           IN() const hipHostNodeParams* parameters);
LOCAL hipError_t hipGraphEventRecordNodeSetEvent(IN(graph_node) hipGraphNode_t node, IN(event) hipEvent_t event);
LOCAL hipError_t hipGraphEventWaitNodeSetEvent(IN(graph_node) hipGraphNode_t node, IN(event) hipEvent_t event);
LOCAL hipError_t hipGraphExecKernelNodeSetParams(IN(graph_exec) hipGraphExec_t exec,
                                                 IN(graph_node) hipGraphNode_t node,
                                                 IN() const hipKernelNodeParams* parameters);
LOCAL hipError_t hipGraphExecMemcpyNodeSetParams(IN(graph_exec) hipGraphExec_t exec,
                                                 IN(graph_node) hipGraphNode_t node,
                                                 IN() hipMemcpy3DParms* parameters);
LOCAL hipError_t hipGraphExecMemcpyNodeSetParams1D(IN(graph_exec) hipGraphExec_t exec,
                                                   IN(graph_node) hipGraphNode_t node, IN(address) void* target,
                                                   IN(address) const void* source, size_t bytes,
                                                   hipMemcpyKind kind);
LOCAL hipError_t hipGraphExecMemsetNodeSetParams(IN(graph_exec) hipGraphExec_t exec,
                                                 IN(graph_node) hipGraphNode_t node,
                                                 IN() const hipMemsetParams* parameters);
LOCAL hipError_t hipGraphExecHostNodeSetParams(IN(graph_exec) hipGraphExec_t exec,
                                               IN(graph_node) hipGraphNode_t node,
                                               IN() const hipHostNodeParams* parameters);
LOCAL hipError_t hipGraphExecChildGraphNodeSetParams(IN(graph_exec) hipGraphExec_t exec,
                                                     IN(graph_node) hipGraphNode_t node,
                                                     IN(graph) hipGraph_t child);
LOCAL hipError_t hipGraphExecEventRecordNodeSetEvent(IN(graph_exec) hipGraphExec_t exec,
                                                     IN(graph_node) hipGraphNode_t node,
                                                     IN(event) hipEvent_t event);
LOCAL hipError_t hipGraphExecEventWaitNodeSetEvent(IN(graph_exec) hipGraphExec_t exec,
                                                   IN(graph_node) hipGraphNode_t node,
                                                   IN(event) hipEvent_t event);
LOCAL hipError_t hipGraphAddMemcpyNodeToSymbol(OUT(graph_node) hipGraphNode_t* node, IN(graph) hipGraph_t graph,
                                               IN(opaque) OPTIONAL const hipGraphNode_t* dependencies,
                                               size_t count, IN(symbol) const void* symbol,
                                               IN(address) const void* source, size_t bytes, size_t offset,
                                               hipMemcpyKind kind);
LOCAL hipError_t hipGraphAddMemcpyNodeFromSymbol(OUT(graph_node) hipGraphNode_t* node,
                                                 IN(graph) hipGraph_t graph,
                                                 IN(opaque) OPTIONAL const hipGraphNode_t* dependencies,
                                                 size_t count, IN(address) void* target,
                                                 IN(symbol) const void* symbol, size_t bytes, size_t offset,
                                                 hipMemcpyKind kind);
LOCAL hipError_t hipGraphMemcpyNodeSetParamsToSymbol(IN(graph_node) hipGraphNode_t node,
                                                     IN(symbol) const void* symbol,
                                                     IN(address) const void* source, size_t bytes, size_t offset,
                                                     hipMemcpyKind kind);
LOCAL hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(IN(graph_node) hipGraphNode_t node,
                                                       IN(address) void* target, IN(symbol) const void* symbol,
                                                       size_t bytes, size_t offset, hipMemcpyKind kind);
LOCAL hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(IN(graph_exec) hipGraphExec_t exec,
                                                         IN(graph_node) hipGraphNode_t node,
                                                         IN(symbol) const void* symbol,
                                                         IN(address) const void* source, size_t bytes,
                                                         size_t offset, hipMemcpyKind kind);
LOCAL hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(IN(graph_exec) hipGraphExec_t exec,
                                                           IN(graph_node) hipGraphNode_t node,
                                                           IN(address) void* target,
                                                           IN(symbol) const void* symbol, size_t bytes,
                                                           size_t offset, hipMemcpyKind kind);

}  // extern "C"
