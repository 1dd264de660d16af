// SPDX-License-Identifier: Apache-2.0
// Captures: how streams join a capture, append to it, and invalidate it.
#include "hipcore/graph/capture.h"

#include <algorithm>
#include <utility>

namespace tf::graph {

// Work on the legacy default stream would have to wait for every blocking stream, captured ones too.
Captures::Verdict Captures::refuse_legacy(int device) {
  Verdict verdict;
  for (auto& [id, participant] : streams_) {
    if (!participant.stream.blocking || participant.stream.device != device) continue;
    participant.sequence->valid = false;
    verdict = hipErrorStreamCaptureImplicit;
  }
  return verdict;
}

Captures::Verdict Captures::enter(const StreamRef& stream, Participant*& participant) {
  participant = nullptr;
  if (stream.legacy) return refuse_legacy(stream.device);
  const auto found = streams_.find(stream.id);
  if (found == streams_.end()) return std::nullopt;
  if (!found->second.sequence->valid) return hipErrorStreamCaptureInvalidated;
  participant = &found->second;
  return std::nullopt;
}

hipError_t Captures::begin(const StreamRef& stream, hipStreamCaptureMode mode, Graph& graph,
                           std::vector<Node*> after) {
  if (stream.legacy) return hipErrorStreamCaptureUnsupported;
  if (streams_.contains(stream.id)) return hipErrorIllegalState;
  Sequence& sequence = sequences_.emplace_back();
  sequence.id = next_id_++;
  sequence.graph = &graph;
  sequence.origin = stream;
  sequence.mode = mode;
  sequence.thread = std::this_thread::get_id();
  for (const auto& node : graph.nodes()) sequence.earlier.insert(node.get());
  streams_[stream.id] = {&sequence, stream, std::move(after), {}};
  count_.store(sequences_.size(), std::memory_order_relaxed);
  return hipSuccess;
}

// The last work of every stream that joined must come before the end of the origin: every node without a
// dependent is one that the origin depends on.
bool Captures::joined(const Sequence& sequence) const {
  const auto origin = streams_.find(sequence.origin.id);
  if (origin == streams_.end()) return false;
  const std::vector<Node*>& last = origin->second.last;
  return std::all_of(sequence.graph->nodes().begin(), sequence.graph->nodes().end(), [&](const auto& node) {
    return !node->dependents.empty() || sequence.earlier.contains(node.get()) ||
           std::find(last.begin(), last.end(), node.get()) != last.end();
  });
}

void Captures::drop(Sequence& sequence) {
  std::erase_if(streams_, [&](const auto& entry) { return entry.second.sequence == &sequence; });
  std::erase_if(events_, [&](const auto& entry) { return entry.second.sequence == &sequence; });
  sequences_.remove_if([&](const Sequence& held) { return &held == &sequence; });
  count_.store(sequences_.size(), std::memory_order_relaxed);
}

hipError_t Captures::end(const StreamRef& stream, Graph*& graph) {
  graph = nullptr;
  const auto found = streams_.find(stream.id);
  if (stream.legacy || found == streams_.end()) return hipErrorIllegalState;
  Sequence& sequence = *found->second.sequence;
  if (sequence.origin.id != stream.id) return hipErrorStreamCaptureUnmatched;
  if (sequence.mode != hipStreamCaptureModeRelaxed && sequence.thread != std::this_thread::get_id())
    return hipErrorStreamCaptureWrongThread;
  hipError_t error = hipSuccess;
  if (!sequence.valid)
    error = hipErrorStreamCaptureInvalidated;
  else if (!joined(sequence))
    error = hipErrorStreamCaptureUnjoined;
  graph = sequence.graph;
  drop(sequence);
  return error;
}

Captures::Verdict Captures::append(const StreamRef& stream, SharedWork work) {
  Participant* participant = nullptr;
  const Verdict verdict = enter(stream, participant);
  if (participant == nullptr) return verdict;
  Node* node = nodes_.add(*participant->sequence->graph, std::move(work), participant->last);
  if (node == nullptr) {
    participant->sequence->valid = false;
    return hipErrorOutOfMemory;
  }
  participant->last.assign(1, node);
  return hipSuccess;
}

Captures::Verdict Captures::record(const StreamRef& stream, std::uint64_t event) {
  Participant* participant = nullptr;
  const Verdict verdict = enter(stream, participant);
  if (verdict) return verdict;
  if (participant == nullptr) {
    events_.erase(event);  // now names something else
    return std::nullopt;
  }
  events_[event] = {participant->sequence, participant->last};
  return hipSuccess;
}

Captures::Verdict Captures::wait(const StreamRef& stream, std::uint64_t event) {
  Participant* participant = nullptr;
  const Verdict verdict = enter(stream, participant);
  if (verdict) return verdict;
  const auto recorded = events_.find(event);
  if (recorded == events_.end()) {
    if (participant == nullptr) return std::nullopt;
    participant->sequence->valid = false;  // it would depend on something outside
    return hipErrorStreamCaptureIsolation;
  }
  Sequence& sequence = *recorded->second.sequence;
  if (!sequence.valid) return hipErrorStreamCaptureInvalidated;
  if (stream.legacy || (participant != nullptr && participant->sequence != &sequence)) {
    sequence.valid = false;
    if (participant != nullptr) participant->sequence->valid = false;
    return stream.legacy ? hipErrorStreamCaptureImplicit : hipErrorStreamCaptureMerge;
  }
  if (participant == nullptr) {
    streams_[stream.id] = {&sequence, stream, recorded->second.nodes, {}};
    return hipSuccess;
  }
  for (Node* node : recorded->second.nodes) {
    auto& last = participant->last;
    if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
  }
  return hipSuccess;
}

Captures::Verdict Captures::refuse(const StreamRef& stream) {
  Participant* participant = nullptr;
  const Verdict verdict = enter(stream, participant);
  if (participant == nullptr) return verdict;
  participant->sequence->valid = false;
  return hipErrorStreamCaptureUnsupported;
}

Captures::Verdict Captures::refuse_event(std::uint64_t event) {
  const auto recorded = events_.find(event);
  if (recorded == events_.end()) return std::nullopt;
  recorded->second.sequence->valid = false;
  return hipErrorCapturedEvent;
}

Captures::Verdict Captures::refuse_device(int device) {
  Verdict verdict;
  for (auto& [id, participant] : streams_) {
    if (participant.stream.device != device) continue;
    participant.sequence->valid = false;
    verdict = hipErrorStreamCaptureUnsupported;
  }
  return verdict;
}

Captures::Verdict Captures::refuse_unsafe(hipStreamCaptureMode mode) {
  if (mode == hipStreamCaptureModeRelaxed) return std::nullopt;
  const auto invalidate_all = [this](auto is_harmed) {
    Verdict verdict;
    for (Sequence& sequence : sequences_) {
      if (!is_harmed(sequence)) continue;
      sequence.valid = false;
      verdict = hipErrorStreamCaptureUnsupported;
    }
    return verdict;
  };
  const Verdict own = invalidate_all([](const Sequence& sequence) {
    return sequence.mode != hipStreamCaptureModeRelaxed && sequence.thread == std::this_thread::get_id();
  });
  if (own || mode != hipStreamCaptureModeGlobal) return own;
  return invalidate_all([](const Sequence& sequence) { return sequence.mode == hipStreamCaptureModeGlobal; });
}

Captures::Verdict Captures::refuse_wait(const StreamRef& stream, hipStreamCaptureMode mode) {
  const Verdict verdict = refuse(stream);
  return verdict || stream.legacy ? verdict : refuse_unsafe(mode);
}

CaptureInfo Captures::info(const StreamRef& stream) {
  CaptureInfo info;
  info.implicit = stream.legacy && std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) {
                    return entry.second.stream.blocking;
                  });
  const auto found = streams_.find(stream.id);
  if (stream.legacy || found == streams_.end()) return info;
  Participant& participant = found->second;
  const Sequence& sequence = *participant.sequence;
  info.status = sequence.valid ? hipStreamCaptureStatusActive : hipStreamCaptureStatusInvalidated;
  info.id = sequence.id;
  info.graph = sequence.graph;
  participant.shown.clear();
  for (const Node* node : participant.last) participant.shown.push_back(to_handle<hipGraphNode_t>(node->id));
  info.dependencies = &participant.shown;
  return info;
}

hipError_t Captures::update_dependencies(const StreamRef& stream, std::vector<Node*> nodes, bool replace) {
  Participant* participant = nullptr;
  const Verdict verdict = enter(stream, participant);
  if (participant == nullptr) return verdict.value_or(hipErrorIllegalState);
  for (const Node* node : nodes)
    if (node->graph != participant->sequence->graph) return hipErrorInvalidValue;
  auto& last = participant->last;
  if (replace) {
    // The program has said that nothing comes behind these: they are no work that was left unjoined.
    participant->sequence->earlier.insert(last.begin(), last.end());
    last.clear();
  }
  for (Node* node : nodes)
    if (std::find(last.begin(), last.end(), node) == last.end()) last.push_back(node);
  return hipSuccess;
}

void Captures::forget_graph(const Graph& graph) {
  for (Sequence& sequence : sequences_) {
    if (sequence.graph != &graph) continue;
    sequence.graph = nullptr;
    sequence.valid = false;
    for (auto& [id, participant] : streams_)
      if (participant.sequence == &sequence) participant.last.clear();
  }
}

Graph* Captures::forget_stream(std::uint64_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return nullptr;
  Sequence& sequence = *found->second.sequence;
  if (sequence.origin.id != stream) {
    streams_.erase(found);
    return nullptr;
  }
  Graph* graph = sequence.graph;
  drop(sequence);
  return graph;
}

}  // namespace tf::graph
