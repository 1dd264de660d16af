// SPDX-License-Identifier: Apache-2.0
// NodeTable: the nodes that the program may name, under handles that are never reused. Not thread-safe: the
// Library guards it with its lock.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "hipcore/graph/graph.h"

namespace tf::graph {

inline constexpr std::size_t kNodesMax = 1 << 22;  // in all graphs together

// A handle is a number that no address of a program equals, so that a wrong pointer is recognised.
enum class HandleTag : std::uint64_t { kGraph = 0x67, kExec = 0x65, kNode = 0x6e, kObject = 0x75 };
inline std::uint64_t make_id(HandleTag tag, std::uint64_t count) {
  return static_cast<std::uint64_t>(tag) << 56 | count;
}
template <typename Handle>
Handle to_handle(std::uint64_t id) {
  return reinterpret_cast<Handle>(id);
}
template <typename Handle>
std::uint64_t to_id(Handle handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

class NodeTable {
 public:
  // Null: there are kNodesMax already.
  Node* add(Graph& graph, SharedWork work, std::span<Node* const> dependencies) {
    if (nodes_.size() >= kNodesMax) return nullptr;
    Node& node = graph.add(std::move(work), dependencies);
    enter(node);
    return &node;
  }
  // Enters the nodes of a copied graph. False: there would be more than kNodesMax.
  bool enter_all(Graph& graph) {
    if (nodes_.size() + graph.nodes().size() > kNodesMax) return false;
    for (const auto& node : graph.nodes()) enter(*node);
    return true;
  }
  void forget(const Node& node) { nodes_.erase(node.id); }
  void forget_all(const Graph& graph) {
    for (const auto& node : graph.nodes()) nodes_.erase(node->id);
  }
  Node* find(hipGraphNode_t handle) const {
    const auto found = nodes_.find(to_id(handle));
    return found == nodes_.end() ? nullptr : found->second;
  }

 private:
  void enter(Node& node) {
    node.id = make_id(HandleTag::kNode, next_++);
    nodes_.emplace(node.id, &node);
  }

  std::unordered_map<std::uint64_t, Node*> nodes_;
  std::uint64_t next_ = 1;
};

}  // namespace tf::graph
