// SPDX-License-Identifier: Apache-2.0
// Nodes of graphs, but for copies: kernels, fills, host functions, graphs in graphs, events.
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/module.h"

namespace tf::cuda {
namespace {

// A kernel node in the driver's words, and what they point to.
class Kernel {
 public:
  // The kernel is a host stub that was registered, or a hipFunction_t.
  hipError_t read(const hipKernelNodeParams* p) {
    if (!p || !p->func || (p->kernelParams && p->extra)) return hipErrorInvalidValue;
    node_.function = static_cast<hipFunction_t>(p->func);
    if (programs().is_registered(p->func))
      if (const hipError_t status = programs().function(p->func, node_.function)) return status;
    if (const hipError_t status = packed_.read(p->extra)) return status;
    node_.grid_x = p->gridDim.x;
    node_.grid_y = p->gridDim.y;
    node_.grid_z = p->gridDim.z;
    node_.block_x = p->blockDim.x;
    node_.block_y = p->blockDim.y;
    node_.block_z = p->blockDim.z;
    node_.shared_bytes = p->sharedMemBytes;
    node_.arguments = p->kernelParams;
    node_.extra = packed_.get();
    return p->sharedMemBytes > kPlainSharedBytes ? allow_shared(node_.function, p->sharedMemBytes)
                                                 : hipSuccess;
  }

  // `call` with the node; once more where static and dynamic shared memory together were too much.
  template <typename Call>
  hipError_t hand_to(Call&& call) {
    driver::Result result = call(&node_);
    if (result == driver::Result::INVALID_VALUE && node_.shared_bytes != 0 &&
        allow_shared(node_.function, node_.shared_bytes) == hipSuccess)
      result = call(&node_);
    return check(result);
  }

 private:
  driver::KernelNode node_{};
  LaunchExtra packed_;
};

template <typename Call>
hipError_t with_kernel(const hipKernelNodeParams* parameters, Call&& call) {
  Kernel kernel;
  const hipError_t status = kernel.read(parameters);
  return status == hipSuccess ? kernel.hand_to(call) : status;
}

hipError_t get_kernel(hipGraphNode_t node, hipKernelNodeParams* p) {
  if (!node || !p) return hipErrorInvalidValue;
  driver::KernelNode found{};
  if (const hipError_t status = check(cu().GraphKernelNodeGetParams(node, &found))) return status;
  const void* const host = programs().host_of(found.function);
  *p = {};
  p->func = host ? const_cast<void*>(host) : found.function;
  p->gridDim = dim3(found.grid_x, found.grid_y, found.grid_z);
  p->blockDim = dim3(found.block_x, found.block_y, found.block_z);
  p->sharedMemBytes = found.shared_bytes;
  p->kernelParams = found.arguments;
  // The driver shows the arguments by pointers, whichever way they came.
  p->extra = nullptr;
  return hipSuccess;
}

bool valid_attribute(hipKernelNodeAttrID attribute) {
  return attribute == hipKernelNodeAttributeAccessPolicyWindow ||
         attribute == hipKernelNodeAttributeCooperative;
}

hipError_t get_attribute(hipGraphNode_t node, hipKernelNodeAttrID attribute, hipKernelNodeAttrValue* value) {
  if (!node || !value || !valid_attribute(attribute)) return hipErrorInvalidValue;
  driver::NodeAttributeValue found{};
  const hipError_t status = check(cu().GraphKernelNodeGetAttribute(node, attribute, &found));
  if (status == hipSuccess) *value = convert_back(attribute, found);
  return status;
}

hipError_t set_attribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                         const hipKernelNodeAttrValue* value) {
  if (!node || !value || !valid_attribute(attribute)) return hipErrorInvalidValue;
  const driver::NodeAttributeValue wish = convert(attribute, *value);
  return check(cu().GraphKernelNodeSetAttribute(node, attribute, &wish));
}

// The fill, and the context that it runs in.
template <typename Call>
hipError_t with_fill(const hipMemsetParams* p, Call&& call) {
  if (!p || !p->dst) return hipErrorInvalidValue;
  driver::Context context = nullptr;
  if (const hipError_t status = Runtime::get().context(thread_state().device, context)) return status;
  const driver::FillNode node = convert(*p);
  return check(call(&node, context));
}

hipError_t get_fill(hipGraphNode_t node, hipMemsetParams* p) {
  if (!node || !p) return hipErrorInvalidValue;
  driver::FillNode found{};
  const hipError_t status = check(cu().GraphMemsetNodeGetParams(node, &found));
  if (status == hipSuccess) *p = convert_back(found);
  return status;
}

template <typename Call>
hipError_t with_host(const hipHostNodeParams* p, Call&& call) {
  if (!p || !p->fn) return hipErrorInvalidValue;
  const driver::HostNode node{p->fn, p->userData};
  return check(call(&node));
}

hipError_t get_host(hipGraphNode_t node, hipHostNodeParams* p) {
  if (!node || !p) return hipErrorInvalidValue;
  driver::HostNode found{};
  const hipError_t status = check(cu().GraphHostNodeGetParams(node, &found));
  if (status == hipSuccess) *p = {found.function, found.data};
  return status;
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;
using tf::cuda::driver::FillNode;
using tf::cuda::driver::HostNode;
using tf::cuda::driver::KernelNode;

extern "C" {

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                size_t count) {
  return api([&] {
    return node && graph ? check(cu().GraphAddEmptyNode(node, graph, dependencies, count))
                         : hipErrorInvalidValue;
  });
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipKernelNodeParams* parameters) {
  return api([&] {
    if (!node || !graph) return hipErrorInvalidValue;
    return with_kernel(parameters, [&](const KernelNode* kernel) {
      return cu().GraphAddKernelNode(node, graph, dependencies, count, kernel);
    });
  });
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* parameters) {
  return api([&] { return get_kernel(node, parameters); });
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* parameters) {
  return api([&] {
    if (!node) return hipErrorInvalidValue;
    return with_kernel(parameters,
                       [&](const KernelNode* kernel) { return cu().GraphKernelNodeSetParams(node, kernel); });
  });
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams* parameters) {
  return api([&] {
    if (!exec || !node) return hipErrorInvalidValue;
    return with_kernel(parameters, [&](const KernelNode* kernel) {
      return cu().GraphExecKernelNodeSetParams(exec, node, kernel);
    });
  });
}

hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          hipKernelNodeAttrValue* value) {
  return api([&] { return get_attribute(node, attribute, value); });
}

hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute,
                                          const hipKernelNodeAttrValue* value) {
  return api([&] { return set_attribute(node, attribute, value); });
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemsetParams* parameters) {
  return api([&] {
    if (!node || !graph) return hipErrorInvalidValue;
    return with_fill(parameters, [&](const FillNode* fill, hipCtx_t context) {
      return cu().GraphAddMemsetNode(node, graph, dependencies, count, fill, context);
    });
  });
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* parameters) {
  return api([&] { return get_fill(node, parameters); });
}

hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* parameters) {
  return api([&] {
    if (!node) return hipErrorInvalidValue;
    return with_fill(parameters, [&](const FillNode* fill, hipCtx_t) {
      return cu().GraphMemsetNodeSetParams(node, fill);
    });
  });
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipMemsetParams* parameters) {
  return api([&] {
    if (!exec || !node) return hipErrorInvalidValue;
    return with_fill(parameters, [&](const FillNode* fill, hipCtx_t context) {
      return cu().GraphExecMemsetNodeSetParams(exec, node, fill, context);
    });
  });
}

hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                               size_t count, const hipHostNodeParams* parameters) {
  return api([&] {
    if (!node || !graph) return hipErrorInvalidValue;
    return with_host(parameters, [&](const HostNode* host) {
      return cu().GraphAddHostNode(node, graph, dependencies, count, host);
    });
  });
}

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* parameters) {
  return api([&] { return get_host(node, parameters); });
}

hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* parameters) {
  return api([&] {
    if (!node) return hipErrorInvalidValue;
    return with_host(parameters,
                     [&](const HostNode* host) { return cu().GraphHostNodeSetParams(node, host); });
  });
}

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                         const hipHostNodeParams* parameters) {
  return api([&] {
    if (!exec || !node) return hipErrorInvalidValue;
    return with_host(parameters,
                     [&](const HostNode* host) { return cu().GraphExecHostNodeSetParams(exec, node, host); });
  });
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph,
                                     const hipGraphNode_t* dependencies, size_t count, hipGraph_t child) {
  return api([&] {
    if (!node || !graph || !child) return hipErrorInvalidValue;
    return check(cu().GraphAddChildGraphNode(node, graph, dependencies, count, child));
  });
}

hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) {
  return api([&] {
    return node && graph ? check(cu().GraphChildGraphNodeGetGraph(node, graph)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child) {
  return api([&] {
    if (!exec || !node || !child) return hipErrorInvalidValue;
    return check(cu().GraphExecChildGraphNodeSetParams(exec, node, child));
  });
}

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph,
                                      const hipGraphNode_t* dependencies, size_t count, hipEvent_t event) {
  return api([&] {
    if (!node || !graph || !event) return hipErrorInvalidValue;
    return check(cu().GraphAddEventRecordNode(node, graph, dependencies, count, event));
  });
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, size_t count, hipEvent_t event) {
  return api([&] {
    if (!node || !graph || !event) return hipErrorInvalidValue;
    return check(cu().GraphAddEventWaitNode(node, graph, dependencies, count, event));
  });
}

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return api([&] {
    return node && event ? check(cu().GraphEventRecordNodeGetEvent(node, event)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return api([&] {
    return node && event ? check(cu().GraphEventRecordNodeSetEvent(node, event)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return api([&] {
    if (!exec || !node || !event) return hipErrorInvalidValue;
    return check(cu().GraphExecEventRecordNodeSetEvent(exec, node, event));
  });
}

hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return api([&] {
    return node && event ? check(cu().GraphEventWaitNodeGetEvent(node, event)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return api([&] {
    return node && event ? check(cu().GraphEventWaitNodeSetEvent(node, event)) : hipErrorInvalidValue;
  });
}

hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return api([&] {
    if (!exec || !node || !event) return hipErrorInvalidValue;
    return check(cu().GraphExecEventWaitNodeSetEvent(exec, node, event));
  });
}

}  // extern "C"
