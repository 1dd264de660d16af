// SPDX-License-Identifier: Apache-2.0
// Executable graphs: made from a graph as it is then, and independent of it.
#include <bit>
#include <utility>

#include "hipcore/graph/library.h"
#include "transport/base/mutex.h"

namespace tf::graph {
namespace {

constexpr unsigned long long kFreeOnLaunch = hipGraphInstantiateFlagAutoFreeOnLaunch;

}  // namespace

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
  return make_exec(exec, graph, 0);
}

hipError_t Library::instantiate(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  const bool known = (flags & ~(kFreeOnLaunch | kHipGraphInstantiateFlagUseNodePriority)) == 0;
  return known ? make_exec(exec, graph, flags) : hipErrorInvalidValue;
}

// There is nothing to upload (see upload()), and no device launches graphs.
hipError_t Library::instantiate(hipGraphExec_t* exec, hipGraph_t graph,
                                hipGraphInstantiateParams* parameters) {
  if (exec == nullptr || parameters == nullptr) return hipErrorInvalidValue;
  constexpr unsigned long long kKnown = kFreeOnLaunch | kHipGraphInstantiateFlagUpload |
                                        kHipGraphInstantiateFlagDeviceLaunch |
                                        kHipGraphInstantiateFlagUseNodePriority;
  // One at most, as in AMD's runtime.
  const bool known = (parameters->flags & ~kKnown) == 0 && std::popcount(parameters->flags) <= 1;
  const hipError_t error = known ? make_exec(exec, graph, parameters->flags) : hipErrorInvalidValue;
  parameters->result_out = error == hipSuccess ? hipGraphInstantiateSuccess : hipGraphInstantiateError;
  if (error == hipSuccess) parameters->errNode_out = nullptr;
  return error;
}

hipError_t Library::get_flags(hipGraphExec_t exec, unsigned long long* flags) {
  if (flags == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const auto found = find(exec);
  if (found == nullptr) return hipErrorInvalidValue;
  *flags = found->flags;
  return hipSuccess;
}

hipError_t Library::make_exec(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  if (exec == nullptr) return hipErrorInvalidValue;
  auto made = std::make_shared<Exec>();
  made->flags = flags;
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
  // What is replaced is destroyed after the locks: that may run the program's code, or call the Side.
  std::shared_ptr<Exec> found;
  std::unique_ptr<Graph> copy;
  Objects objects;
  if (const hipError_t error = replace(exec, graph, *error_node, *result, found, copy)) return error;
  collect_objects(*copy, objects);
  end_behind_launches(*found, std::move(objects));
  return hipSuccess;
}

// `copy` is the old graph then.
hipError_t Library::replace(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t& error_node,
                            hipGraphExecUpdateResult& result, std::shared_ptr<Exec>& found,
                            std::unique_ptr<Graph>& copy) {
  std::optional<Plan> plan;
  const MutexLock changing(change_mutex_);
  {
    const MutexLock lock(mutex_);
    found = find(exec);
    const Graph* wanted = find(graph);
    if (found == nullptr || wanted == nullptr) return hipErrorInvalidValue;
    copy = wanted->clone();
    plan = flatten(*wanted);
    if (!plan) return hipErrorInvalidValue;
    std::uint64_t node = 0;
    result = compare_for_update(found->plan, *plan, node);
    error_node = to_handle<hipGraphNode_t>(node);
    const bool paired = take_places(*found->graph, *copy);
    plan = flatten(*copy);
    if (!plan) return hipErrorInvalidValue;
    if (result == hipGraphExecUpdateSuccess && !paired) result = hipGraphExecUpdateErrorTopologyChanged;
    if (result != hipGraphExecUpdateSuccess) return hipErrorGraphExecUpdateFailure;
  }
  const hipError_t error = found->executable->update(as_executed(*plan));
  if (error != hipSuccess) {
    result = hipGraphExecUpdateError;
    return error;
  }
  const MutexLock lock(mutex_);
  std::swap(found->plan, *plan);
  std::swap(found->graph, copy);
  return hipSuccess;
}

hipError_t Library::launch(hipGraphExec_t exec, const StreamRef& stream) {
  std::shared_ptr<Exec> found;
  Bookings bookings;
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
      const hipError_t error = run_memory(*found, bookings, remains);
      if (error != hipSuccess) return error;
    }
  }
  const hipError_t error = found->executable->launch(stream);
  if (error != hipSuccess && !bookings.empty()) {
    const MutexLock lock(mutex_);
    undo_memory(bookings, remains);
  }
  return error;
}

hipError_t Library::destroy(hipGraphExec_t exec) {
  std::shared_ptr<Exec> found;  // destroyed after the locks: that may call its Side
  Objects objects;
  {
    const MutexLock changing(change_mutex_);
    const MutexLock lock(mutex_);
    found = find(exec);
    if (found == nullptr) return hipErrorInvalidValue;
    execs_.erase(to_id(exec));
    collect_objects(*found->graph, objects);
  }
  end_behind_launches(*found, std::move(objects));
  return hipSuccess;
}

// Launches so far may still run, and use them.
void Library::end_behind_launches(Exec& exec, Objects objects) {
  if (objects.empty()) return;
  const auto held = std::make_shared<Objects>(std::move(objects));
  exec.executable->when_done([held] { held->clear(); });
}

}  // namespace tf::graph
