// SPDX-License-Identifier: Apache-2.0
// What arrives, when, and what completes.
#include <algorithm>
#include <atomic>

#include "tests/unit/rdma/side.h"

namespace tf::test {
namespace {

using FabricTraffic = FabricTest;
using std::chrono::milliseconds;

TEST_F(FabricTraffic, WriteArrivesAndOnlyItsSenderIsTold) {
  connect();
  left->fill(0, "hello");
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 5, 64, 42), 0);
  const ibv_wc wc = left->next();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.wr_id, 42u);
  EXPECT_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(wc.qp_num, left->qp->qp_num);
  EXPECT_TRUE(right->is_empty());
  EXPECT_EQ(right->text(64, 5), "hello");
}

TEST_F(FabricTraffic, WriteWithImmediateTakesAReceiveAndTellsTheLength) {
  connect();
  ASSERT_EQ(right->post_receive(7), 0);
  left->fill(0, "data");
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 4, 8, 1, 0, 0x12345678), 0);
  const ibv_wc wc = right->next();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wc.wr_id, 7u);
  EXPECT_EQ(wc.byte_len, 4u);
  EXPECT_EQ(wc.imm_data, 0x12345678u);
  EXPECT_EQ(wc.wc_flags & IBV_WC_WITH_IMM, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(wc.qp_num, right->qp->qp_num);
  EXPECT_EQ(right->text(8, 4), "data");
  ASSERT_TRUE(fabric.wait_idle());
  EXPECT_TRUE(left->is_empty()) << "not signalled";
}

TEST_F(FabricTraffic, EmptyWriteWithImmediateNeedsNoKey) {
  connect();
  ASSERT_EQ(right->post_receive(), 0);
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  wr.imm_data = 5;
  ASSERT_EQ(left->post(wr), 0);
  const ibv_wc wc = right->next();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.byte_len, 0u);
  EXPECT_EQ(wc.imm_data, 5u);
}

TEST_F(FabricTraffic, ReadFetches) {
  connect();
  right->fill(100, "remote");
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_READ, 10, 6, 100), 0);
  const ibv_wc wc = left->next();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(wc.byte_len, 6u);
  EXPECT_EQ(left->text(10, 6), "remote");
}

TEST_F(FabricTraffic, SendIsScatteredOverTheReceive) {
  connect();
  std::array<ibv_sge, 2> to{right->piece(0, 3), right->piece(100, 50)};
  ibv_recv_wr receive{.wr_id = 3, .next = nullptr, .sg_list = to.data(), .num_sge = 2};
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(right->verbs.post_recv(right->qp, &receive, &bad), 0);
  left->fill(0, "abcdefgh");
  ASSERT_EQ(left->post(*right, IBV_WR_SEND_WITH_IMM, 0, 8, 0, 1, IBV_SEND_SIGNALED, 9), 0);
  EXPECT_EQ(left->next().opcode, IBV_WC_SEND);
  const ibv_wc wc = right->next();
  EXPECT_EQ(wc.opcode, IBV_WC_RECV);
  EXPECT_EQ(wc.byte_len, 8u);
  EXPECT_EQ(wc.imm_data, 9u);
  EXPECT_EQ(right->text(0, 3) + right->text(100, 5), "abcdefgh");
}

TEST_F(FabricTraffic, SeveralPiecesAreGathered) {
  connect();
  left->fill(0, "ab");
  left->fill(200, "cd");
  std::array<ibv_sge, 3> from{left->piece(0, 2), left->piece(0, 0), left->piece(200, 2)};
  ibv_send_wr wr{};
  wr.sg_list = from.data();
  wr.num_sge = 3;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(right->memory.data()), right->mr->rkey};
  ASSERT_EQ(left->post(wr), 0);
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  EXPECT_EQ(right->text(0, 4), "abcd");
}

TEST_F(FabricTraffic, BytesAreReadWhenExecutedButInlineOnesWhenPosted) {
  connect();
  fabric.set_watching(false);
  fabric.pause();
  left->fill(0, "old");
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 3, 0, 1, 0), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 3, 8, 2, IBV_SEND_INLINE | IBV_SEND_SIGNALED), 0);
  left->fill(0, "new");
  EXPECT_TRUE(left->is_empty());
  fabric.resume();
  EXPECT_EQ(left->next().wr_id, 2u);
  EXPECT_EQ(right->text(0, 3), "new");
  EXPECT_EQ(right->text(8, 3), "old");
}

TEST_F(FabricTraffic, InlineNeedsNoLocalKey) {
  connect();
  std::uint64_t word = 77;
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(&word), 8, 0};
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(right->memory.data()), right->mr->rkey};
  ASSERT_EQ(left->post(wr), 0);
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  std::memcpy(&word, right->memory.data(), 8);
  EXPECT_EQ(word, 77u);
}

TEST_F(FabricTraffic, AllAreSignalledWhereTheQueuePairSaysSo) {
  connect({.all_signalled = true});
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 4, 0, 5, 0), 0);
  EXPECT_EQ(left->next().wr_id, 5u);
}

TEST_F(FabricTraffic, CompletionsComeInOrder) {
  connect();
  for (std::uint64_t i = 0; i < 16; ++i)
    ASSERT_EQ(left->post(*right, i % 3 == 0 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, 8, 0, i), 0);
  for (std::uint64_t i = 0; i < 16; ++i) EXPECT_EQ(left->next().wr_id, i);
}

// What a producer and a fetching consumer rely on: words are whole, and a WRITE comes before the READ behind
// it.
TEST_F(FabricTraffic, WordsMayBePolled) {
  connect();
  auto& word = *reinterpret_cast<std::uint64_t*>(right->memory.data());
  for (std::uint64_t i = 1; i <= 100; ++i) {
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(&i), 8, 0};
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
    wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(&word), right->mr->rkey};
    ASSERT_EQ(left->post(wr), 0);
    while (std::atomic_ref(word).load(std::memory_order_acquire) != i) std::this_thread::yield();
    EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  }
}

TEST_F(FabricTraffic, LateReadsAreOvertakenUnlessFenced) {
  connect();
  fabric.set_read_lateness(std::chrono::hours(1));
  left->fill(0, "new");
  right->fill(0, "old");
  fabric.pause();
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_READ, 100, 3, 0, 1), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 3, 0, 2), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 8, 3, 8, 3, IBV_SEND_SIGNALED | IBV_SEND_FENCE), 0);
  fabric.resume();
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(left->next().wr_id, i);
  EXPECT_EQ(left->text(100, 3), "new") << "the READ may see the WRITE behind it";

  right->fill(0, "old");
  fabric.pause();
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_READ, 100, 3, 0, 1), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 3, 0, 2, IBV_SEND_SIGNALED | IBV_SEND_FENCE), 0);
  fabric.resume();
  for (std::uint64_t i = 1; i <= 2; ++i) EXPECT_EQ(left->next().wr_id, i);
  EXPECT_EQ(left->text(100, 3), "old");
}

TEST_F(FabricTraffic, NoMoreReadsAreUnderWayThanAgreed) {
  connect();
  fabric.set_read_lateness(std::chrono::hours(1));
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(left->post(*right, IBV_WR_RDMA_READ, 0, 8, 0, i), 0);
  EXPECT_EQ(left->next().wr_id, 0u) << "the fifth has to wait for it";
  EXPECT_FALSE(fabric.wait_idle(milliseconds(2)));
  EXPECT_TRUE(left->is_empty());
}

TEST_F(FabricTraffic, DelayedCompletionsDoNotDelayExecution) {
  connect();
  fabric.set_completion_delay(std::chrono::hours(1));
  ASSERT_EQ(right->post_receive(), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 4, 0, 1), 0);
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 4, 0, 2), 0);
  EXPECT_EQ(right->next().status, IBV_WC_SUCCESS);
  EXPECT_TRUE(left->is_empty());
  ASSERT_EQ(left->to_error(), 0);
  EXPECT_EQ(left->next().status, IBV_WC_WR_FLUSH_ERR) << "arrived, but nobody said so";
}

TEST_F(FabricTraffic, ExecutionCanBeDelayed) {
  connect();
  fabric.set_execution_delay(std::chrono::hours(1));
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 4), 0);
  EXPECT_FALSE(fabric.wait_idle(milliseconds(5)));
  fabric.set_execution_delay(std::chrono::nanoseconds(0));
}

TEST_F(FabricTraffic, JitterKeepsTheOrderOfAQueuePair) {
  connect();
  fabric.set_jitter(std::chrono::microseconds(50), 3);
  for (std::uint64_t i = 0; i < 16; ++i) ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 8, 0, i), 0);
  for (std::uint64_t i = 0; i < 16; ++i) EXPECT_EQ(left->next().wr_id, i);
}

TEST_F(FabricTraffic, BothWaysAtOnceOverOneDevice) {
  connect({}, {});
  left->fill(0, "L");
  right->fill(1, "R");
  ASSERT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 1, 0), 0);
  ASSERT_EQ(right->post(*left, IBV_WR_RDMA_WRITE, 1, 1, 1), 0);
  EXPECT_EQ(left->next().status, IBV_WC_SUCCESS);
  EXPECT_EQ(right->next().status, IBV_WC_SUCCESS);
  EXPECT_EQ(left->text(0, 2), "LR");
  EXPECT_EQ(right->text(0, 2), "LR");
}

TEST_F(FabricTraffic, Counters) {
  connect();
  ASSERT_EQ(right->post_receive(), 0);
  ibv_sge sge = left->piece(0, 16);
  ibv_send_wr second{};
  second.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  second.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr first{};
  first.next = &second;
  first.sg_list = &sge;
  first.num_sge = 1;
  first.opcode = IBV_WR_RDMA_READ;
  first.wr.rdma = {reinterpret_cast<std::uintptr_t>(right->memory.data()), right->mr->rkey};
  ASSERT_EQ(left->post(first), 0);
  left->next();
  right->next();
  const FakeCounters counted = fabric.counters(left->qp->qp_num);
  EXPECT_EQ(counted.work_requests, 2u);
  EXPECT_EQ(counted.doorbells, 1u);
  EXPECT_EQ(counted.completions, 1u);
  EXPECT_EQ(counted.executed[IBV_WR_RDMA_READ], 1u);
  EXPECT_EQ(counted.executed[IBV_WR_RDMA_WRITE_WITH_IMM], 1u);
  EXPECT_EQ(counted.bytes_read, 16u);
  EXPECT_EQ(fabric.counters(right->qp->qp_num).receives, 1u);
  EXPECT_EQ(fabric.counters(right->qp->qp_num).receive_completions, 1u);
  EXPECT_EQ(fabric.counters().rnr, 0u);
  EXPECT_EQ(fabric.counters().registrations, 2u);
  EXPECT_EQ(fabric.counters().armings, 0u);
  const std::uint64_t polls = fabric.counters().polls;
  EXPECT_TRUE(left->is_empty());
  EXPECT_EQ(fabric.counters().polls, polls + 1);
}

}  // namespace
}  // namespace tf::test
