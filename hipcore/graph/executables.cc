// SPDX-License-Identifier: Apache-2.0
// Executable graphs: made from a graph as it is then, and independent of it.
#include <utility>

#include "hipcore/graph/library.h"
#include "transport/base/mutex.h"

namespace tf::graph {

std::shared_ptr<Library::Exec> Library::find(hipGraphExec_t exec) const {
  const auto found = execs_.find(to_id(exec));
  return found == execs_.end() ? nullptr : found->second;
}

hipError_t Library::upload(hipGraphExec_t exec) {
  const MutexLock lock(mutex_);
  return find(exec) != nullptr ? hipSuccess : hipErrorInvalidValue;
}

hipError_t Library::instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node, char* log,
                                std::size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes != 0) log[0] = '\0';
  return instantiate(exec, graph, 0);
}

hipError_t Library::instantiate(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  if (exec == nullptr || (flags & ~std::uint64_t{hipGraphInstantiateFlagAutoFreeOnLaunch}) != 0)
    return hipErrorInvalidValue;
  auto made = std::make_shared<Exec>();
  made->frees_on_launch = (flags & hipGraphInstantiateFlagAutoFreeOnLaunch) != 0;
  {
    const MutexLock lock(mutex_);
    const Graph* found = find(graph);
    if (found == nullptr) return hipErrorInvalidValue;
    std::optional<Plan> plan = flatten(*found);
    if (!plan) return hipErrorInvalidValue;
    made->plan = std::move(*plan);
    made->graph = found->clone();
    if (const hipError_t error = claim_blocks(*made); error != hipSuccess) return error;
  }
  const hipError_t error = side_.instantiate(as_executed(made->plan), made->executable);
  if (error != hipSuccess) return error;
  const MutexLock lock(mutex_);
  if (execs_.size() >= kExecsMax) return hipErrorOutOfMemory;
  const std::uint64_t id = make_id(HandleTag::kExec, next_++);
  execs_.emplace(id, std::move(made));
  *exec = to_handle<hipGraphExec_t>(id);
  return hipSuccess;
}

hipError_t Library::update(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                           hipGraphExecUpdateResult* result) {
  if (error_node == nullptr || result == nullptr) return hipErrorInvalidValue;
  *error_node = nullptr;
  *result = hipGraphExecUpdateError;
  const MutexLock changing(change_mutex_);
  std::shared_ptr<Exec> found;
  std::optional<Plan> plan;
  std::unique_ptr<Graph> copy;
  {
    const MutexLock lock(mutex_);
    found = find(exec);
    const Graph* wanted = find(graph);
    if (found == nullptr || wanted == nullptr) return hipErrorInvalidValue;
    copy = wanted->clone();
    // What was switched off stays so.
    for (std::size_t i = 0; i < copy->nodes().size() && i < found->graph->nodes().size(); ++i)
      copy->nodes()[i]->enabled = found->graph->nodes()[i]->enabled;
    plan = flatten(*copy);
    if (!plan) return hipErrorInvalidValue;
    *result = compare(found->plan, *plan);
    if (*result != hipGraphExecUpdateSuccess) return hipErrorGraphExecUpdateFailure;
  }
  const hipError_t error = found->executable->update(as_executed(*plan));
  if (error != hipSuccess) {
    *result = hipGraphExecUpdateError;
    return error;
  }
  const MutexLock lock(mutex_);
  found->plan = std::move(*plan);
  // The nodes keep the handles by which they were known at instantiation.
  for (std::size_t i = 0; i < copy->nodes().size() && i < found->graph->nodes().size(); ++i)
    copy->nodes()[i]->origin = found->graph->nodes()[i]->origin;
  std::swap(found->graph, copy);
  return hipSuccess;
}

hipError_t Library::launch(hipGraphExec_t exec, const StreamRef& stream) {
  std::shared_ptr<Exec> found;
  Remains remains;
  {
    const MutexLock lock(mutex_);
    found = find(exec);
    if (found == nullptr) return hipErrorInvalidValue;
    if (captures_.any()) {
      // Captured, it becomes a graph inside the graph.
      if (found->graph->depth() >= kChildDepthMax) return hipErrorInvalidValue;
      const Verdict verdict =
          captures_.append(stream, std::make_shared<const Work>(ChildWork{found->graph->clone()}));
      if (verdict) return *verdict;
    }
    if (!found->memory.empty()) {
      const hipError_t error = run_memory(*found, remains);
      if (error != hipSuccess) return error;
    }
  }
  return found->executable->launch(stream);
}

hipError_t Library::destroy(hipGraphExec_t exec) {
  std::shared_ptr<Exec> found;  // destroyed after the lock: that may call its Side
  std::vector<std::shared_ptr<UserObject>> objects;
  {
    const MutexLock changing(change_mutex_);
    const MutexLock lock(mutex_);
    found = find(exec);
    if (found == nullptr) return hipErrorInvalidValue;
    execs_.erase(to_id(exec));
    collect_objects(*found->graph, objects);
  }
  if (objects.empty()) return hipSuccess;
  // Its launches may still run, and use them.
  const auto held = std::make_shared<decltype(objects)>(std::move(objects));
  found->executable->when_done([held] { held->clear(); });
  return hipSuccess;
}

}  // namespace tf::graph
