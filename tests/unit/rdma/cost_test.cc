// SPDX-License-Identifier: Apache-2.0
// What the transport asks of the device: requests, doorbells and completions for each posted message under
// load, for each synchronous call, and for each MiB of payload. Printed, and bounded by at most one and a
// half times what docs/performance.md says.
#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <thread>

#include "tests/support/peer.h"
#include "tests/unit/rdma/endpoints_fixture.h"

namespace tf::rdma {
namespace {

using test::Peer;

struct Cost {
  double requests = 0;
  double doorbells = 0;
  double completions = 0;
  double receive_doorbells = 0;
};

class CostTest : public EndpointsTest {
 protected:
  void SetUp() override {
    EndpointsTest::SetUp();
    before_ = fabric_.counters();
  }

  // Of both ends since the start.
  Cost cost(const char* what, double units) {
    EXPECT_TRUE(fabric_.wait_idle());
    const test::FakeCounters now = fabric_.counters();
    const Cost cost{static_cast<double>(now.work_requests - before_.work_requests) / units,
                    static_cast<double>(now.doorbells - before_.doorbells) / units,
                    static_cast<double>(now.completions - before_.completions) / units,
                    static_cast<double>(now.receive_doorbells - before_.receive_doorbells) / units};
    std::printf(
        "per %s: %.3f requests, %.3f doorbells, %.3f completions of sends, %.3f doorbells of receives\n",
        what, cost.requests, cost.doorbells, cost.completions, cost.receive_doorbells);
    return cost;
  }

  test::FakeCounters before_;
};

TEST_F(CostTest, PostedMessagesUnderLoad) {
  constexpr std::uint32_t kBurst = 1000;
  constexpr std::uint32_t kBursts = 20;
  Peer client(std::move(pair_.client));
  Peer worker(std::move(pair_.server));
  const std::vector<std::byte> payload(100);
  for (std::uint32_t burst = 0; burst < kBursts; ++burst) {
    for (std::uint32_t id = 1; id <= kBurst; ++id) ASSERT_TRUE(client.send(1, id, payload).is_ok());
    for (std::uint32_t id = 1; id <= kBurst; ++id) ASSERT_EQ(worker.receive().value().header.request_id, id);
  }
  const Cost each = cost("posted message under load", kBurst * kBursts);
  EXPECT_LE(each.requests, 0.03);  // with how far the worker is when it READs
  EXPECT_LE(each.doorbells, 0.028);
  EXPECT_LT(each.doorbells, each.requests) << "chains of READs";
  EXPECT_LE(each.completions, 0.009);
}

TEST_F(CostTest, SynchronousCalls) {
  constexpr std::uint32_t kCalls = 2000;
  Peer client(std::move(pair_.client));
  Peer worker(std::move(pair_.server));
  const std::vector<std::byte> payload(100);
  for (std::uint32_t id = 1; id <= kCalls; ++id) {
    ASSERT_TRUE(client.send(1, id, payload).is_ok());
    ASSERT_TRUE(fabric_.wait_idle());  // or it were chance who sleeps, and says before that it does not look
    ASSERT_EQ(worker.receive().value().header.request_id, id);
    ASSERT_TRUE(worker.send(1, id, payload).is_ok());
    ASSERT_TRUE(fabric_.wait_idle());
    ASSERT_EQ(client.receive().value().header.request_id, id);
  }
  const Cost each = cost("synchronous call", kCalls);
  EXPECT_LE(each.requests, 2.01);  // and a pad now and then
  EXPECT_LE(each.doorbells, 2.01);
  EXPECT_LE(each.completions, 0.3);
  EXPECT_LE(each.receive_doorbells, 0.26) << "receives are posted again eight at a time";
}

// A request of the client, and the bytes that it asks for.
TEST_F(CostTest, SmallCopiesFromTheWorker) {
  constexpr std::uint32_t kCopies = 1000;
  const std::vector<std::byte> source = test::pattern(4096, 5);
  std::vector<std::byte> target(source.size());
  for (std::uint32_t copy = 0; copy < kCopies; ++copy) {
    std::deque<BulkCompletion> ends(2);
    ASSERT_TRUE(pair_.client->bulk().receive(copy, target, ends[0]).is_ok());
    ASSERT_TRUE(
        fabric_.wait_idle());  // or the worker would ask for it; the client announces before it requests
    ASSERT_TRUE(pair_.server->bulk().send(copy, source, ends[1]).is_ok());
    ASSERT_TRUE(move_until_done(ends));
  }
  EXPECT_EQ(target, source);
  const Cost each = cost("small copy from the worker", kCopies);
  EXPECT_LE(each.requests, 2.3);  // an announcement, the bytes
  EXPECT_LE(each.doorbells, 2.3);
  EXPECT_LE(each.completions, 0.375);
}

TEST_F(CostTest, Payload) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const std::vector<std::byte> source = test::pattern(kBytes, 1);
  std::vector<std::byte> target(kBytes);
  for (const bool to_worker : {true, false}) {
    for (const bool remembered : {true, false}) {
      before_ = fabric_.counters();
      Endpoint& from = to_worker ? *pair_.client : *pair_.server;
      Endpoint& to = to_worker ? *pair_.server : *pair_.client;
      const std::span<std::byte> out(const_cast<std::byte*>(source.data()), kBytes);
      if (remembered) {
        from.bulk().remember(out);
        to.bulk().remember(target);
      }
      std::fill(target.begin(), target.end(), std::byte{0});
      BulkCompletion sent, received;
      ASSERT_TRUE(to.bulk().receive(7, target, received).is_ok());
      ASSERT_TRUE(from.bulk().send(7, source, sent).is_ok());
      const Deadline deadline = Deadline::after(std::chrono::seconds(60));
      while (!(sent.done() && received.done()) && !deadline.passed()) {
        ASSERT_TRUE(from.bulk().move_payload().is_ok());
        ASSERT_TRUE(to.bulk().move_payload().is_ok());
      }
      ASSERT_TRUE(sent.done() && received.done());
      EXPECT_EQ(test::find_mismatch(target, 1), test::kNoMismatch);
      const Cost each = cost(remembered ? "MiB of remembered memory" : "MiB of other memory", kBytes >> 20);
      EXPECT_LE(each.requests, remembered ? 0.6 : 4.0);
      EXPECT_LE(each.doorbells, remembered ? 0.6 : 4.0);
      EXPECT_LE(each.completions, remembered ? 0.24 : 1.9);
      if (remembered) {
        from.bulk().forget(out);
        to.bulk().forget(target);
      }
    }
  }
  EXPECT_TRUE(fabric_.wait_idle());
}

}  // namespace
}  // namespace tf::rdma
