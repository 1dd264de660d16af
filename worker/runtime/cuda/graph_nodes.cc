// SPDX-License-Identifier: Apache-2.0
// Builds the driver's graphs from plans.
#include "worker/runtime/cuda/graph_nodes.h"

#include <algorithm>
#include <vector>

#include "hipcore/newer/batch.h"
#include "worker/runtime/common/programs.h"
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/copy.h"
#include "worker/runtime/cuda/events.h"
#include "worker/runtime/cuda/module.h"
#include "worker/runtime/cuda/modules.h"

namespace tf::cuda {
namespace {

// Where a node goes.
struct Place {
  hipGraph_t graph = nullptr;
  driver::Context context = nullptr;
  std::vector<hipGraphNode_t> before;
  hipGraphNode_t node = nullptr;  // once it is made
};

Shape shape_of(const graph::KernelWork& work) {
  return {dim3(work.grid[0], work.grid[1], work.grid[2]),
          dim3(work.threads[0], work.threads[1], work.threads[2])};
}

// The context of the device that owns the memory, else of the current device. A capture may span devices.
driver::Context context_of(void* pointer, driver::Context current) {
  unsigned type = 0;
  int ordinal = -1;
  if (cu().PointerGetAttribute(&type, driver::kPointerMemoryType, pointer) != driver::Result::SUCCESS ||
      type != driver::kMemoryDevice ||
      cu().PointerGetAttribute(&ordinal, driver::kPointerDeviceOrdinal, pointer) != driver::Result::SUCCESS ||
      !Runtime::get().valid_device(ordinal))
    return current;
  driver::Context context = nullptr;
  return Runtime::get().context(ordinal, context) == hipSuccess ? context : current;
}

hipError_t add(Place& place, const graph::KernelWork& work) {
  // Its module may have been unloaded since the program named it.
  if (!is_function(work.function) && !runtime::programs().is_registered(work.function))
    return hipErrorInvalidHandle;
  // The driver copies the arguments while it adds the node.
  std::vector<void*> arguments;
  for (const graph::Argument& argument : work.arguments)
    arguments.push_back(const_cast<std::byte*>(work.block.data() + argument.offset_bytes));
  const driver::KernelNode node{work.resolved,    work.grid[0],    work.grid[1],    work.grid[2],
                                work.threads[0],  work.threads[1], work.threads[2], work.shared_bytes,
                                arguments.data(), nullptr};
  const auto run = [&] {
    return cu().GraphAddKernelNode(&place.node, place.graph, place.before.data(), place.before.size(), &node);
  };
  if (work.shared_bytes > kPlainSharedBytes)
    if (const hipError_t status = allow_shared(work.resolved, work.shared_bytes)) return status;
  driver::Result result = run();
  // 48 KiB are the limit of static and dynamic memory together.
  if (result == driver::Result::INVALID_VALUE && work.shared_bytes != 0 &&
      allow_shared(work.resolved, work.shared_bytes) == hipSuccess)
    result = run();
  if (result != driver::Result::SUCCESS || work.cooperative == 0) return check(result);
  driver::NodeAttributeValue value{};
  value.cooperative = 1;
  return check(cu().GraphKernelNodeSetAttribute(place.node, driver::kNodeAttributeCooperative, &value));
}

hipError_t add(Place& place, const graph::CopyWork& work) {
  driver::Copy3D copy;
  if (const hipError_t status = convert_named(copy, work)) return status;
  tell_places(copy);
  const bool to_host = copy.target_type == driver::kMemoryHost;
  // An array belongs to the context that was current when it was made.
  const graph::BoxSide& end = to_host ? work.source : work.target;
  const driver::Context context =
      array::is_name(end.address) ? place.context : context_of(end.memory(), place.context);
  return check(cu().GraphAddMemcpyNode(&place.node, place.graph, place.before.data(), place.before.size(),
                                       &copy, context));
}

hipError_t add(Place& place, const graph::FillWork& work) {
  const driver::FillNode fill = convert_fill(work);
  return check(cu().GraphAddMemsetNode(&place.node, place.graph, place.before.data(), place.before.size(),
                                       &fill, context_of(work.target, place.context)));
}

hipError_t add(Place& place, const graph::HostWork& work) {
  const driver::HostNode host{work.function, work.data};
  return check(
      cu().GraphAddHostNode(&place.node, place.graph, place.before.data(), place.before.size(), &host));
}

hipError_t add(Place& place, const graph::EventWork& work) {
  if (!is_event(work.event)) return hipErrorInvalidHandle;
  const auto call = work.record ? cu().GraphAddEventRecordNode : cu().GraphAddEventWaitNode;
  return check(call(&place.node, place.graph, place.before.data(), place.before.size(), work.event));
}

// A batch belongs to one context: that of the first value.
hipError_t add(Place& place, const graph::BatchWork& work) {
  const auto& all = work.operations;
  const driver::BatchNode batch{context_of(value_address(all[0]), place.context),
                                static_cast<unsigned>(all.size()), all.data(), 0};
  return check(cu().GraphAddBatchMemOpNode(&place.node, place.graph, place.before.data(), place.before.size(),
                                           &batch));
}

hipError_t add(Place& place, const graph::EmptyWork&) {
  return check(cu().GraphAddEmptyNode(&place.node, place.graph, place.before.data(), place.before.size()));
}

// Plans have none: child graphs were expanded, and nodes of memory and of semaphores do nothing.
hipError_t add(Place&, const graph::ChildWork&) { return hipErrorInvalidValue; }
hipError_t add(Place&, const graph::AllocationWork&) { return hipErrorInvalidValue; }
hipError_t add(Place&, const graph::ReleaseWork&) { return hipErrorInvalidValue; }
hipError_t add(Place&, const graph::SemaphoreWork&) { return hipErrorInvalidValue; }

// Finds out whether the driver accepts the node, by giving it one.
hipError_t try_out(const graph::Work& work) {
  graph::Plan plan(1);
  plan[0].work = std::make_shared<const graph::Work>(work);
  return DriverGraph().build(plan);
}

}  // namespace

DriverGraph::~DriverGraph() {
  if (graph_) static_cast<void>(cu().GraphDestroy(graph_));
}

hipError_t DriverGraph::build(const graph::Plan& plan) {
  Place place;
  if (const hipError_t status = Runtime::get().context(thread_state().device, place.context)) return status;
  if (const hipError_t status = check(cu().GraphCreate(&graph_, 0))) return status;
  place.graph = graph_;
  std::vector<hipGraphNode_t> nodes;
  nodes.reserve(plan.size());
  for (const graph::PlanItem& item : plan) {
    place.before.clear();
    for (const std::uint32_t index : item.dependencies) place.before.push_back(nodes[index]);
    const hipError_t status = std::visit([&](const auto& work) { return add(place, work); }, *item.work);
    if (status != hipSuccess) return status;
    nodes.push_back(place.node);
  }
  return hipSuccess;
}

hipError_t describe_kernel(const void* named, graph::KernelFacts& facts) {
  hipFunction_t function = static_cast<hipFunction_t>(const_cast<void*>(named));
  if (!is_function(named))
    if (const hipError_t status = host_kernel(named, function)) return status;
  return describe_function(function, facts);
}

// Drivers before CUDA 12.4 cannot be asked: hipErrorNotSupported.
hipError_t describe_function(hipFunction_t function, graph::KernelFacts& facts) {
  facts.resolved = function;
  for (std::size_t index = 0;; ++index) {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    const driver::Result result = cu().FuncGetParamInfo(function, index, &offset, &bytes);
    if (result == driver::Result::INVALID_VALUE) return hipSuccess;  // there are no more
    if (result != driver::Result::SUCCESS) return hip_error(result);
    facts.arguments.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)});
    facts.argument_bytes = std::max(facts.argument_bytes, offset + bytes);
  }
}

hipError_t check_work(const graph::Work& work) {
  if (const auto* kernel = std::get_if<graph::KernelWork>(&work)) {
    if (const hipError_t status = check_shape(kernel->resolved, shape_of(*kernel))) return status;
    return kernel->shared_bytes > kPlainSharedBytes ? allow_shared(kernel->resolved, kernel->shared_bytes)
                                                    : hipSuccess;
  }
  if (const auto* event = std::get_if<graph::EventWork>(&work))
    return is_event(event->event) ? hipSuccess : hipErrorInvalidValue;
  if (const auto* copy = std::get_if<graph::CopyWork>(&work))
    if (!kind_fits(*copy)) return hipErrorInvalidValue;
  const bool has_memory = std::holds_alternative<graph::CopyWork>(work) ||
                          std::holds_alternative<graph::FillWork>(work) ||
                          std::holds_alternative<graph::BatchWork>(work);
  return has_memory ? try_out(work) : hipSuccess;
}

}  // namespace tf::cuda
