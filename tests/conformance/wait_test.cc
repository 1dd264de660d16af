// SPDX-License-Identifier: Apache-2.0
// wait(): deadlines, and that no wake-up is ever lost.
#include <random>
#include <thread>

#include "tests/conformance/fixture.h"

namespace tf::conformance {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using test::Message;
using test::Peer;

class Wait : public Conformance {};
INSTANTIATE_TEST_SUITE_P(All, Wait, testing::ValuesIn(all_cases()), case_name);
class WaitHere : public Conformance {};
INSTANTIATE_TEST_SUITE_P(All, WaitHere, testing::ValuesIn(in_process_cases()), case_name);

TEST_P(WaitHere, EndsAtItsDeadline) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  for (const Interest interest : {Interest::kMessages, Interest::kBulk, Interest::kBoth}) {
    const auto start = Deadline::Clock::now();
    const Deadline deadline = Deadline::after(milliseconds(30));
    Status status;
    while (status.is_ok()) status = pair.client->wait(interest, deadline);  // it may return early
    EXPECT_CODE(status, Code::kTimeout);
    EXPECT_GE(Deadline::Clock::now() - start, milliseconds(29));
    EXPECT_LT(Deadline::Clock::now() - start, std::chrono::seconds(5));
  }
  EXPECT_CODE(pair.client->wait(Interest::kBoth, Deadline::now()), Code::kTimeout);
}

TEST_P(WaitHere, FailureWakesConsumerAndMover) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  const auto sleep = [&](Interest interest) {
    Status status;
    while (status.is_ok()) status = pair.client->wait(interest, Deadline::after(std::chrono::seconds(10)));
    EXPECT_EQ(status.message(), "woken by the test");
  };
  std::thread consumer([&] { sleep(Interest::kMessages); });
  std::thread mover([&] { sleep(Interest::kBulk); });
  std::this_thread::sleep_for(milliseconds(20));
  pair.client->fail({Code::kInternal, "woken by the test"});
  consumer.join();
  mover.join();
}

TEST_P(WaitHere, PostedSendWakesTheMover) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  constexpr std::uint64_t kTransfers = 50;
  std::vector<std::byte> target(1000);
  const std::vector<std::byte> source = test::pattern(1000, 1);
  std::atomic<bool> stop{false};
  const auto move = [&](Endpoint& endpoint) {
    while (!stop.load(std::memory_order_acquire)) {  // pairs with the store below
      const Result<std::size_t> moved = endpoint.bulk().move_payload();
      if (!moved) return;
      if (moved.value() == 0 && endpoint.wait(Interest::kBulk, Deadline::never()).code() == Code::kInternal)
        return;
    }
  };
  std::thread client_mover([&] { move(*pair.client); });
  std::thread server_mover([&] { move(*pair.server); });
  for (std::uint64_t tag = 1; tag <= kTransfers; ++tag) {
    BulkCompletion sent;
    BulkCompletion received;
    if (tag % 2 == 0) std::this_thread::sleep_for(milliseconds(1));  // let both fall asleep
    ASSERT_OK(pair.client->bulk().send(tag, source, sent));
    if (tag % 3 == 0) std::this_thread::sleep_for(milliseconds(1));
    ASSERT_OK(pair.server->bulk().receive(tag, target, received));
    const Deadline deadline = Deadline::after(std::chrono::seconds(10));
    while (!(sent.done() && received.done()) && !deadline.passed())
      std::this_thread::sleep_for(microseconds(50));
    EXPECT_TRUE(sent.done() && received.done()) << "lost wake-up at transfer " << tag;
    if (!(sent.done() && received.done())) break;
  }
  stop.store(true, std::memory_order_release);
  pair.client->fail({Code::kInternal, "the end"});
  pair.server->fail({Code::kInternal, "the end"});
  client_mover.join();
  server_mover.join();
}

// Producer and consumer are different threads: the producer learns of room only through the consumer's
// wait().
TEST_P(WaitHere, RoomWakesAnotherThreadsWait) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  const std::vector<std::byte> payload(4000);
  for (int round = 0; round < 5; ++round) {
    std::thread sleeper([&] {
      const Deadline deadline = Deadline::after(std::chrono::seconds(10));
      Status status = pair.client->wait(Interest::kMessages, deadline);
      EXPECT_OK(status);
    });
    std::this_thread::sleep_for(milliseconds(5));
    Status status;
    std::uint32_t id = 0;
    while (status.is_ok() && id < 100'000) status = test::try_publish(*pair.client, 1, ++id, payload);
    ASSERT_CODE(status, Code::kWouldBlock);
    std::thread reader([&] {
      class Count final : public MessageSink {
       public:
        std::uint32_t count = 0;
        Status on_message(const FrameHeader&, std::span<const std::byte>) override {
          ++count;
          return Status::ok();
        }
      } sink;
      const Deadline deadline = Deadline::after(std::chrono::seconds(10));
      while (sink.count + 1 < id && !deadline.passed()) {
        ASSERT_OK(pair.server->poll(sink, 64).status());
        if (sink.count + 1 < id)
          (void)pair.server->wait(Interest::kMessages, Deadline::after(milliseconds(5)));
      }
      EXPECT_EQ(sink.count + 1, id);
    });
    sleeper.join();
    reader.join();
  }
}

// Ping-pong with pauses of every length around the spinning budget: each message finds its reader spinning,
// about to sleep, asleep.
TEST_P(Wait, EveryPauseIsSurvived) {
  constexpr std::uint32_t kRounds = 400;
  const auto half = [](bool starts) {
    return [starts](std::unique_ptr<Endpoint> endpoint) {
      Peer peer(std::move(endpoint));
      std::minstd_rand random(starts ? 1 : 2);
      for (std::uint32_t id = 1; id <= kRounds; ++id) {
        if (!starts || id > 1) ASSERT_OK(peer.receive().status());
        const auto pause_us = random() % 4 == 0 ? random() % 1000 : random() % 60;
        const auto until = Deadline::after(microseconds(pause_us));
        if (random() % 2 == 0) std::this_thread::sleep_for(microseconds(pause_us));
        while (!until.passed()) {
        }
        ASSERT_OK(peer.send(0x0101, id));
      }
      if (starts) ASSERT_OK(peer.receive().status());
      if (!starts) (void)peer.until_failure(milliseconds(2000));
    };
  };
  run(half(true), half(false));
}

TEST_P(Wait, EveryPauseIsSurvivedByBulk) {
  constexpr std::uint64_t kRounds = 100;
  const auto half = [](bool starts) {
    return [starts](std::unique_ptr<Endpoint> endpoint) {
      Peer peer(std::move(endpoint));
      std::minstd_rand random(starts ? 3 : 4);
      std::vector<std::byte> memory(200'000);
      for (std::uint64_t tag = 1; tag <= kRounds; ++tag) {
        const std::size_t bytes = 1 + static_cast<std::size_t>(tag * 7919 % memory.size());
        std::this_thread::sleep_for(microseconds(random() % 500));
        BulkCompletion done;
        if (starts == (tag % 2 == 1)) {
          test::fill_pattern(std::span(memory).first(bytes), tag);
          ASSERT_OK(peer.bulk().send(tag, std::span(memory).first(bytes), done));
          ASSERT_OK(peer.await(done));
        } else {
          ASSERT_OK(peer.bulk().receive(tag, std::span(memory).first(bytes), done));
          ASSERT_OK(peer.await(done));
          ASSERT_EQ(test::find_mismatch(std::span(memory).first(bytes), tag), test::kNoMismatch);
        }
      }
      ASSERT_OK(peer.send(0x0004, 1));
      ASSERT_OK(peer.receive().status());
    };
  };
  run(half(true), half(false));
}

}  // namespace
}  // namespace tf::conformance
