// SPDX-License-Identifier: Apache-2.0
// Nodes made by hand, and their parameters.
#include <cstring>
#include <utility>

#include "hipcore/graph/library.h"
#include "transport/base/mutex.h"

namespace tf::graph {

hipError_t Library::make_kernel(const hipKernelNodeParams* parameters, Work& work) {
  if (parameters == nullptr || parameters->func == nullptr) return hipErrorInvalidValue;
  KernelFacts facts;
  hipError_t error = side_.describe(parameters->func, facts);
  if (error != hipSuccess) return error;
  KernelWork kernel;
  error = read_kernel(*parameters, facts, kernel);
  if (error == hipSuccess) work = std::move(kernel);
  return error;
}

hipError_t Library::make_symbol_copy(bool to_symbol, const void* symbol, const void* other, std::size_t bytes,
                                     std::size_t offset, hipMemcpyKind kind, Work& work) {
  std::byte* address = nullptr;
  std::size_t symbol_bytes = 0;
  hipError_t error = side_.find_symbol(symbol, address, symbol_bytes);
  if (error != hipSuccess) return error;
  CopyWork copy;
  error = read_copy_symbol(to_symbol, address, symbol_bytes, other, bytes, offset, kind, copy);
  if (error == hipSuccess) work = copy;
  return error;
}

hipError_t Library::make_child(hipGraph_t child, Work& work) {
  const MutexLock lock(mutex_);
  const Graph* found = find(child);
  if (found == nullptr || found->depth() >= kChildDepthMax) return hipErrorInvalidValue;
  work = ChildWork{found->clone()};
  return hipSuccess;
}

hipError_t Library::add(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                        std::size_t count, Work work) {
  if (node == nullptr) return hipErrorInvalidValue;
  const hipError_t error = side_.check(work);
  if (error != hipSuccess) return error;
  const auto shared = std::make_shared<const Work>(std::move(work));
  const MutexLock lock(mutex_);
  Graph* found = find(graph);
  std::vector<Node*> before;
  if (found == nullptr || !find_nodes(dependencies, count, found, before)) return hipErrorInvalidValue;
  const Node* made = nodes_.add(*found, shared, before);
  if (made == nullptr) return hipErrorOutOfMemory;
  *node = to_handle<hipGraphNode_t>(made->id);
  return hipSuccess;
}

hipError_t Library::add_kernel(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                               std::size_t count, const hipKernelNodeParams* parameters) {
  Work work;
  const hipError_t error = make_kernel(parameters, work);
  return error != hipSuccess ? error : add(node, graph, dependencies, count, std::move(work));
}

hipError_t Library::add_copy(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                             std::size_t count, const hipMemcpy3DParms* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  CopyWork work;
  const hipError_t error = read_copy(*parameters, side_.arrays(), work);
  return error != hipSuccess ? error : add(node, graph, dependencies, count, work);
}

hipError_t Library::add_copy_1d(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                std::size_t count, void* target, const void* source, std::size_t bytes,
                                hipMemcpyKind kind) {
  CopyWork work;
  const hipError_t error = read_copy_1d(target, source, bytes, kind, work);
  return error != hipSuccess ? error : add(node, graph, dependencies, count, work);
}

hipError_t Library::add_symbol_copy(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, std::size_t count, bool to_symbol,
                                    const void* symbol, const void* other, std::size_t bytes,
                                    std::size_t offset, hipMemcpyKind kind) {
  Work work;
  const hipError_t error = make_symbol_copy(to_symbol, symbol, other, bytes, offset, kind, work);
  return error != hipSuccess ? error : add(node, graph, dependencies, count, std::move(work));
}

hipError_t Library::add_fill(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                             std::size_t count, const hipMemsetParams* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  FillWork work;
  const hipError_t error = read_fill(*parameters, work);
  return error != hipSuccess ? error : add(node, graph, dependencies, count, work);
}

hipError_t Library::add_host(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                             std::size_t count, const hipHostNodeParams* parameters) {
  if (parameters == nullptr || parameters->fn == nullptr) return hipErrorInvalidValue;
  return add(node, graph, dependencies, count, HostWork{parameters->fn, parameters->userData});
}

hipError_t Library::add_event(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                              std::size_t count, hipEvent_t event, bool record) {
  return add(node, graph, dependencies, count, EventWork{event, record});
}

hipError_t Library::add_child(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                              std::size_t count, hipGraph_t child) {
  Work work;
  const hipError_t error = make_child(child, work);
  return error != hipSuccess ? error : add(node, graph, dependencies, count, std::move(work));
}

hipError_t Library::get_type(hipGraphNode_t node, hipGraphNodeType* type) {
  if (type == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const Node* found = nodes_.find(node);
  if (found == nullptr) return hipErrorInvalidValue;
  const int number = type_of(*found->work);
  std::memcpy(type, &number, sizeof number);
  return hipSuccess;
}

hipError_t Library::get_kernel(hipGraphNode_t node, hipKernelNodeParams* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  Node* found = nodes_.find(node);
  const auto* work = found != nullptr ? std::get_if<KernelWork>(found->work.get()) : nullptr;
  if (work == nullptr) return hipErrorInvalidValue;
  if (found->shown == nullptr) found->shown = std::make_unique<ShownArguments>();
  write_kernel(*work, *found->shown, *parameters);
  return hipSuccess;
}

hipError_t Library::get_copy(hipGraphNode_t node, hipMemcpy3DParms* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  return get<CopyWork>(node, [&](const CopyWork& work) {
    write_copy(work, side_.arrays(), *parameters);
    return hipSuccess;
  });
}

hipError_t Library::get_fill(hipGraphNode_t node, hipMemsetParams* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  return get<FillWork>(node, [&](const FillWork& work) {
    write_fill(work, *parameters);
    return hipSuccess;
  });
}

hipError_t Library::get_host(hipGraphNode_t node, hipHostNodeParams* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  return get<HostWork>(node, [&](const HostWork& work) {
    *parameters = {work.function, work.data};
    return hipSuccess;
  });
}

hipError_t Library::get_event(hipGraphNode_t node, hipEvent_t* event, bool record) {
  if (event == nullptr) return hipErrorInvalidValue;
  return get<EventWork>(node, [&](const EventWork& work) {
    if (work.record != record) return hipErrorInvalidValue;
    *event = work.event;
    return hipSuccess;
  });
}

hipError_t Library::set(hipGraphExec_t exec, hipGraphNode_t node, Work work) {
  const hipError_t error = side_.check(work);
  if (error != hipSuccess) return error;
  SharedWork shared = std::make_shared<const Work>(std::move(work));
  if (exec != nullptr) return set_in_exec(exec, node, std::move(shared));
  const MutexLock lock(mutex_);
  Node* found = nodes_.find(node);
  if (found == nullptr || !same_kind(*found->work, *shared)) return hipErrorInvalidValue;
  forget_child(*found->work);
  found->work.swap(shared);  // the old one is destroyed after the lock
  return hipSuccess;
}

Node* Library::copy_of(const Exec& exec, hipGraphNode_t node) const {
  for (const auto& held : exec.graph->nodes())
    if (held->origin == to_id(node)) return held.get();
  return nullptr;
}

namespace {

// In an executable graph a fill of several rows is as wide and high as before, or AMD's runtime refuses it.
// One row may take the place of anything.
bool keeps_rows(const Work& old, const Work& wanted) {
  const auto* const before = std::get_if<FillWork>(&old);
  const auto* const after = std::get_if<FillWork>(&wanted);
  if (before == nullptr || after == nullptr || after->height == 1) return true;
  return before->width == after->width && before->height == after->height;
}

}  // namespace

hipError_t Library::set_in_exec(hipGraphExec_t exec, hipGraphNode_t node, SharedWork work) {
  std::shared_ptr<Exec> found;
  Objects objects;
  {
    const MutexLock changing(change_mutex_);
    Node* copy = nullptr;
    {
      const MutexLock lock(mutex_);
      found = find(exec);
      copy = found != nullptr ? copy_of(*found, node) : nullptr;
      if (copy == nullptr || !same_kind(*copy->work, *work)) return hipErrorInvalidValue;
      if (!same_direction(*copy->work, *work) || !keeps_rows(*copy->work, *work)) return hipErrorInvalidValue;
    }
    bool enabled = copy->enabled;
    if (const hipError_t error = exchange(*found, *copy, work, enabled)) return error;
  }
  if (const auto* child = std::get_if<ChildWork>(work.get())) collect_objects(*child->graph, objects);
  end_behind_launches(*found, std::move(objects));
  return hipSuccess;
}

hipError_t Library::exchange(Exec& exec, Node& copy, SharedWork& work, bool& enabled) {
  const auto swap = [&] {
    std::swap(copy.work, work);
    std::swap(copy.enabled, enabled);
  };
  std::optional<Plan> plan;
  {
    const MutexLock lock(mutex_);
    swap();
    plan = flatten(*exec.graph);
    swap();
    if (!plan || compare(exec.plan, *plan) != hipGraphExecUpdateSuccess) return hipErrorInvalidValue;
  }
  if (const hipError_t error = exec.executable->update(as_executed(*plan))) return error;
  const MutexLock lock(mutex_);
  swap();
  std::swap(exec.plan, *plan);
  return hipSuccess;
}

hipError_t Library::set_kernel(hipGraphExec_t exec, hipGraphNode_t node,
                               const hipKernelNodeParams* parameters) {
  Work work;
  const hipError_t error = make_kernel(parameters, work);
  if (error != hipSuccess) return error;
  keep_attributes(exec, node, std::get<KernelWork>(work));
  return set(exec, node, std::move(work));
}

hipError_t Library::set_copy(hipGraphExec_t exec, hipGraphNode_t node, const hipMemcpy3DParms* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  CopyWork work;
  hipError_t error = read_copy(*parameters, side_.arrays(), work);
  // AMD's hip-tests ask for this code of an executable graph, and for the pitch's own of a graph.
  if (exec != nullptr && error == hipErrorInvalidPitchValue) error = hipErrorInvalidValue;
  return error != hipSuccess ? error : set(exec, node, work);
}

hipError_t Library::set_copy_1d(hipGraphExec_t exec, hipGraphNode_t node, void* target, const void* source,
                                std::size_t bytes, hipMemcpyKind kind) {
  if (target == source) return hipErrorInvalidValue;  // AMD's runtime adds such a node, but sets none
  CopyWork work;
  const hipError_t error = read_copy_1d(target, source, bytes, kind, work);
  return error != hipSuccess ? error : set(exec, node, work);
}

hipError_t Library::set_symbol_copy(hipGraphExec_t exec, hipGraphNode_t node, bool to_symbol,
                                    const void* symbol, const void* other, std::size_t bytes,
                                    std::size_t offset, hipMemcpyKind kind) {
  Work work;
  const hipError_t error = make_symbol_copy(to_symbol, symbol, other, bytes, offset, kind, work);
  return error != hipSuccess ? error : set(exec, node, std::move(work));
}

hipError_t Library::set_fill(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  FillWork work;
  const hipError_t error = read_fill(*parameters, work);
  return error != hipSuccess ? error : set(exec, node, work);
}

hipError_t Library::set_host(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams* parameters) {
  if (parameters == nullptr || parameters->fn == nullptr) return hipErrorInvalidValue;
  return set(exec, node, HostWork{parameters->fn, parameters->userData});
}

hipError_t Library::set_event(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event, bool record) {
  return set(exec, node, EventWork{event, record});
}

hipError_t Library::set_child(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child) {
  Work work;
  const hipError_t error = make_child(child, work);
  return error != hipSuccess ? error : set(exec, node, std::move(work));
}

}  // namespace tf::graph
