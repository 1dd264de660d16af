// SPDX-License-Identifier: Apache-2.0
// Graph: nodes and the order between them; Plan: the same, flat and in an order in which it can run.
//
// Not thread-safe: the Library guards graphs with its lock. Plans are values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hipcore/graph/work.h"

namespace tf::graph {

inline constexpr std::size_t kPlanItemsMax = 1 << 18;
inline constexpr std::size_t kChildDepthMax = 32;  // graphs inside graphs

struct Node {
  Graph* graph = nullptr;
  std::uint64_t id = 0;      // the program's handle; 0 in graphs that it does not see
  std::uint64_t origin = 0;  // id of the node that this one is a copy of
  SharedWork work;
  std::vector<Node*> dependencies;
  std::vector<Node*> dependents;
  // What hipGraphKernelNodeGetParams gave last. Programs set parameters with it long after: as old as the
  // node.
  std::unique_ptr<ShownArguments> shown;
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }

  // Dependencies that are named twice count once. REQUIRES: they are of this graph.
  Node& add(SharedWork work, std::span<Node* const> dependencies);
  // False: there already.
  static bool connect(Node& from, Node& to);
  // False: not there.
  static bool disconnect(Node& from, Node& to);
  void remove(Node& node);
  // Nodes of the copy have no id, and the original's as origin.
  std::unique_ptr<Graph> clone() const;
  // 1 for a graph without child graphs.
  std::size_t depth() const;

  std::uint64_t id = 0;  // the program's handle; 0 when it has none
  bool owned = false;    // by a capture or a node: not the program's to destroy

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
};

struct PlanItem {
  SharedWork work;
  std::vector<std::uint32_t> dependencies;  // indices of earlier items
};
using Plan = std::vector<PlanItem>;

// Child graphs are put in place of their nodes. Nothing: the order has a circle, or too many items.
std::optional<Plan> flatten(const Graph& graph);

// Can a plan take the other's place without being instantiated anew?
hipGraphExecUpdateResult compare(const Plan& have, const Plan& wanted);

}  // namespace tf::graph
