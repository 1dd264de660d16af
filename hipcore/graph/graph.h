// SPDX-License-Identifier: Apache-2.0
// Graph: nodes and the order between them. Plan: the same, flat, in an order in which it can run.
//
// Not thread-safe: the Library guards graphs with its lock. Plans are values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hipcore/graph/user_object.h"
#include "hipcore/graph/work.h"

namespace tf::graph {

inline constexpr std::size_t kPlanItemsMax = 1 << 18;
inline constexpr std::size_t kChildDepthMax = 32;  // graphs inside graphs

struct Node {
  Graph* graph = nullptr;
  std::uint64_t id = 0;      // the program's handle; 0 in graphs that it does not see
  std::uint64_t origin = 0;  // id of the node that this one is a copy of
  SharedWork work;
  bool enabled = true;  // in executable graphs: hipGraphNodeSetEnabled
  std::vector<Node*> dependencies;
  std::vector<Node*> dependents;
  // What hipGraphKernelNodeGetParams returned last. Programs may use it to set parameters much later, so it
  // lives as long as the node.
  std::unique_ptr<ShownArguments> shown;
  // The same of hipGraphBatchMemOpNodeGetParams.
  std::unique_ptr<std::vector<hipStreamBatchMemOpParams>> shown_batch;
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }

  // A dependency named twice counts once. REQUIRES: they belong to this graph.
  Node& add(SharedWork work, std::span<Node* const> dependencies);
  // False: the edge exists already.
  static bool connect(Node& from, Node& to);
  // False: there is no such edge.
  static bool disconnect(Node& from, Node& to);
  void remove(Node& node);
  // The copy's nodes have no id; their origin is the original's id.
  std::unique_ptr<Graph> clone() const;
  // 1 for a graph without child graphs.
  std::size_t depth() const;

  std::uint64_t id = 0;  // the program's handle; 0 when it has none
  bool owned = false;    // by a capture or a node: the program must not destroy it
  // The program's own graph, into which a stream is captured: it stays when the capture fails.
  bool given = false;
  UserObjects objects;  // that it holds

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
};

struct PlanItem {
  SharedWork work;
  std::vector<std::uint32_t> dependencies;  // indices of earlier items
  bool enabled = true;
  std::uint64_t node = 0;  // the program's handle, if it has one
};
using Plan = std::vector<PlanItem>;

// As a Side gets it: nodes that are not enabled do nothing, nor do nodes of memory (block.h) and of
// semaphores.
Plan as_executed(Plan plan);

// The objects that the graph holds, and its child graphs.
void collect_objects(const Graph& graph, std::vector<std::shared_ptr<UserObject>>& objects);

// What the plan allocates and frees, in its order.
std::vector<MemoryStep> memory_steps(const Plan& plan);

// Replaces child nodes by their graphs. Nothing: there is a cycle, or there are too many items.
std::optional<Plan> flatten(const Graph& graph);

// Pairs the nodes of two graphs in the order of their plans: those of `wanted` get the handles by which the
// program knows the others, and are switched off where those are. False: the nodes do not pair.
bool take_places(const Graph& have, Graph& wanted);

// Whether `wanted` can replace `have` without a new instantiation.
hipGraphExecUpdateResult compare(const Plan& have, const Plan& wanted);
// The same for hipGraphExecUpdate, as AMD's runtime has it: copies keep their direction, too. `node` is the
// one of `wanted` that cannot replace another; 0 where the graphs differ in size.
hipGraphExecUpdateResult compare_for_update(const Plan& have, const Plan& wanted, std::uint64_t& node);

}  // namespace tf::graph
