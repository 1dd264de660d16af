// SPDX-License-Identifier: Apache-2.0
// User objects: what the program wants to have for as long as a graph, or a launch of it, needs it.
#include <atomic>
#include <climits>
#include <thread>

#include "tests/api/graph_fixture.h"
#include "tests/api/newer_graphs.h"

namespace tf::api_test {
namespace {

class UserObject : public testing::Test {
 protected:
  hipUserObject_t create(unsigned count) {
    hipUserObject_t object = nullptr;
    EXPECT_EQ(hipUserObjectCreate(&object, this, &UserObject::end, count, hipUserObjectNoDestructorSync),
              hipSuccess);
    return object;
  }
  int ended() const { return ended_.load(); }

  // An executable graph of one host function, which waits for the gate, and what came of its graph.
  hipGraphExec_t waiting_exec(hipUserObject_t object) {
    hipGraph_t graph = nullptr;
    EXPECT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
    add_wait(graph);
    EXPECT_EQ(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove), hipSuccess);
    hipGraphExec_t exec = nullptr;
    EXPECT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
    EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
    return exec;
  }
  // A host function that waits for the gate, and says that it has ended.
  void add_wait(hipGraph_t graph) {
    const hipHostNodeParams wait{[](void* data) {
                                   auto& self = *static_cast<UserObject*>(data);
                                   while (!self.open_.load())
                                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                   self.waited_ = true;
                                 },
                                 this};
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(hipGraphAddHostNode(&node, graph, nullptr, 0, &wait), hipSuccess);
  }
  // Waits until it has ended, which may be a little after its stream has.
  void expect_end(int count = 1) {
    for (int i = 0; i < 5000 && ended() != count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(ended(), count);
  }

  std::atomic<bool> open_{false};
  std::atomic<bool> waited_{false};       // the host function has ended
  std::atomic<bool> ended_after_{false};  // the object ended after that

 private:
  static void end(void* data) {
    auto& self = *static_cast<UserObject*>(data);
    self.ended_after_ = self.waited_.load();
    ++self.ended_;
  }

  std::atomic<int> ended_{0};
};

TEST_F(UserObject, EndsWithTheLastReferenceOfTheProgram) {
  const hipUserObject_t object = create(2);
  EXPECT_EQ(hipUserObjectRetain(object, 3), hipSuccess);
  EXPECT_EQ(hipUserObjectRelease(object, 4), hipSuccess);
  EXPECT_EQ(ended(), 0);
  EXPECT_EQ(hipUserObjectRelease(object, 1), hipSuccess);
  EXPECT_EQ(ended(), 1);
  // It is gone: nothing happens.
  EXPECT_EQ(hipUserObjectRetain(object, 1), hipSuccess);
  EXPECT_EQ(hipUserObjectRelease(object, 1), hipSuccess);
  EXPECT_EQ(ended(), 1);
}

TEST_F(UserObject, LivesAsLongAsAGraphHoldsIt) {
  const hipUserObject_t object = create(1);
  hipGraph_t graph = nullptr;
  hipGraph_t copy = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  ASSERT_EQ(hipGraphRetainUserObject(graph, object, 2, 0), hipSuccess);
  ASSERT_EQ(hipUserObjectRelease(object, 1), hipSuccess);
  ASSERT_EQ(hipGraphReleaseUserObject(graph, object, 1), hipSuccess);
  ASSERT_EQ(hipGraphClone(&copy, graph), hipSuccess);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(ended(), 0);
  ASSERT_EQ(hipGraphReleaseUserObject(copy, object, 1), hipSuccess);
  EXPECT_EQ(ended(), 1);
  EXPECT_EQ(hipGraphReleaseUserObject(copy, object, 1), hipSuccess);  // it holds none any more
  ASSERT_EQ(hipGraphDestroy(copy), hipSuccess);
  EXPECT_EQ(ended(), 1);
}

TEST_F(UserObject, MovedToAGraphItIsTheGraphs) {
  const hipUserObject_t object = create(1);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  ASSERT_EQ(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove), hipSuccess);
  EXPECT_EQ(ended(), 0);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(ended(), 1);
}

TEST_F(UserObject, OfAChildGraphIsHeldByTheParent) {
  const hipUserObject_t object = create(1);
  hipGraph_t child = nullptr;
  ASSERT_EQ(hipGraphCreate(&child, 0), hipSuccess);
  ASSERT_EQ(hipGraphRetainUserObject(child, object, 1, hipGraphUserObjectMove), hipSuccess);
  {
    TestGraph graph;
    hipGraphNode_t node = nullptr;
    ASSERT_EQ(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child), hipSuccess);
    ASSERT_EQ(hipGraphDestroy(child), hipSuccess);
    EXPECT_EQ(ended(), 0);
  }
  EXPECT_EQ(ended(), 1);
}

TEST_F(UserObject, RetainedDuringACapture) {
  const hipUserObject_t object = create(1);
  TestStream stream;
  begin_capture(stream);
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, nullptr, nullptr), hipSuccess);
  ASSERT_EQ(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove), hipSuccess);
  ASSERT_EQ(hipStreamEndCapture(stream, &graph), hipSuccess);
  EXPECT_EQ(ended(), 0);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(ended(), 1);
}

TEST_F(UserObject, LivesUntilTheLastLaunchHasEnded) {
  TestStream stream;
  const hipGraphExec_t exec = waiting_exec(create(1));
  ASSERT_EQ(hipGraphLaunch(exec, stream), hipSuccess);
  ASSERT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(ended(), 0);
  open_ = true;
  ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
  expect_end();
}

TEST_F(UserObject, OfAnExecutableGraphThatNeverRan) {
  const hipGraphExec_t exec = waiting_exec(create(1));
  EXPECT_EQ(ended(), 0);
  ASSERT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_EQ(ended(), 1);
}

TEST_F(UserObject, OfALaunchWhoseStreamIsGone) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  const hipGraphExec_t exec = waiting_exec(create(1));
  ASSERT_EQ(hipGraphLaunch(exec, stream), hipSuccess);
  ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);
  std::atomic<bool> destroying{false};
  std::thread opener([&] {
    while (!destroying.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    open_ = true;
  });
  destroying = true;
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  opener.join();
  expect_end();
  EXPECT_TRUE(ended_after_);
}

TEST_F(UserObject, OfALaunchWhoseGraphIsReplaced) {
  TestStream stream;
  const hipGraphExec_t exec = waiting_exec(create(1));
  ASSERT_EQ(hipGraphLaunch(exec, stream), hipSuccess);
  TestGraph other;
  add_wait(other);
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(hipGraphExecUpdate(exec, other, &node, &result), hipSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(ended(), 0);
  open_ = true;
  ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
  expect_end();
  EXPECT_TRUE(ended_after_);
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
}

// Twice: the launch runs on, whatever replaced what.
TEST_F(UserObject, OfALaunchWhoseChildGraphsAreReplaced) {
  TestStream stream;
  TestGraph graph;
  hipGraphNode_t nodes[2] = {};
  for (hipGraphNode_t& node : nodes) {
    TestGraph child;
    add_wait(child);
    ASSERT_EQ(hipGraphRetainUserObject(child, create(1), 1, hipGraphUserObjectMove), hipSuccess);
    ASSERT_EQ(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child), hipSuccess);
  }
  TestExec exec(graph);
  for (const hipGraphNode_t node : nodes) ASSERT_EQ(hipGraphDestroyNode(node), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(exec, stream), hipSuccess);
  TestGraph plain;
  add_wait(plain);
  for (const hipGraphNode_t node : nodes)
    ASSERT_EQ(hipGraphExecChildGraphNodeSetParams(exec, node, plain), hipSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(ended(), 0);
  open_ = true;
  ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
  expect_end(2);
  EXPECT_TRUE(ended_after_);
}

TEST_F(UserObject, WrongArgumentsAreRefused) {
  hipUserObject_t object = nullptr;
  const auto make = [&](hipUserObject_t* place, hipHostFn_t function, unsigned count, unsigned flags) {
    return hipUserObjectCreate(place, nullptr, function, count, flags);
  };
  const hipHostFn_t nothing = [](void*) {};
  EXPECT_EQ(make(nullptr, nothing, 1, hipUserObjectNoDestructorSync), hipErrorInvalidValue);
  EXPECT_EQ(make(&object, nullptr, 1, hipUserObjectNoDestructorSync), hipErrorInvalidValue);
  EXPECT_EQ(make(&object, nothing, 0, hipUserObjectNoDestructorSync), hipErrorInvalidValue);
  EXPECT_EQ(make(&object, nothing, INT_MAX + 1U, hipUserObjectNoDestructorSync), hipErrorInvalidValue);
  EXPECT_EQ(make(&object, nothing, 1, 0), hipErrorInvalidValue);
  EXPECT_EQ(make(&object, nothing, 1, 9), hipErrorInvalidValue);
  EXPECT_EQ(object, nullptr);
  object = create(1);
  TestGraph graph;
  EXPECT_EQ(hipUserObjectRetain(nullptr, 1), hipErrorInvalidValue);
  EXPECT_EQ(hipUserObjectRetain(object, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipUserObjectRelease(nullptr, 1), hipErrorInvalidValue);
  EXPECT_EQ(hipUserObjectRelease(object, INT_MAX + 1U), hipErrorInvalidValue);
  int stranger = 0;
  EXPECT_EQ(hipUserObjectRelease(reinterpret_cast<hipUserObject_t>(&stranger), 1), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphRetainUserObject(nullptr, object, 1, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphRetainUserObject(graph, nullptr, 1, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphRetainUserObject(graph, object, 0, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphRetainUserObject(graph, object, 1, 2), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphReleaseUserObject(nullptr, object, 1), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphReleaseUserObject(graph, nullptr, 1), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphReleaseUserObject(graph, object, 1), hipSuccess);  // the graph has none
  EXPECT_EQ(ended(), 0);
  EXPECT_EQ(hipUserObjectRelease(object, 9), hipSuccess);  // as many as there are
  EXPECT_EQ(ended(), 1);
}

}  // namespace
}  // namespace tf::api_test
