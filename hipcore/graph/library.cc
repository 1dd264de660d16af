// SPDX-License-Identifier: Apache-2.0
// Graphs, their nodes as a whole, and captures. Parameters: node_parameters.cc. Execution: executables.cc.
#include "hipcore/graph/library.h"

#include <algorithm>
#include <utility>

#include "transport/base/mutex.h"

namespace tf::graph {
namespace {

// Like every function that lists nodes: without an array only returns the number; fills the rest of a longer
// array with nulls.
template <typename Handle>
void list(const std::vector<Handle>& all, Handle* out, std::size_t& count) {
  if (out == nullptr) {
    count = all.size();
    return;
  }
  for (std::size_t i = 0; i < count; ++i) out[i] = i < all.size() ? all[i] : nullptr;
  count = std::min(count, all.size());
}

bool is_mode(hipStreamCaptureMode mode) {
  return mode == hipStreamCaptureModeGlobal || mode == hipStreamCaptureModeThreadLocal ||
         mode == hipStreamCaptureModeRelaxed;
}

std::vector<hipGraphNode_t> handles_of(const std::vector<Node*>& nodes) {
  std::vector<hipGraphNode_t> handles;
  handles.reserve(nodes.size());
  for (const Node* node : nodes) handles.push_back(to_handle<hipGraphNode_t>(node->id));
  return handles;
}

}  // namespace

Graph* Library::find(hipGraph_t graph) const {
  const auto found = graphs_.find(to_id(graph));
  if (found != graphs_.end()) return found->second.get();
  const auto child = children_.find(to_id(graph));
  return child != children_.end() ? child->second.get() : nullptr;
}

// With a graph: all of them must be its nodes.
bool Library::find_nodes(const hipGraphNode_t* handles, std::size_t count, const Graph* graph,
                         std::vector<Node*>& nodes) const {
  if (count > kNodesMax || (count != 0 && handles == nullptr)) return false;
  nodes.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Node* node = nodes_.find(handles[i]);
    if (node == nullptr || (graph != nullptr && node->graph != graph)) return false;
    nodes.push_back(node);
  }
  return true;
}

bool Library::enter(Graph& graph) {
  if (graphs_.size() + children_.size() >= kGraphsMax || !nodes_.enter_all(graph)) return false;
  graph.id = make_id(HandleTag::kGraph, next_++);
  return true;
}

void Library::forget_child(const Work& work) {
  const auto* child = std::get_if<ChildWork>(&work);
  if (child == nullptr || children_.erase(child->graph->id) == 0) return;
  captures_.forget_graph(*child->graph);
  nodes_.forget_all(*child->graph);
  for (const auto& node : child->graph->nodes()) forget_child(*node->work);
}

void Library::erase(Graph& graph, Remains& remains) {
  nodes_.forget_all(graph);
  for (const auto& node : graph.nodes()) forget_child(*node->work);
  const auto found = graphs_.find(graph.id);
  if (found == graphs_.end()) return;
  remains.emplace_back(std::move(found->second));
  graphs_.erase(found);
}

void Library::release(Graph& graph) {
  graph.given = false;
  graph.owned = children_.contains(graph.id);
}

void Library::abandon(Graph& graph, Remains& remains) {
  return graph.given ? release(graph) : erase(graph, remains);
}

hipError_t Library::create(hipGraph_t* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return hipErrorInvalidValue;
  auto made = std::make_unique<Graph>();
  const MutexLock lock(mutex_);
  if (!enter(*made)) return hipErrorOutOfMemory;
  *graph = to_handle<hipGraph_t>(made->id);
  graphs_.emplace(made->id, std::move(made));
  return hipSuccess;
}

hipError_t Library::destroy(hipGraph_t graph) {
  Remains remains;
  const MutexLock lock(mutex_);
  Graph* found = find(graph);
  if (found == nullptr || found->owned) return hipErrorInvalidValue;
  erase(*found, remains);
  return hipSuccess;
}

hipError_t Library::clone(hipGraph_t* copy, hipGraph_t graph) {
  if (copy == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const Graph* original = find(graph);
  if (original == nullptr) return hipErrorInvalidValue;
  std::unique_ptr<Graph> made = original->clone();
  if (!enter(*made)) return hipErrorOutOfMemory;
  *copy = to_handle<hipGraph_t>(made->id);
  graphs_.emplace(made->id, std::move(made));
  return hipSuccess;
}

hipError_t Library::get_nodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count) {
  if (count == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const Graph* found = find(graph);
  if (found == nullptr) return hipErrorInvalidValue;
  std::vector<hipGraphNode_t> all;
  for (const auto& node : found->nodes()) all.push_back(to_handle<hipGraphNode_t>(node->id));
  list(all, nodes, *count);
  return hipSuccess;
}

hipError_t Library::get_roots(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count) {
  if (count == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const Graph* found = find(graph);
  if (found == nullptr) return hipErrorInvalidValue;
  std::vector<hipGraphNode_t> roots;
  for (const auto& node : found->nodes())
    if (node->dependencies.empty()) roots.push_back(to_handle<hipGraphNode_t>(node->id));
  list(roots, nodes, *count);
  return hipSuccess;
}

hipError_t Library::get_edges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to,
                              std::size_t* count) {
  if (count == nullptr || (from == nullptr) != (to == nullptr)) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const Graph* found = find(graph);
  if (found == nullptr) return hipErrorInvalidValue;
  std::vector<hipGraphNode_t> starts;
  std::vector<hipGraphNode_t> ends;
  for (const auto& node : found->nodes()) {
    for (const Node* after : node->dependents) {
      starts.push_back(to_handle<hipGraphNode_t>(node->id));
      ends.push_back(to_handle<hipGraphNode_t>(after->id));
    }
  }
  std::size_t room = *count;
  list(starts, from, room);
  list(ends, to, *count);
  return hipSuccess;
}

hipError_t Library::add_edges(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                              std::size_t count) {
  const MutexLock lock(mutex_);
  const Graph* found = find(graph);
  std::vector<Node*> starts;
  std::vector<Node*> ends;
  if (found == nullptr || !find_nodes(from, count, found, starts) || !find_nodes(to, count, found, ends))
    return hipErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i)
    if (starts[i] == ends[i]) return hipErrorInvalidValue;
  bool fresh = true;
  for (std::size_t i = 0; i < count; ++i) fresh = Graph::connect(*starts[i], *ends[i]) && fresh;
  return fresh ? hipSuccess : hipErrorInvalidValue;
}

hipError_t Library::remove_edges(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                 std::size_t count) {
  const MutexLock lock(mutex_);
  const Graph* found = find(graph);
  std::vector<Node*> starts;
  std::vector<Node*> ends;
  if (found == nullptr || !find_nodes(from, count, found, starts) || !find_nodes(to, count, found, ends))
    return hipErrorInvalidValue;
  bool there = true;
  for (std::size_t i = 0; i < count; ++i) there = Graph::disconnect(*starts[i], *ends[i]) && there;
  return there ? hipSuccess : hipErrorInvalidValue;
}

hipError_t Library::destroy_node(hipGraphNode_t node) {
  SharedWork last;  // destroyed after the lock
  const MutexLock lock(mutex_);
  Node* found = nodes_.find(node);
  if (found == nullptr) return hipErrorInvalidValue;
  if (is_captured(*found->graph)) return hipErrorInvalidValue;  // the capture refers to its nodes
  nodes_.forget(*found);
  forget_child(*found->work);
  last = found->work;
  found->graph->remove(*found);
  return hipSuccess;
}

hipError_t Library::get_dependencies(hipGraphNode_t node, hipGraphNode_t* nodes, std::size_t* count) {
  if (count == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const Node* found = nodes_.find(node);
  if (found == nullptr) return hipErrorInvalidValue;
  list(handles_of(found->dependencies), nodes, *count);
  return hipSuccess;
}

hipError_t Library::get_dependents(hipGraphNode_t node, hipGraphNode_t* nodes, std::size_t* count) {
  if (count == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const Node* found = nodes_.find(node);
  if (found == nullptr) return hipErrorInvalidValue;
  list(handles_of(found->dependents), nodes, *count);
  return hipSuccess;
}

hipError_t Library::find_in_clone(hipGraphNode_t* node, hipGraphNode_t original, hipGraph_t copy) {
  if (node == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const Graph* graph = find(copy);
  if (graph == nullptr || nodes_.find(original) == nullptr) return hipErrorInvalidValue;
  const auto& all = graph->nodes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& held) { return held->origin == to_id(original); });
  if (found == all.end()) return hipErrorInvalidValue;
  *node = to_handle<hipGraphNode_t>((*found)->id);
  return hipSuccess;
}

hipError_t Library::get_child(hipGraphNode_t node, hipGraph_t* graph) {
  if (graph == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const Node* found = nodes_.find(node);
  const auto* child = found != nullptr ? std::get_if<ChildWork>(found->work.get()) : nullptr;
  if (child == nullptr) return hipErrorInvalidValue;
  if (!children_.contains(child->graph->id)) {
    if (!enter(*child->graph)) return hipErrorOutOfMemory;
    child->graph->owned = true;
    children_.emplace(child->graph->id, child->graph);
  }
  *graph = to_handle<hipGraph_t>(child->graph->id);
  return hipSuccess;
}

// --- capture ------------------------------------------------------------------------------------------

hipError_t Library::begin_capture(const StreamRef& stream, hipStreamCaptureMode mode) {
  if (!is_mode(mode)) return hipErrorInvalidValue;
  auto graph = std::make_unique<Graph>();
  graph->owned = true;
  const MutexLock lock(mutex_);
  if (!enter(*graph)) return hipErrorOutOfMemory;
  const hipError_t error = captures_.begin(stream, mode, *graph);
  if (error == hipSuccess) graphs_.emplace(graph->id, std::move(graph));
  return error;
}

hipError_t Library::begin_capture(const StreamRef& stream, hipStreamCaptureMode mode, hipGraph_t graph,
                                  const hipGraphNode_t* dependencies, const hipGraphEdgeData* edges,
                                  std::size_t count) {
  if (!is_mode(mode) || (dependencies == nullptr) != (count == 0)) return hipErrorInvalidValue;
  if (edges != nullptr) return hipErrorNotSupported;
  const MutexLock lock(mutex_);
  Graph* found = find(graph);
  std::vector<Node*> after;
  if (found == nullptr || is_captured(*found) || !find_nodes(dependencies, count, found, after))
    return hipErrorInvalidValue;
  const hipError_t error = captures_.begin(stream, mode, *found, std::move(after));
  if (error == hipSuccess) found->owned = found->given = true;
  return error;
}

hipError_t Library::end_capture(const StreamRef& stream, hipGraph_t* graph) {
  if (graph == nullptr) return hipErrorInvalidValue;
  Remains remains;
  const MutexLock lock(mutex_);
  Graph* captured = nullptr;
  const hipError_t error = captures_.end(stream, captured);
  *graph = nullptr;
  if (captured == nullptr) return error;
  if (error != hipSuccess) {
    abandon(*captured, remains);
    return error;
  }
  release(*captured);
  *graph = to_handle<hipGraph_t>(captured->id);
  return hipSuccess;
}

hipError_t Library::capture_info(const StreamRef& stream, hipStreamCaptureStatus* status,
                                 unsigned long long* id, hipGraph_t* graph,
                                 const hipGraphNode_t** dependencies, std::size_t* count) {
  if (status == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const CaptureInfo info = captures_.info(stream);
  if (info.implicit) return hipErrorStreamCaptureImplicit;
  *status = info.status;
  if (id != nullptr) *id = info.id;
  if (info.status != hipStreamCaptureStatusActive) return hipSuccess;
  if (graph != nullptr) *graph = to_handle<hipGraph_t>(info.graph->id);
  if (dependencies != nullptr) *dependencies = info.dependencies->data();
  if (count != nullptr) *count = info.dependencies->size();
  return hipSuccess;
}

hipError_t Library::update_capture(const StreamRef& stream, hipGraphNode_t* nodes, std::size_t count,
                                   unsigned flags) {
  if (flags != hipStreamAddCaptureDependencies && flags != hipStreamSetCaptureDependencies)
    return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  std::vector<Node*> found;
  if (!find_nodes(nodes, count, nullptr, found)) return hipErrorInvalidValue;
  return captures_.update_dependencies(stream, std::move(found), flags == hipStreamSetCaptureDependencies);
}

hipError_t Library::exchange_mode(hipStreamCaptureMode& kept, hipStreamCaptureMode* mode) {
  if (mode == nullptr || *mode < hipStreamCaptureModeGlobal || *mode > hipStreamCaptureModeRelaxed)
    return hipErrorInvalidValue;
  std::swap(kept, *mode);
  return hipSuccess;
}

Library::Verdict Library::capture(const StreamRef& stream, Work work) {
  const MutexLock lock(mutex_);
  return captures_.append(stream, std::make_shared<const Work>(std::move(work)));
}

Library::Verdict Library::capture_record(const StreamRef& stream, std::uint64_t event) {
  const MutexLock lock(mutex_);
  return captures_.record(stream, event);
}

Library::Verdict Library::capture_wait(const StreamRef& stream, std::uint64_t event) {
  const MutexLock lock(mutex_);
  return captures_.wait(stream, event);
}

Library::Verdict Library::refuse(const StreamRef& stream) {
  const MutexLock lock(mutex_);
  return captures_.refuse(stream);
}

Library::Verdict Library::refuse_event(std::uint64_t event) {
  const MutexLock lock(mutex_);
  return captures_.refuse_event(event);
}

Library::Verdict Library::refuse_device(int device) {
  const MutexLock lock(mutex_);
  return captures_.refuse_device(device);
}

Library::Verdict Library::refuse_unsafe(hipStreamCaptureMode mode) {
  const MutexLock lock(mutex_);
  return captures_.refuse_unsafe(mode);
}

Library::Verdict Library::refuse_wait(const StreamRef& stream, hipStreamCaptureMode mode) {
  const MutexLock lock(mutex_);
  return captures_.refuse_wait(stream, mode);
}

void Library::forget_stream(std::uint64_t stream) {
  Remains remains;
  const MutexLock lock(mutex_);
  if (Graph* graph = captures_.forget_stream(stream)) abandon(*graph, remains);
}

void Library::forget_event(std::uint64_t event) {
  const MutexLock lock(mutex_);
  captures_.forget_event(event);
}

}  // namespace tf::graph
