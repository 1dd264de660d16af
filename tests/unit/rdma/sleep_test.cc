// SPDX-License-Identifier: Apache-2.0
// That an end with nothing to do really sleeps, and is woken. What it looks at is counted, not timed.
#include <algorithm>
#include <deque>
#include <string>
#include <thread>

#include "tests/support/peer.h"
#include "tests/unit/rdma/endpoints_fixture.h"

namespace tf::rdma {
namespace {

struct Sleeper {
  bool client;
  Interest interest;
};

class SleepTest : public EndpointsTest, public testing::WithParamInterface<Sleeper> {
 protected:
  Endpoint& sleeper() { return GetParam().client ? *pair_.client : *pair_.server; }
  Endpoint& other() { return GetParam().client ? *pair_.server : *pair_.client; }

  // Looks of one wait in which nothing comes and which has asked for events: of many the one with the fewest,
  // or the first with no more than kFew. Whoever waits spins at first, and learns that it does not pay; now
  // and then it tries again.
  static constexpr std::uint64_t kFew = 256;  // most of them before the clock is read
  std::uint64_t looks_of_an_idle_wait() {
    std::uint64_t fewest = UINT64_MAX;
    for (int wait = 0; wait < 200 && fewest > kFew; ++wait) {
      const test::FakeCounters before = fabric_.counters();
      const Status status =
          sleeper().wait(GetParam().interest, Deadline::after(std::chrono::milliseconds(20)));
      EXPECT_EQ(status.code(), Code::kTimeout) << status.to_string();
      const test::FakeCounters after = fabric_.counters();
      if (after.armings != before.armings) fewest = std::min(fewest, after.polls - before.polls);
    }
    return fewest;
  }

  // Completion queues that a sleep asks for events: three of each plane.
  std::uint64_t queues() const { return GetParam().interest == Interest::kBoth ? 6 : 3; }

  // Something for the sleeper: payload, if it sleeps for nothing else.
  void say(std::uint32_t id) {
    if (wants(GetParam().interest, Interest::kMessages)) {
      EXPECT_TRUE(test::try_publish(other(), 1, id, memory_).is_ok());
      return;
    }
    id_ = id;
    EXPECT_TRUE(other().bulk().send(id, memory_, ends_.emplace_back()).is_ok());
    EXPECT_TRUE(other().bulk().move_payload().is_ok());
  }
  // The sleeper takes it.
  void hear() {
    struct Nothing final : MessageSink {
      Status on_message(const FrameHeader&, std::span<const std::byte>) override { return Status::ok(); }
    } sink;
    EXPECT_TRUE(sleeper().poll(sink, 8).is_ok());
    if (ends_.empty()) return;
    EXPECT_TRUE(sleeper().bulk().receive(id_, target_, ends_.emplace_back()).is_ok());
    EXPECT_TRUE(move_until_done(ends_));
    ends_.clear();
    EXPECT_TRUE(fabric_.wait_idle());
    static_cast<void>(sleeper().bulk().move_payload());
  }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(100);
  std::vector<std::byte> target_ = std::vector<std::byte>(100);
  std::deque<BulkCompletion> ends_;
  std::uint32_t id_ = 0;
};

TEST_P(SleepTest, AnIdleWaitComesToLookSeldom) { EXPECT_LE(looks_of_an_idle_wait(), kFew); }

TEST_P(SleepTest, WhatComesWakesIt) {
  for (std::uint32_t round = 1; round <= 5; ++round) {
    const test::FakeCounters before = fabric_.counters();
    Status woken;
    std::thread waiting(
        [&] { woken = sleeper().wait(GetParam().interest, Deadline::after(std::chrono::seconds(20))); });
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    // Two queues at least bring what it may wait for. It looks once more then, or sleeps already.
    while (fabric_.counters().armings < before.armings + 2 && !deadline.passed()) std::this_thread::yield();
    say(round);
    waiting.join();
    ASSERT_TRUE(woken.is_ok()) << woken.to_string();
    const test::FakeCounters after = fabric_.counters();
    EXPECT_GT(after.events, before.events) << "by an event of its channel";
    EXPECT_LE(after.armings, before.armings + queues())
        << "what has come is looked at before more is asked for";
    hear();
  }
  EXPECT_LE(looks_of_an_idle_wait(), kFew) << "events that are left in a channel end every sleep";
}

INSTANTIATE_TEST_SUITE_P(All, SleepTest,
                         testing::Values(Sleeper{true, Interest::kMessages}, Sleeper{true, Interest::kBulk},
                                         Sleeper{true, Interest::kBoth}, Sleeper{false, Interest::kMessages},
                                         Sleeper{false, Interest::kBulk}, Sleeper{false, Interest::kBoth}),
                         [](const testing::TestParamInfo<Sleeper>& each) {
                           const char* const of = each.param.interest == Interest::kMessages ? "Messages"
                                                  : each.param.interest == Interest::kBulk   ? "Bulk"
                                                                                             : "Both";
                           return std::string(each.param.client ? "Client" : "Worker") + of;
                         });

}  // namespace
}  // namespace tf::rdma
