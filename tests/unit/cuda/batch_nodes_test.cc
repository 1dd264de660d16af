// SPDX-License-Identifier: Apache-2.0
// Nodes of batches of stream operations become the driver's own. On a driver that only remembers.
#include "hipcore/newer/hip_types.h"
#include "tests/api/newer_graphs.h"
#include "tests/unit/cuda/fixture.h"

namespace tf::fake_cuda {
namespace {

class BatchNodes : public CudaRuntime {
 protected:
  BatchNodes() {
    EXPECT_EQ(hipGraphCreate(&graph_, 0), hipSuccess);
    wait_.operation = hipStreamMemOpWaitValue64;
    wait_.waitValue.address = at(State::kAllocation);
    wait_.waitValue.value64 = 1ull << 40;
    wait_.waitValue.flags = hipStreamWaitValueAnd;
    operations_[0] = wait_;
    operations_[1].operation = hipStreamMemOpWriteValue32;
    operations_[1].writeValue.address = at(State::kAllocation + 8);
    operations_[1].writeValue.value = 7;
  }
  ~BatchNodes() override { static_cast<void>(hipGraphDestroy(graph_)); }

  hipStreamBatchMemOpParams wait_{};
  hipStreamBatchMemOpParams operations_[2]{};
  hipBatchMemOpNodeParams parameters_{nullptr, 2, operations_, 0};
  hipGraph_t graph_ = nullptr;
  hipGraphNode_t node_ = nullptr;
};

TEST_F(BatchNodes, AreTheDrivers) {
  ASSERT_EQ(hipGraphAddBatchMemOpNode(&node_, graph_, nullptr, 0, &parameters_), hipSuccess);
  operations_[1].writeValue.value = 9;  // the node has its own
  driver_->nodes.clear();
  driver_->batch.clear();
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&exec, graph_, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(driver_->nodes.size(), 1u);
  EXPECT_EQ(driver_->nodes[0].name, "GraphAddBatchMemOpNode");
  EXPECT_NE(driver_->batch_context, nullptr);
  ASSERT_EQ(driver_->batch.size(), 2u);
  EXPECT_EQ(driver_->batch[0].operation, hipStreamMemOpWaitValue64);
  EXPECT_EQ(driver_->batch[0].waitValue.address, wait_.waitValue.address);
  EXPECT_EQ(driver_->batch[0].waitValue.value64, wait_.waitValue.value64);
  EXPECT_EQ(driver_->batch[0].waitValue.flags, static_cast<unsigned>(hipStreamWaitValueAnd));
  EXPECT_EQ(driver_->batch[1].writeValue.value, 7u);
  EXPECT_EQ(hipGraphLaunch(exec, stream_), hipSuccess);
  EXPECT_EQ(calls("GraphLaunch"), 1);
  EXPECT_EQ(calls("StreamWaitValue64") + calls("StreamWriteValue32"), 0);

  ASSERT_EQ(hipGraphExecBatchMemOpNodeSetParams(exec, node_, &parameters_), hipSuccess);
  EXPECT_EQ(driver_->batch[1].writeValue.value, 9u);
  EXPECT_EQ(calls("GraphExecUpdate"), 1);
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
}

TEST_F(BatchNodes, TheDriverIsAskedWhenOneIsAdded) {
  driver_->failures["GraphAddBatchMemOpNode"] = cuda::driver::Result::INVALID_VALUE;
  EXPECT_EQ(hipGraphAddBatchMemOpNode(&node_, graph_, nullptr, 0, &parameters_), hipErrorInvalidValue);
  operations_[0].operation = hipStreamMemOpBarrier;
  driver_->calls.clear();
  EXPECT_EQ(hipGraphAddBatchMemOpNode(&node_, graph_, nullptr, 0, &parameters_), hipErrorInvalidValue);
  EXPECT_TRUE(driver_->calls.empty());
  EXPECT_EQ(node_, nullptr);
}

}  // namespace
}  // namespace tf::fake_cuda
