// SPDX-License-Identifier: Apache-2.0
// The library's own verbs, where this machine has a RoCE device: that our table reaches them, and that what
// the provider of the tests is strict about is what real ones do (which may forgive more: soft-RoCE frees the
// slots of requests that nobody was told of). All skipped elsewhere.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "rdma/device.h"
#include "tests/unit/rdma/side.h"

namespace tf::test {
namespace {

class RealVerbs : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<const rdma::Verbs*> loaded = rdma::load_verbs();
    if (!loaded) GTEST_SKIP() << loaded.status().message();
    verbs = loaded.value();
    int count = 0;
    ibv_device** const list = verbs->get_device_list(&count);
    if (list != nullptr) verbs->free_device_list(list);
    if (list == nullptr || count == 0) GTEST_SKIP() << "no RDMA device";
    left = std::make_unique<Side>(*verbs, SideOptions{});
    right = std::make_unique<Side>(*verbs, SideOptions{.device = count > 1 ? 1 : 0, .channel = true});
    left->connect(*right);
    right->connect(*left);
  }

  const rdma::Verbs* verbs = nullptr;
  std::unique_ptr<Side> left, right;
};

TEST_F(RealVerbs, ADeviceOpens) {
  for (const std::string& line : rdma::describe_devices(*verbs)) RecordProperty("device", line);
  const Result<std::unique_ptr<rdma::Device>> opened = rdma::Device::open(*verbs, {});
  ASSERT_TRUE(opened.is_ok()) << opened.status().to_string();
  const rdma::DeviceLimits& limits = opened.value()->limits();
  EXPECT_GE(limits.inline_bytes, 32u);
  EXPECT_GE(limits.reads_asked, 1);
  EXPECT_GE(limits.reads_answered, 1);
  EXPECT_GE(limits.message_bytes, 1u << 20);
  EXPECT_GE(rdma::mtu_bytes(opened.value()->path().mtu), 256u);
}

TEST_F(RealVerbs, WriteReadAndImmediate) {
  left->fill(0, "hello");
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 5, 64, 1, 0), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_READ, 100, 5, 64, 2), 0);
  ibv_wc wc = left->next();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS) << verbs->wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, 2u);
  EXPECT_EQ(left->text(100, 5), "hello");
  ASSERT_EQ(right->post_receive(7), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 5, 8, 3, IBV_SEND_INLINE, 0x12345678), 0);
  wc = right->next();
  EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wc.byte_len, 5u);
  EXPECT_EQ(wc.imm_data, 0x12345678u);
  EXPECT_EQ(right->text(8, 5), "hello");
}

// What is registered shares its pages with whatever lies beside it, and both are a child's, too (but on
// kernels before 5.12, which have to choose).
TEST_F(RealVerbs, AChildHasItsParentsMemory) {
  left->fill(0, "hello");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool same = left->text(0, 5) == "hello";
    left->fill(0, "child");
    ::_exit(same ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  left->fill(0, "after");
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_READ, 100, 5, 64, 2), 0);
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 5, 64, 3), 0);
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  EXPECT_EQ(right->text(64, 5), "after") << "the device has the pages that the parent writes to";
}

TEST_F(RealVerbs, AnEventWhenArmed) {
  ASSERT_EQ(right->post_receive(7), 0);
  ASSERT_EQ(verbs->req_notify_cq(right->cq, 0), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0), 0);
  ibv_cq* cq = nullptr;
  void* user = nullptr;
  ASSERT_EQ(verbs->get_cq_event(right->channel, &cq, &user), 0);
  EXPECT_EQ(cq, right->cq);
  EXPECT_EQ(user, right.get());
  verbs->ack_cq_events(cq, 1);
  EXPECT_EQ(right->next().byte_len, 0u);
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
}

TEST_F(RealVerbs, AWrongKeyEndsBothQueuePairs) {
  ASSERT_EQ(right->post_receive(8), 0);
  right->mr->rkey ^= 0x5500;
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8, 0, 5, 0), 0);
  right->mr->rkey ^= 0x5500;
  ibv_wc wc = left->next();
  EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR) << verbs->wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, 5u);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8, 0, 6, 0), 0);
  EXPECT_EQ(left->next().status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(right->next().wr_id, 8u) << "flushed";
}

TEST_F(RealVerbs, NoReceiveGivesUp) {
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 4), 0);
  EXPECT_EQ(left->next().status, IBV_WC_RNR_RETRY_EXC_ERR);
}

TEST_F(RealVerbs, MasksAreNeeded) {
  Side other(*verbs);
  ibv_qp_attr wanted = other.rtr(*left);
  EXPECT_EQ(verbs->modify_qp(other.qp, &wanted, Side::kRtrMask), EINVAL) << "before INIT";
  ASSERT_EQ(other.to_init(), 0);
  EXPECT_EQ(verbs->modify_qp(other.qp, &wanted, Side::kRtrMask & ~IBV_QP_PATH_MTU), EINVAL);
  EXPECT_EQ(verbs->modify_qp(other.qp, &wanted, Side::kRtrMask), 0);
}

}  // namespace
}  // namespace tf::test
