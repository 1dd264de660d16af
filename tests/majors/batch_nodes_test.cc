// SPDX-License-Identifier: Apache-2.0
// Nodes of batches of stream operations (HIP 6.4).
#include <cstdint>
#include <string>
#include <vector>

#include "tests/majors/graphs.h"
#include "tests/majors/operations.h"

namespace tf::majors {
namespace {

class BatchNodes : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    if (major_ < 6) return;
    words_ = static_cast<std::uint32_t*>(allocate(64));
    ASSERT_EQ(HIP(hipMemset)(words_, 0, 64), hipSuccess);
  }
  void TearDown() override {
    Graphs::TearDown();
    if (major_ < 6) return;
    EXPECT_EQ(HIP(hipFree)(words_), hipSuccess);
  }

  using Operations = std::vector<hipStreamBatchMemOpParams>;
  static hipBatchMemOpNodeParams parameters_of(Operations& operations) {
    return {nullptr, static_cast<unsigned>(operations.size()), operations.data(), 0};
  }
  hipGraphNode_t add(Operations operations, std::vector<hipGraphNode_t> before = {}) const {
    const hipBatchMemOpNodeParams parameters = parameters_of(operations);
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(HIP(hipGraphAddBatchMemOpNode)(&node, graph_, before.data(), before.size(), &parameters),
              hipSuccess);
    return node;
  }
  hipError_t set(hipGraphNode_t node, Operations operations) const {
    hipBatchMemOpNodeParams parameters = parameters_of(operations);
    return HIP(hipGraphBatchMemOpNodeSetParams)(node, &parameters);
  }
  hipError_t set_in(hipGraphExec_t exec, hipGraphNode_t node, Operations operations) const {
    const hipBatchMemOpNodeParams parameters = parameters_of(operations);
    return HIP(hipGraphExecBatchMemOpNodeSetParams)(exec, node, &parameters);
  }
  hipStreamBatchMemOpParams writing(unsigned index, std::uint64_t value,
                                    hipStreamBatchMemOpType type = hipStreamMemOpWriteValue32) const {
    return write_to(words_ + index, value, type);
  }
  hipGraphNode_t add_fill(unsigned index, unsigned value, std::vector<hipGraphNode_t> before) const {
    hipMemsetParams fill{};
    fill.dst = words_ + index;
    fill.elementSize = 4;
    fill.value = value;
    fill.width = fill.height = 1;
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(HIP(hipGraphAddMemsetNode)(&node, graph_, before.data(), before.size(), &fill), hipSuccess);
    return node;
  }
  std::vector<std::uint32_t> words(std::size_t count) const { return read<std::uint32_t>(words_, count); }

  std::uint32_t* words_ = nullptr;
};

TEST_F(BatchNodes, WaitAndWriteInTheirOrderBetweenOtherNodes) {
  const hipGraphNode_t filled = add_fill(1, 5, {});
  const hipGraphNode_t batch = add(
      {wait_for(words_, 1), writing(1, 6), writing(2, std::uint64_t{3} << 32, hipStreamMemOpWriteValue64)},
      {filled});
  add_fill(4, 7, {batch});
  EXPECT_EQ(type_of(batch), kOperations);
  const hipGraphExec_t exec = instantiate();
  ASSERT_EQ(HIP(hipGraphLaunch)(exec, stream_), hipSuccess);
  EXPECT_EQ(HIP(hipStreamQuery)(stream_), hipErrorNotReady) << "the batch waits";
  hipStream_t other = nullptr;
  ASSERT_EQ(HIP(hipStreamCreateWithFlags)(&other, hipStreamNonBlocking), hipSuccess);
  ASSERT_EQ(HIP(hipStreamWriteValue32)(other, words_, 1, 0), hipSuccess);
  ASSERT_EQ(HIP(hipStreamSynchronize)(stream_), hipSuccess);
  EXPECT_EQ(words(5), (std::vector<std::uint32_t>{1, 6, 0, 3, 7}));
  destroy(exec);
  EXPECT_EQ(HIP(hipStreamDestroy)(other), hipSuccess);
}

TEST_F(BatchNodes, ABatchMayWaitForWhatItHasWritten) {
  hipStreamBatchMemOpParams wait = wait_for(words_ + 2, 0, hipStreamWaitValueGte);
  wait.operation = hipStreamMemOpWaitValue64;
  wait.waitValue.value64 = 9;
  add({writing(0, 1), wait_for(words_, 1), writing(0, 4), writing(2, 9, hipStreamMemOpWriteValue64), wait});
  const hipGraphExec_t exec = instantiate();
  run(exec);
  run(exec);
  EXPECT_EQ(words(3), (std::vector<std::uint32_t>{4, 0, 9}));
  destroy(exec);
}

TEST_F(BatchNodes, AreReadBackAndChanged) {
  const hipGraphNode_t node = add({writing(0, 1), writing(1, 2)});
  const hipGraphExec_t before = instantiate();
  hipBatchMemOpNodeParams told{};
  ASSERT_EQ(HIP(hipGraphBatchMemOpNodeGetParams)(node, &told), hipSuccess);
  ASSERT_EQ(told.count, 2u);
  EXPECT_EQ(told.flags, 0u);
  ASSERT_NE(told.paramArray, nullptr);
  EXPECT_EQ(told.paramArray[1].operation, hipStreamMemOpWriteValue32);
  EXPECT_EQ(told.paramArray[1].writeValue.address, words_ + 1);
  EXPECT_EQ(told.paramArray[1].writeValue.value, 2u);
  told.paramArray[1].writeValue.value = 3;
  run(before);
  EXPECT_EQ(words(2), (std::vector<std::uint32_t>{1, 2})) << "what was shown is a copy";
  ASSERT_EQ(HIP(hipGraphBatchMemOpNodeSetParams)(node, &told), hipSuccess);
  const hipGraphExec_t after = instantiate();
  run(after);
  EXPECT_EQ(words(2), (std::vector<std::uint32_t>{1, 3}));
  destroy(after);
  ASSERT_EQ(set(node, {writing(0, 8)}), hipSuccess);
  ASSERT_EQ(HIP(hipGraphBatchMemOpNodeGetParams)(node, &told), hipSuccess);
  EXPECT_EQ(told.count, 1u);
  run(before);
  EXPECT_EQ(words(2), (std::vector<std::uint32_t>{1, 2})) << "an executable graph keeps its own";
  destroy(before);
}

TEST_F(BatchNodes, ChangeInExecutableGraphs) {
  const hipGraphNode_t node = add({writing(0, 1)});
  const hipGraphExec_t exec = instantiate();
  ASSERT_EQ(set_in(exec, node, {writing(0, 2), writing(1, 3)}), hipSuccess);
  run(exec);
  EXPECT_EQ(words(2), (std::vector<std::uint32_t>{2, 3}));
  ASSERT_EQ(set(node, {writing(0, 4)}), hipSuccess);
  hipGraphNode_t wrong = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  ASSERT_EQ(HIP(hipGraphExecUpdate)(exec, graph_, &wrong, &result), hipSuccess);
  run(exec);
  EXPECT_EQ(words(2), (std::vector<std::uint32_t>{4, 3}));
  EXPECT_EQ(set_in(exec, node, {wait_for(nullptr, 1)}), kInvalid);
  EXPECT_EQ(set_in(nullptr, node, {writing(0, 1)}), kInvalid);
  EXPECT_EQ(set_in(exec, nullptr, {writing(0, 1)}), kInvalid);
  EXPECT_EQ(HIP(hipGraphExecBatchMemOpNodeSetParams)(exec, node, nullptr), kInvalid);
  destroy(exec);
  EXPECT_EQ(set_in(exec, node, {writing(0, 1)}), kInvalid) << "it is destroyed";
}

TEST_F(BatchNodes, AreClonedPrintedAndRunAsChildren) {
  const hipGraphNode_t node = add({writing(0, 6)});
  hipGraph_t copy = nullptr;
  hipGraphNode_t twin = nullptr;
  ASSERT_EQ(HIP(hipGraphClone)(&copy, graph_), hipSuccess);
  ASSERT_EQ(HIP(hipGraphNodeFindInClone)(&twin, node, copy), hipSuccess);
  EXPECT_EQ(type_of(twin), kOperations);
  ASSERT_EQ(set(twin, {writing(1, 7)}), hipSuccess);
  hipGraphNode_t child = nullptr;
  ASSERT_EQ(HIP(hipGraphAddChildGraphNode)(&child, graph_, &node, 1, copy), hipSuccess);
  EXPECT_EQ(HIP(hipGraphDestroy)(copy), hipSuccess);
  const std::string text = printed(graph_);
  EXPECT_NE(text.find("label=\"batch\""), std::string::npos) << text;
  const hipGraphExec_t exec = instantiate();
  run(exec);
  EXPECT_EQ(words(2), (std::vector<std::uint32_t>{6, 7}));
  destroy(exec);
}

TEST_F(BatchNodes, WrongOnesAreRefused) {
  Operations good{writing(0, 1)};
  hipBatchMemOpNodeParams parameters = parameters_of(good);
  hipGraphNode_t node = nullptr;
  const auto add_one = [&](hipGraphNode_t* made, hipGraph_t graph, std::size_t count,
                           const hipBatchMemOpNodeParams* given) {
    return HIP(hipGraphAddBatchMemOpNode)(made, graph, nullptr, count, given);
  };
  EXPECT_EQ(add_one(nullptr, graph_, 0, &parameters), kInvalid);
  EXPECT_EQ(add_one(&node, nullptr, 0, &parameters), kInvalid);
  EXPECT_EQ(add_one(&node, graph_, 1, &parameters), kInvalid) << "no dependencies";
  EXPECT_EQ(add_one(&node, graph_, 0, nullptr), kInvalid);
  int here = 0;
  const auto bad = static_cast<hipStreamBatchMemOpType>(7);
  for (const auto& operation :
       {writing(0, 1, hipStreamMemOpBarrier), writing(0, 1, hipStreamMemOpFlushRemoteWrites),
        writing(0, 1, bad), write_to(nullptr, 1, hipStreamMemOpWriteValue32),
        writing(1, 1, hipStreamMemOpWriteValue64), wait_for(words_, 1, 17),
        write_to(&here, 1, hipStreamMemOpWriteValue32)}) {
    Operations operations{good[0], operation};
    parameters = parameters_of(operations);
    EXPECT_EQ(add_one(&node, graph_, 0, &parameters), kInvalid) << operation.operation;
  }
  parameters = parameters_of(good);
  for (const unsigned count : {0u, 257u, ~0u}) {
    parameters.count = count;
    EXPECT_EQ(add_one(&node, graph_, 0, &parameters), kInvalid) << count;
  }
  parameters = parameters_of(good);
  parameters.flags = 1;
  EXPECT_EQ(add_one(&node, graph_, 0, &parameters), kInvalid);
  EXPECT_EQ(node, nullptr);
}

TEST_F(BatchNodes, WrongNodesAreRefused) {
  const hipGraphNode_t filled = add_fill(0, 1, {});
  const hipGraphNode_t node = add({writing(0, 1)});
  hipBatchMemOpNodeParams told{};
  EXPECT_EQ(HIP(hipGraphBatchMemOpNodeGetParams)(nullptr, &told), kInvalid);
  EXPECT_EQ(HIP(hipGraphBatchMemOpNodeGetParams)(filled, &told), kInvalid) << "another kind";
  EXPECT_EQ(HIP(hipGraphBatchMemOpNodeGetParams)(node, nullptr), kInvalid);
  EXPECT_EQ(HIP(hipGraphBatchMemOpNodeSetParams)(node, nullptr), kInvalid);
  EXPECT_EQ(set(nullptr, {writing(0, 1)}), kInvalid);
  EXPECT_EQ(set(filled, {writing(0, 1)}), kInvalid) << "another kind";
  EXPECT_EQ(set(node, {writing(0, 1, hipStreamMemOpBarrier)}), kInvalid);
  ASSERT_EQ(HIP(hipGraphDestroyNode)(node), hipSuccess);
  EXPECT_EQ(HIP(hipGraphBatchMemOpNodeGetParams)(node, &told), kInvalid) << "it is destroyed";
  EXPECT_EQ(set(node, {writing(0, 1)}), kInvalid) << "it is destroyed";
}

}  // namespace
}  // namespace tf::majors
