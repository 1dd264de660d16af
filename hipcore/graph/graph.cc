// SPDX-License-Identifier: Apache-2.0
// Nodes and edges of a graph, its copies, and its flattening into a plan.
#include "hipcore/graph/graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

namespace tf::graph {

Node& Graph::add(SharedWork work, std::span<Node* const> dependencies) {
  nodes_.push_back(std::make_unique<Node>());
  Node& node = *nodes_.back();
  node.graph = this;
  node.work = std::move(work);
  for (Node* dependency : dependencies) connect(*dependency, node);
  return node;
}

bool Graph::connect(Node& from, Node& to) {
  // Looked up in the shorter of the two lists: one node may have very many on one side.
  const bool forward = from.dependents.size() < to.dependencies.size();
  const auto& list = forward ? from.dependents : to.dependencies;
  if (std::find(list.begin(), list.end(), forward ? &to : &from) != list.end()) return false;
  from.dependents.push_back(&to);
  to.dependencies.push_back(&from);
  return true;
}

bool Graph::disconnect(Node& from, Node& to) {
  if (std::erase(from.dependents, &to) == 0) return false;
  std::erase(to.dependencies, &from);
  return true;
}

void Graph::remove(Node& node) {
  for (Node* before : node.dependencies) std::erase(before->dependents, &node);
  for (Node* after : node.dependents) std::erase(after->dependencies, &node);
  std::erase_if(nodes_, [&](const auto& held) { return held.get() == &node; });
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  copy->objects = objects;
  std::unordered_map<const Node*, Node*> copies;
  for (const auto& node : nodes_) {
    const auto* child = std::get_if<ChildWork>(node->work.get());
    Node& made = copy->add(
        child != nullptr ? std::make_shared<const Work>(ChildWork{child->graph->clone()}) : node->work, {});
    made.origin = node->id != 0 ? node->id : node->origin;
    made.enabled = node->enabled;
    copies.emplace(node.get(), &made);
  }
  for (const auto& node : nodes_) {
    Node* made = copies[node.get()];
    for (const Node* other : node->dependencies) made->dependencies.push_back(copies[other]);
    for (const Node* other : node->dependents) made->dependents.push_back(copies[other]);
  }
  return copy;
}

std::size_t Graph::depth() const {
  std::size_t deepest = 0;
  for (const auto& node : nodes_) {
    if (const auto* child = std::get_if<ChildWork>(node->work.get()))
      deepest = std::max(deepest, child->graph->depth());
  }
  return deepest + 1;
}

namespace {

// Among equals the older node comes first, so that a capture runs as it was captured. Shorter than the graph
// if there is a cycle.
std::vector<Node*> ordered(const Graph& graph) {
  std::unordered_map<const Node*, std::size_t> position;
  std::vector<std::size_t> missing;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (const auto& node : graph.nodes()) {
    const std::size_t index = missing.size();
    position.emplace(node.get(), index);
    missing.push_back(node->dependencies.size());
    if (node->dependencies.empty()) ready.push(index);
  }
  std::vector<Node*> order;
  while (!ready.empty()) {
    Node* node = graph.nodes()[ready.top()].get();
    ready.pop();
    order.push_back(node);
    for (const Node* after : node->dependents)
      if (--missing[position[after]] == 0) ready.push(position[after]);
  }
  return order;
}

using Indices = std::vector<std::uint32_t>;

void add_all(Indices& all, const Indices& more) { all.insert(all.end(), more.begin(), more.end()); }

void sort_unique(Indices& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

// Appends the graph's items; those without dependencies come after `entry`. `exits` gets the items that must
// be waited for after the whole graph.
bool append(const Graph& graph, const Indices& entry, Plan& plan, Indices& exits) {
  const std::vector<Node*> order = ordered(graph);
  if (order.size() != graph.nodes().size()) return false;
  std::unordered_map<const Node*, Indices> ends;  // per node: what its dependents wait for
  exits = order.empty() ? entry : Indices{};
  for (const Node* node : order) {
    Indices before = node->dependencies.empty() ? entry : Indices{};
    for (const Node* dependency : node->dependencies) add_all(before, ends[dependency]);
    sort_unique(before);
    Indices& end = ends[node];
    if (const auto* child = std::get_if<ChildWork>(node->work.get())) {
      if (!append(*child->graph, before, plan, end)) return false;
    } else {
      if (plan.size() >= kPlanItemsMax) return false;
      end.push_back(static_cast<std::uint32_t>(plan.size()));
      plan.push_back({node->work, std::move(before), node->enabled, node->id});
    }
    if (node->dependents.empty()) add_all(exits, end);
  }
  sort_unique(exits);
  return true;
}

}  // namespace

std::optional<Plan> flatten(const Graph& graph) {
  Plan plan;
  Indices exits;
  if (!append(graph, {}, plan, exits)) return std::nullopt;
  return plan;
}

namespace {

using Pairs = std::vector<std::pair<Node*, Node*>>;

// Child graphs must pair too. Nothing: the nodes do not.
std::optional<Pairs> pair_nodes(const Graph& have, const Graph& wanted) {
  const std::vector<Node*> before = ordered(have);
  const std::vector<Node*> after = ordered(wanted);
  if (before.size() != after.size()) return std::nullopt;
  Pairs pairs;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto* old = std::get_if<ChildWork>(before[i]->work.get());
    const auto* child = std::get_if<ChildWork>(after[i]->work.get());
    if ((old == nullptr) != (child == nullptr)) return std::nullopt;
    if (child != nullptr && !pair_nodes(*old->graph, *child->graph)) return std::nullopt;
    pairs.emplace_back(before[i], after[i]);
  }
  return pairs;
}

}  // namespace

bool take_places(const Graph& have, Graph& wanted) {
  const std::optional<Pairs> pairs = pair_nodes(have, wanted);
  if (!pairs) return false;
  for (const auto& [before, after] : *pairs) {
    after->origin = before->origin;
    after->enabled = before->enabled;
  }
  return true;
}

void collect_objects(const Graph& graph, std::vector<std::shared_ptr<UserObject>>& objects) {
  for (const auto& [id, held] : graph.objects) objects.push_back(held.object);
  for (const auto& node : graph.nodes())
    if (const auto* child = std::get_if<ChildWork>(node->work.get())) collect_objects(*child->graph, objects);
}

std::vector<MemoryStep> memory_steps(const Plan& plan) {
  std::vector<MemoryStep> steps;
  for (const PlanItem& item : plan) {
    if (const auto* allocation = std::get_if<AllocationWork>(item.work.get()))
      steps.push_back({allocation->block, true});
    else if (const auto* release = std::get_if<ReleaseWork>(item.work.get()))
      steps.push_back({release->block, false});
  }
  return steps;
}

Plan as_executed(Plan plan) {
  static const auto nothing = std::make_shared<const Work>();
  for (PlanItem& item : plan) {
    const bool does_nothing = std::holds_alternative<AllocationWork>(*item.work) ||
                              std::holds_alternative<ReleaseWork>(*item.work) ||
                              std::holds_alternative<SemaphoreWork>(*item.work);
    if (does_nothing || !item.enabled) item.work = nothing;
  }
  return plan;
}

namespace {

// Of a node of memory; else null.
const Block* block_of(const Work& work) {
  if (const auto* allocation = std::get_if<AllocationWork>(&work)) return allocation->block.get();
  const auto* release = std::get_if<ReleaseWork>(&work);
  return release != nullptr ? release->block.get() : nullptr;
}

hipGraphExecUpdateResult compare(const PlanItem& have, const PlanItem& wanted) {
  if (have.dependencies != wanted.dependencies) return hipGraphExecUpdateErrorTopologyChanged;
  if (!same_kind(*have.work, *wanted.work)) return hipGraphExecUpdateErrorNodeTypeChanged;
  if (block_of(*have.work) != block_of(*wanted.work)) return hipGraphExecUpdateErrorParametersChanged;
  return hipGraphExecUpdateSuccess;
}

}  // namespace

hipGraphExecUpdateResult compare(const Plan& have, const Plan& wanted) {
  if (have.size() != wanted.size()) return hipGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < have.size(); ++i)
    if (const auto result = compare(have[i], wanted[i]); result != hipGraphExecUpdateSuccess) return result;
  return hipGraphExecUpdateSuccess;
}

hipGraphExecUpdateResult compare_for_update(const Plan& have, const Plan& wanted, std::uint64_t& node) {
  node = 0;
  if (have.size() != wanted.size()) return hipGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < have.size(); ++i) {
    auto result = compare(have[i], wanted[i]);
    if (result == hipGraphExecUpdateSuccess && !same_direction(*have[i].work, *wanted[i].work))
      result = hipGraphExecUpdateErrorParametersChanged;
    if (result == hipGraphExecUpdateSuccess) continue;
    node = wanted[i].node;
    return result;
  }
  return hipGraphExecUpdateSuccess;
}

}  // namespace tf::graph
