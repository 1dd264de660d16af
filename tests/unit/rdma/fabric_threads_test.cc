// SPDX-License-Identifier: Apache-2.0
// Threads of both sides at once, asleep and awake: for the thread sanitizer, and for what the locks hide.
#include <poll.h>

#include <atomic>

#include "tests/unit/rdma/side.h"

namespace tf::test {
namespace {

constexpr std::uint32_t kMessages = 300;
constexpr std::size_t kSlots = 8;  // of the ring, 64 bytes each
constexpr std::size_t kSlotBytes = 64;
constexpr std::size_t kCreditAt = 2048;  // in the sender's memory
constexpr std::size_t kStagingAt = 1024;

using FabricThreads = FabricTest;

void write_credit(Side& side, const Side& peer, std::uint64_t consumed, unsigned flags) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(&consumed), 8, 0};
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_INLINE | flags;
  wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(peer.memory.data() + kCreditAt), peer.mr->rkey};
  EXPECT_EQ(side.post(wr), 0);
}

// Writes message after message into the peer's ring, as far as the credit word lets it.
void produce(Side& side, const Side& peer) {
  auto& credit = *reinterpret_cast<std::uint64_t*>(side.memory.data() + kCreditAt);
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    while (std::atomic_ref(credit).load(std::memory_order_acquire) + kSlots <= i) std::this_thread::yield();
    const std::size_t slot = i % kSlots * kSlotBytes;
    std::memset(side.memory.data() + kStagingAt + slot, static_cast<int>(i & 0xff), kSlotBytes);
    EXPECT_EQ(side.post(peer, IBV_WR_RDMA_WRITE_WITH_IMM, kStagingAt + slot, kSlotBytes, slot, i,
                        IBV_SEND_SIGNALED, i),
              0);
    EXPECT_EQ(side.next().wr_id, i);
  }
}

// Sleeps until told, looks at the bytes, and gives the slot back.
void consume(Side& side, const Side& peer) {
  std::uint32_t seen = 0;
  unsigned events = 0;
  while (seen < kMessages && !testing::Test::HasFailure()) {
    ASSERT_EQ(side.verbs.req_notify_cq(side.cq, 0), 0);
    ibv_wc wc{};
    int count = side.verbs.poll_cq(side.cq, 1, &wc);
    if (count == 0) {
      pollfd entry{side.channel->fd, POLLIN, 0};
      ASSERT_EQ(::poll(&entry, 1, 10'000), 1);
      ibv_cq* cq = nullptr;
      void* user = nullptr;
      ASSERT_EQ(side.verbs.get_cq_event(side.channel, &cq, &user), 0);
      ++events;
      continue;
    }
    ASSERT_EQ(wc.status, IBV_WC_SUCCESS) << side.verbs.wc_status_str(wc.status);
    if (wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM) continue;  // a credit
    ASSERT_EQ(wc.imm_data, seen);
    ASSERT_EQ(side.text(seen % kSlots * kSlotBytes, kSlotBytes),
              std::string(kSlotBytes, static_cast<char>(seen & 0xff)));
    ASSERT_EQ(side.post_receive(), 0);
    ++seen;
    write_credit(side, peer, seen, seen % 4 == 0 ? unsigned{IBV_SEND_SIGNALED} : 0u);
  }
  side.verbs.ack_cq_events(side.cq, events);
}

TEST_F(FabricThreads, ARingWithCredits) {
  connect({}, {.device = 1, .channel = true});
  for (int i = 0; i < 16; ++i) ASSERT_EQ(right->post_receive(), 0);
  std::thread consumer([&] { consume(*right, *left); });
  produce(*left, *right);
  consumer.join();
  EXPECT_EQ(fabric.counters().rnr, 0u);
}

TEST_F(FabricThreads, MakingAndDestroyingBesideTraffic) {
  connect();
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      Side a(fabric), b(fabric, {.device = 1});
      a.connect(b);
      b.connect(a);
      EXPECT_EQ(a.post(b, IBV_WR_RDMA_READ, 0, 64), 0);
      EXPECT_EQ(a.to_error(), 0);
      const ibv_wc wc = a.next();
      EXPECT_TRUE(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR);
    }
  });
  for (std::uint64_t i = 0; i < 500; ++i) {
    EXPECT_EQ(left->post(*right, IBV_WR_RDMA_WRITE, 0, 64, 0, i), 0);
    EXPECT_EQ(left->next().wr_id, i);
  }
  stop = true;
  other.join();
}

}  // namespace
}  // namespace tf::test
