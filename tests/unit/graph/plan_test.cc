// SPDX-License-Identifier: Apache-2.0
// Graphs made flat: order, child graphs in place of their nodes, circles, and what can take a plan's place.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "hipcore/graph/graph.h"

namespace tf::graph {
namespace {

SharedWork make(Work work) { return std::make_shared<const Work>(std::move(work)); }
SharedWork empty() { return make(EmptyWork{}); }
using Indices = std::vector<std::uint32_t>;

TEST(Plan, KeepsTheOrderOfCreation) {
  Graph graph;
  Node& first = graph.add(empty(), {});
  Node* const behind_first[] = {&first};
  Node& left = graph.add(empty(), behind_first);
  Node& right = graph.add(empty(), behind_first);
  Node* const both[] = {&right, &left, &right};
  graph.add(empty(), both);
  const std::optional<Plan> plan = flatten(graph);
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->size(), 4u);
  EXPECT_EQ((*plan)[1].dependencies, Indices{0});
  EXPECT_EQ((*plan)[3].dependencies, (Indices{1, 2}));
}

TEST(Plan, DependenciesMayBeMadeLater) {
  Graph graph;
  Node& last = graph.add(make(FillWork{}), {});
  Node& first = graph.add(empty(), {});
  EXPECT_TRUE(Graph::connect(first, last));
  EXPECT_FALSE(Graph::connect(first, last));
  std::optional<Plan> plan = flatten(graph);
  ASSERT_TRUE(plan.has_value());
  EXPECT_TRUE(std::holds_alternative<EmptyWork>(*(*plan)[0].work));
  EXPECT_TRUE(Graph::connect(last, first));
  EXPECT_FALSE(flatten(graph).has_value());  // a circle
  EXPECT_TRUE(Graph::disconnect(last, first));
  EXPECT_FALSE(Graph::disconnect(last, first));
  graph.remove(first);
  plan = flatten(graph);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->size(), 1u);
}

// before -> child {a -> c, b -> c; d alone} -> after
TEST(Plan, ChildGraphsAreInlined) {
  auto child = std::make_shared<Graph>();
  Node* const sources[] = {&child->add(empty(), {}), &child->add(empty(), {})};
  child->add(empty(), sources);
  child->add(empty(), {});
  Graph graph;
  Node* const before[] = {&graph.add(empty(), {})};
  Node* const inner[] = {&graph.add(make(ChildWork{child}), before)};
  Node* const nothing[] = {&graph.add(make(ChildWork{std::make_shared<Graph>()}), inner)};
  graph.add(empty(), nothing);
  const std::optional<Plan> plan = flatten(graph);
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->size(), 6u);
  EXPECT_EQ((*plan)[1].dependencies, Indices{0});
  EXPECT_EQ((*plan)[2].dependencies, Indices{0});
  EXPECT_EQ((*plan)[3].dependencies, (Indices{1, 2}));
  EXPECT_EQ((*plan)[4].dependencies, Indices{0});
  EXPECT_EQ((*plan)[5].dependencies, (Indices{3, 4}));  // through the empty child graph
  EXPECT_EQ(graph.depth(), 2u);
}

TEST(Plan, ClonesRememberTheirOrigin) {
  Graph graph;
  Node* const first[] = {&graph.add(empty(), {})};
  first[0]->id = 77;
  graph.add(make(HostWork{}), first);
  const std::unique_ptr<Graph> copy = graph.clone();
  ASSERT_EQ(copy->nodes().size(), 2u);
  EXPECT_EQ(copy->nodes()[0]->origin, 77u);
  EXPECT_EQ(copy->nodes()[1]->dependencies[0], copy->nodes()[0].get());
  EXPECT_EQ(copy->clone()->nodes()[0]->origin, 77u);
}

TEST(Plan, ComparesShapesNotParameters) {
  const Plan have = {{make(FillWork{}), {}}, {empty(), {0}}};
  FillWork other;
  other.value = 5;
  EXPECT_EQ(compare(have, {{make(other), {}}, {empty(), {0}}}), hipGraphExecUpdateSuccess);
  EXPECT_EQ(compare(have, {{make(other), {}}}), hipGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(compare(have, {{make(other), {}}, {empty(), {}}}), hipGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(compare(have, {{empty(), {}}, {empty(), {0}}}), hipGraphExecUpdateErrorNodeTypeChanged);
}

}  // namespace
}  // namespace tf::graph
