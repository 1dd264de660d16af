// SPDX-License-Identifier: Apache-2.0
// Captures: which streams are being captured, and into which nodes of which graph.
//
// A capture begins on its origin stream. A stream that waits for an event recorded on a captured stream joins
// the capture. An operation that is not allowed on a captured stream invalidates the capture;
// hipStreamEndCapture reports that. Not thread-safe except any(): the Library guards it with its lock.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hipcore/graph/graph.h"
#include "hipcore/graph/node_table.h"

namespace tf::graph {

// A stream as its Side knows it.
struct StreamRef {
  std::uint64_t id = 0;  // not reused while captures know it; see forget_stream()
  int device = 0;
  bool blocking = true;  // ordered with the legacy default stream
  bool legacy = false;   // is the legacy default stream
};

// The answer to hipStreamGetCaptureInfo.
struct CaptureInfo {
  // The legacy default stream, while a stream that is ordered with it is captured: it cannot be asked.
  bool implicit = false;
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  Graph* graph = nullptr;
  const std::vector<hipGraphNode_t>* dependencies = nullptr;  // valid until the stream is used again
};

class Captures {
 public:
  // Nothing: no capture is affected, go on. Otherwise this is the call's result.
  using Verdict = std::optional<hipError_t>;

  explicit Captures(NodeTable& nodes) : nodes_(nodes) {}

  // Any thread. Relaxed: the program itself orders the capture of a stream and its use.
  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }

  // `after`: nodes that the first ones come behind. What the graph has already is no part of the capture.
  hipError_t begin(const StreamRef& stream, hipStreamCaptureMode mode, Graph& graph,
                   std::vector<Node*> after = {});
  // Ends the capture, unless the call is not allowed here. If it ended, `graph` is set, and the error says
  // whether the graph may be used.
  hipError_t end(const StreamRef& stream, Graph*& graph);

  Verdict append(const StreamRef& stream, SharedWork work);
  Verdict record(const StreamRef& stream, std::uint64_t event);
  Verdict wait(const StreamRef& stream, std::uint64_t event);
  // The program waits for the stream, event or device, queries it, or uses it in a way that no graph can
  // hold.
  Verdict refuse(const StreamRef& stream);
  Verdict refuse_event(std::uint64_t event);
  Verdict refuse_device(int device);
  // A call that HIP calls unsafe during a capture (hipMalloc), from this thread, whose mode says which
  // captures it would harm: in mode "relaxed" none; else the thread's own; in mode "global", where the thread
  // has none, all that were begun in that mode.
  Verdict refuse_unsafe(hipStreamCaptureMode mode);
  // The program waits for the stream or asks about it: as refuse(), and unsafe where the stream is no part of
  // a capture, unless it is the legacy one.
  Verdict refuse_wait(const StreamRef& stream, hipStreamCaptureMode mode);

  CaptureInfo info(const StreamRef& stream);
  hipError_t update_dependencies(const StreamRef& stream, std::vector<Node*> nodes, bool replace);

  // The object is being destroyed. A capture that loses its origin is over, and its graph is returned. Other
  // streams and events are simply forgotten: what was captured on such a stream stays, and if the origin has
  // not waited for it, the end says so.
  Graph* forget_stream(std::uint64_t stream);
  // A capture into this graph is invalid, and has no graph from now on.
  void forget_graph(const Graph& graph);
  void forget_event(std::uint64_t event) { events_.erase(event); }

 private:
  struct Sequence {
    unsigned long long id = 0;
    Graph* graph = nullptr;  // null: it is gone, and the capture is invalid
    StreamRef origin;
    hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
    std::thread::id thread;
    bool valid = true;
    std::unordered_set<const Node*> earlier;  // need not be joined: not captured, or dropped since
  };
  struct Participant {
    Sequence* sequence = nullptr;
    StreamRef stream;
    std::vector<Node*> last;  // what the next node depends on
    std::vector<hipGraphNode_t> shown;
  };
  struct Recorded {
    Sequence* sequence = nullptr;
    std::vector<Node*> nodes;
  };

  // The valid capture that the stream takes part in; else the verdict.
  Verdict enter(const StreamRef& stream, Participant*& participant);
  Verdict refuse_legacy(int device);
  bool joined(const Sequence& sequence) const;
  void drop(Sequence& sequence);

  NodeTable& nodes_;
  std::list<Sequence> sequences_;  // addresses are stable
  std::unordered_map<std::uint64_t, Participant> streams_;
  std::unordered_map<std::uint64_t, Recorded> events_;  // only of sequences that exist
  unsigned long long next_id_ = 1;
  std::atomic<std::size_t> count_{0};
};

}  // namespace tf::graph
