// SPDX-License-Identifier: Apache-2.0
// Attributes of kernels' nodes, and nodes of executable graphs that are switched off and on again.
#include "tests/api/graph_parameters.h"
#include "tests/api/newer_graphs.h"

namespace tf::api_test {
namespace {

// fill with 5 -> increment -> copy to the host
class SwitchedGraph : public testing::Test {
 protected:
  void SetUp() override {
    const hipMemsetParams fives = filling(buffer_.get(), 5);
    ASSERT_EQ(hipGraphAddMemsetNode(&fill_, graph_, nullptr, 0, &fives), hipSuccess);
    ASSERT_EQ(hipGraphAddKernelNode(&kernel_, graph_, &fill_, 1, &increment_.parameters), hipSuccess);
    ASSERT_EQ(hipGraphAddMemcpyNode1D(&copy_, graph_, &kernel_, 1, numbers_.data(), buffer_.get(),
                                      kGraphBytes, hipMemcpyDeviceToHost),
              hipSuccess);
    ASSERT_EQ(hipGraphInstantiate(&exec_, graph_, nullptr, nullptr, 0), hipSuccess);
  }
  void TearDown() override { EXPECT_EQ(hipGraphExecDestroy(exec_), hipSuccess); }

  // What a launch leaves in the last number.
  int run() {
    EXPECT_EQ(hipGraphLaunch(exec_, stream_), hipSuccess);
    EXPECT_EQ(hipStreamSynchronize(stream_), hipSuccess);
    return numbers_.back();
  }
  void enable(hipGraphNode_t node, unsigned on) {
    ASSERT_EQ(hipGraphNodeSetEnabled(exec_, node, on), hipSuccess);
    unsigned told = 7;
    ASSERT_EQ(hipGraphNodeGetEnabled(exec_, node, &told), hipSuccess);
    EXPECT_EQ(told, on);
  }

  LoadedModule module_;
  DeviceBuffer buffer_{kGraphBytes};
  Increment increment_{module_.function("increment"), buffer_.get()};
  std::vector<int> numbers_ = std::vector<int>(kGraphCount);
  TestStream stream_;
  TestGraph graph_;
  hipGraphNode_t fill_ = nullptr;
  hipGraphNode_t kernel_ = nullptr;
  hipGraphNode_t copy_ = nullptr;
  hipGraphExec_t exec_ = nullptr;
};

TEST_F(SwitchedGraph, EveryKindOfNodeIsLeftOutWhileItIsOff) {
  EXPECT_EQ(run(), 6);
  enable(kernel_, 0);
  EXPECT_EQ(run(), 5);
  enable(kernel_, 1);
  enable(fill_, 0);
  EXPECT_EQ(run(), 6);  // 5 of the launch before, and one more
  EXPECT_EQ(run(), 7);
  enable(copy_, 0);
  EXPECT_EQ(run(), 7);
  enable(copy_, 1);
  enable(fill_, 1);
  EXPECT_EQ(run(), 6);
}

TEST_F(SwitchedGraph, ParametersOfANodeThatIsOffCountOnceItIsOnAgain) {
  enable(fill_, 0);
  const hipMemsetParams nines = filling(buffer_.get(), 9);
  ASSERT_EQ(hipGraphExecMemsetNodeSetParams(exec_, fill_, &nines), hipSuccess);
  ASSERT_EQ(hipMemset(buffer_.get(), 0, kGraphBytes), hipSuccess);
  EXPECT_EQ(run(), 1);
  enable(fill_, 1);
  EXPECT_EQ(run(), 10);
}

TEST_F(SwitchedGraph, AnUpdateOfTheWholeGraphLeavesItOff) {
  enable(kernel_, 0);
  const hipMemsetParams threes = filling(buffer_.get(), 3);
  ASSERT_EQ(hipGraphMemsetNodeSetParams(fill_, &threes), hipSuccess);
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  ASSERT_EQ(hipGraphExecUpdate(exec_, graph_, &node, &result), hipSuccess);
  EXPECT_EQ(run(), 3);
  enable(kernel_, 1);
  EXPECT_EQ(run(), 4);
}

// The nodes were made in another order than the one in which they run.
TEST_F(SwitchedGraph, AnUpdatePairsNodesAsTheyRun) {
  const auto last = [this](hipGraphExec_t exec) {
    EXPECT_EQ(hipGraphLaunch(exec, stream_), hipSuccess);
    EXPECT_EQ(hipStreamSynchronize(stream_), hipSuccess);
    return read_ints(buffer_.get(), kGraphCount).back();
  };
  TestGraph before;
  TestGraph after;
  hipGraphNode_t nodes[4] = {};
  for (unsigned i = 0; i < 4; ++i) {
    const hipMemsetParams fill = filling(buffer_.get(), i + 1);
    ASSERT_EQ(hipGraphAddMemsetNode(&nodes[i], i < 2 ? before : after, nullptr, 0, &fill), hipSuccess);
  }
  ASSERT_EQ(hipGraphAddDependencies(before, &nodes[1], &nodes[0], 1), hipSuccess);
  ASSERT_EQ(hipGraphAddDependencies(after, &nodes[2], &nodes[3], 1), hipSuccess);
  TestExec exec(before);
  EXPECT_EQ(last(exec), 1);
  ASSERT_EQ(hipGraphNodeSetEnabled(exec, nodes[0], 0), hipSuccess);
  EXPECT_EQ(last(exec), 2);
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  ASSERT_EQ(hipGraphExecUpdate(exec, after, &node, &result), hipSuccess);
  EXPECT_EQ(last(exec), 3);
  ASSERT_EQ(hipGraphNodeSetEnabled(exec, nodes[0], 1), hipSuccess);
  EXPECT_EQ(last(exec), 4);
  const hipMemsetParams nines = filling(buffer_.get(), 9);
  ASSERT_EQ(hipGraphExecMemsetNodeSetParams(exec, nodes[0], &nines), hipSuccess);
  EXPECT_EQ(last(exec), 9);
}

TEST_F(SwitchedGraph, WhatIsNoSuchNodeIsRefused) {
  unsigned on = 7;
  hipGraphNode_t empty = nullptr;
  ASSERT_EQ(hipGraphAddEmptyNode(&empty, graph_, nullptr, 0), hipSuccess);
  TestExec exec(graph_);
  EXPECT_EQ(hipGraphNodeSetEnabled(exec, empty, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphNodeGetEnabled(exec, empty, &on), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphNodeSetEnabled(exec_, empty, 0), hipErrorInvalidValue);  // it came later
  EXPECT_EQ(hipGraphNodeSetEnabled(nullptr, kernel_, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphNodeSetEnabled(exec_, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphNodeGetEnabled(exec_, kernel_, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphNodeGetEnabled(nullptr, kernel_, &on), hipErrorInvalidValue);
  ASSERT_EQ(hipGraphDestroyNode(copy_), hipSuccess);
  EXPECT_EQ(hipGraphNodeSetEnabled(exec_, copy_, 0), hipErrorInvalidValue);
  EXPECT_EQ(on, 7u);
}

class KernelAttributes : public testing::Test {
 protected:
  hipGraphNode_t add() {
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(hipGraphAddKernelNode(&node, graph_, nullptr, 0, &increment_.parameters), hipSuccess);
    return node;
  }
  static int cooperative(hipGraphNode_t node) {
    hipKernelNodeAttrValue value{};
    EXPECT_EQ(hipGraphKernelNodeGetAttribute(node, hipKernelNodeAttributeCooperative, &value), hipSuccess);
    return value.cooperative;
  }

  LoadedModule module_;
  DeviceBuffer buffer_{kGraphBytes};
  Increment increment_{module_.function("increment"), buffer_.get()};
  TestGraph graph_;
};

TEST_F(KernelAttributes, AreCopiedAndOutliveNewParameters) {
  const hipGraphNode_t from = add();
  const hipGraphNode_t to = add();
  hipKernelNodeAttrValue value{};
  value.cooperative = 1;
  ASSERT_EQ(hipGraphKernelNodeSetAttribute(from, hipKernelNodeAttributeCooperative, &value), hipSuccess);
  EXPECT_EQ(cooperative(to), 0);
  ASSERT_EQ(hipGraphKernelNodeCopyAttributes(from, to), hipSuccess);
  EXPECT_EQ(cooperative(to), 1);
  ASSERT_EQ(hipGraphKernelNodeSetParams(to, &increment_.parameters), hipSuccess);
  EXPECT_EQ(cooperative(to), 1);
  value.cooperative = 2;  // AMD's runtime returns the number that was set, whatever it is
  ASSERT_EQ(hipGraphKernelNodeSetAttribute(to, hipKernelNodeAttributeCooperative, &value), hipSuccess);
  EXPECT_EQ(cooperative(to), 2);
}

TEST_F(KernelAttributes, AWindowIsKeptAndChecked) {
  const hipGraphNode_t node = add();
  hipKernelNodeAttrValue value{};
  value.accessPolicyWindow.base_ptr = buffer_.get();
  value.accessPolicyWindow.hitProp = hipAccessPropertyPersisting;
  value.accessPolicyWindow.hitRatio = 0.5F;
  const auto set = [&] {
    return hipGraphKernelNodeSetAttribute(node, hipKernelNodeAttributeAccessPolicyWindow, &value);
  };
  ASSERT_EQ(set(), hipSuccess);
  hipKernelNodeAttrValue told{};
  ASSERT_EQ(hipGraphKernelNodeGetAttribute(node, hipKernelNodeAttributeAccessPolicyWindow, &told),
            hipSuccess);
  EXPECT_EQ(told.accessPolicyWindow.base_ptr, buffer_.get());
  EXPECT_EQ(told.accessPolicyWindow.hitProp, hipAccessPropertyPersisting);
  EXPECT_EQ(told.accessPolicyWindow.hitRatio, 0.5F);
  value.accessPolicyWindow.hitRatio = 1.5F;
  EXPECT_EQ(set(), hipErrorInvalidValue);
  value.accessPolicyWindow.hitRatio = 0.5F;
  value.accessPolicyWindow.missProp = hipAccessPropertyPersisting;
  EXPECT_EQ(set(), hipErrorInvalidValue);
}

TEST_F(KernelAttributes, OtherNodesAndOtherAttributesAreRefused) {
  const hipGraphNode_t node = add();
  hipGraphNode_t empty = nullptr;
  ASSERT_EQ(hipGraphAddEmptyNode(&empty, graph_, nullptr, 0), hipSuccess);
  hipKernelNodeAttrValue value{};
  const auto unknown = static_cast<hipKernelNodeAttrID>(3);
  EXPECT_EQ(hipGraphKernelNodeSetAttribute(node, unknown, &value), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphKernelNodeGetAttribute(node, unknown, &value), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphKernelNodeSetAttribute(empty, hipKernelNodeAttributeCooperative, &value),
            hipErrorInvalidValue);
  EXPECT_EQ(hipGraphKernelNodeCopyAttributes(node, empty), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphKernelNodeCopyAttributes(empty, node), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphKernelNodeCopyAttributes(nullptr, node), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphKernelNodeCopyAttributes(node, nullptr), hipErrorInvalidValue);
  const hipGraphNode_t gone = add();
  ASSERT_EQ(hipGraphDestroyNode(gone), hipSuccess);
  EXPECT_EQ(hipGraphKernelNodeCopyAttributes(gone, node), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::api_test
