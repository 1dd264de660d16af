// SPDX-License-Identifier: Apache-2.0
// What AMD's runtime says of captures and of changes to graphs, where a program might expect something else.
#include "tests/api/graph_fixture.h"

namespace tf::api_test {
namespace {

constexpr std::size_t kAnswerBytes = 4096;

TEST(GraphAnswers, TheLegacyStreamCannotBeAskedDuringACapture) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  unsigned long long id = 7;
  {
    TestStream blocking;
    begin_capture(blocking);
    EXPECT_EQ(hipStreamIsCapturing(nullptr, &status), hipErrorStreamCaptureImplicit);
    EXPECT_EQ(hipStreamGetCaptureInfo(nullptr, &status, &id), hipErrorStreamCaptureImplicit);
    EXPECT_EQ(hipStreamGetCaptureInfo_v2(nullptr, &status, &id, nullptr, nullptr, nullptr),
              hipErrorStreamCaptureImplicit);
    EXPECT_EQ(capture_status(blocking), hipStreamCaptureStatusActive) << "it goes on";
    TestGraph graph(blocking);
  }
  HIP_OK(hipStreamIsCapturing(nullptr, &status));
  EXPECT_EQ(status, hipStreamCaptureStatusNone);
  TestStream apart(hipStreamNonBlocking);
  begin_capture(apart);
  HIP_OK(hipStreamIsCapturing(nullptr, &status));
  TestGraph graph(apart);
}

TEST(GraphAnswers, DroppedDependenciesNeedNotBeJoined) {
  TestStream stream;
  DeviceBuffer device(kAnswerBytes);
  begin_capture(stream);
  HIP_OK(hipMemsetAsync(device.get(), 1, 64, stream));
  HIP_OK(hipMemsetAsync(device.at(64), 2, 64, stream));
  HIP_OK(hipStreamUpdateCaptureDependencies(stream, nullptr, 0, hipStreamSetCaptureDependencies));
  HIP_OK(hipMemsetAsync(device.at(128), 3, 64, stream));
  TestGraph graph(stream);
  EXPECT_EQ(graph.nodes().size(), 3u);
}

TEST(GraphAnswers, NodesOfAGraphInsideAGraphAreDestroyed) {
  DeviceBuffer device(kAnswerBytes);
  TestGraph graph;
  hipGraphNode_t parent = nullptr;
  {
    TestGraph inner;
    hipGraphNode_t first = nullptr;
    hipGraphNode_t second = nullptr;
    HIP_OK(hipGraphAddMemcpyNode1D(&first, inner, nullptr, 0, device.get(), device.at(2048), 64,
                                   hipMemcpyDeviceToDevice));
    HIP_OK(hipGraphAddEmptyNode(&second, inner, &first, 1));
    HIP_OK(hipGraphAddChildGraphNode(&parent, graph, nullptr, 0, inner));
  }
  hipGraph_t child = nullptr;
  HIP_OK(hipGraphChildGraphNodeGetGraph(parent, &child));
  hipGraphNode_t nodes[2] = {};
  std::size_t count = 2;
  HIP_OK(hipGraphGetNodes(child, nodes, &count));
  ASSERT_EQ(count, 2u);
  HIP_OK(hipGraphDestroyNode(nodes[0]));
  EXPECT_EQ(hipGraphDestroyNode(nodes[0]), hipErrorInvalidValue);
  HIP_OK(hipGraphGetNodes(child, nodes, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(hipGraphDestroy(child), hipErrorInvalidValue) << "the node's";
  TestStream stream;
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
}

// Copies of 64 bytes within the device, each behind those that it names, and the executable graph.
class Updated : public ::testing::Test {
 protected:
  hipGraphNode_t copy(hipGraph_t graph, std::vector<hipGraphNode_t> behind,
                      hipMemcpyKind kind = hipMemcpyDeviceToDevice) {
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(hipGraphAddMemcpyNode1D(&node, graph, behind.data(), behind.size(), device_.get(),
                                      device_.at(2048), 64, kind),
              hipSuccess);
    return node;
  }
  void expect_refused(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t node,
                      hipGraphExecUpdateResult why) {
    hipGraphNode_t told = nullptr;
    hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
    EXPECT_EQ(hipGraphExecUpdate(exec, graph, &told, &result), hipErrorGraphExecUpdateFailure);
    EXPECT_EQ(told, node);
    EXPECT_EQ(result, why);
  }

  DeviceBuffer device_{kAnswerBytes};
};

TEST_F(Updated, TheNodeThatCannotBeReplacedIsTold) {
  TestGraph have;
  const hipGraphNode_t a = copy(have, {});
  const hipGraphNode_t b = copy(have, {a});
  copy(have, {b});
  TestExec exec(have);
  TestGraph other_edges;
  const hipGraphNode_t first = copy(other_edges, {});
  const hipGraphNode_t second = copy(other_edges, {});
  copy(other_edges, {first, second});
  expect_refused(exec, other_edges, second, hipGraphExecUpdateErrorTopologyChanged);
  TestGraph other_type;
  const hipGraphNode_t before = copy(other_type, {});
  hipGraphNode_t empty = nullptr;
  HIP_OK(hipGraphAddEmptyNode(&empty, other_type, &before, 1));
  copy(other_type, {empty});
  expect_refused(exec, other_type, empty, hipGraphExecUpdateErrorNodeTypeChanged);
  TestGraph smaller;
  copy(smaller, {});
  expect_refused(exec, smaller, nullptr, hipGraphExecUpdateErrorTopologyChanged);
}

TEST_F(Updated, CopiesKeepTheirDirection) {
  TestGraph have;
  copy(have, {});
  TestExec exec(have);
  TestGraph same;
  copy(same, {});
  hipGraphNode_t told = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  HIP_OK(hipGraphExecUpdate(exec, same, &told, &result));
  EXPECT_EQ(result, hipGraphExecUpdateSuccess);
  TestGraph other;
  const hipGraphNode_t node = copy(other, {}, hipMemcpyDefault);
  expect_refused(exec, other, node, hipGraphExecUpdateErrorParametersChanged);
}

}  // namespace
}  // namespace tf::api_test
