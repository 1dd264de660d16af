// SPDX-License-Identifier: Apache-2.0
// The peer goes: everything it had published is delivered first, then the endpoint ends; nothing is lost,
// nothing hangs, nobody spins.
#include <thread>

#include "tests/unit/shm/pair.h"

namespace tf::shm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kBytes = 100'000;

// Sends pattern(kBytes, 3) under tag 1 and then goes.
void send_and_go(std::unique_ptr<Endpoint>& endpoint, int messages) {
  const std::vector<std::byte> source = test::pattern(kBytes, 3);
  BulkCompletion sent;
  ASSERT_TRUE(endpoint->bulk().send(1, source, sent).is_ok());
  while (!sent.done()) ASSERT_TRUE(endpoint->bulk().move_payload().is_ok());
  for (int id = 1; id <= messages; ++id) ASSERT_TRUE(test::try_publish(*endpoint, 1, 1, {}).is_ok());
  endpoint.reset();
}

Status await(Endpoint& endpoint, const BulkCompletion& completion) {
  const Deadline deadline = Deadline::after(seconds(10));
  while (!completion.done()) {
    Result<std::size_t> moved = endpoint.bulk().move_payload();
    if (moved && moved.value() == 0) (void)endpoint.wait(Interest::kBulk, deadline);
    if (!moved && !completion.done()) return moved.status();
    if (deadline.passed()) return {Code::kTimeout, "the test gave up"};
  }
  return completion.status();
}

// A consumer that has nothing more to deliver must not end the bulk plane before its mover.
TEST(ShmLoss, TheConsumersEndDoesNotLoseBulk) {
  Pair pair = make_pair();
  std::vector<std::byte> target(kBytes);
  BulkCompletion received;
  ASSERT_TRUE(pair.worker->bulk().receive(1, target, received).is_ok());
  send_and_go(pair.client, 1);
  Counter sink;
  const Deadline deadline = Deadline::after(milliseconds(300));
  while (!deadline.passed()) {
    Result<std::size_t> delivered = pair.worker->poll(sink, 64);
    ASSERT_TRUE(delivered.is_ok()) << delivered.status().to_string();
    const Status waited = pair.worker->wait(Interest::kMessages, deadline);
    ASSERT_TRUE(waited.is_ok() || waited.code() == Code::kTimeout) << waited.to_string();
  }
  EXPECT_EQ(sink.count, 1u);
  const Status status = await(*pair.worker, received);
  EXPECT_TRUE(status.is_ok()) << status.to_string();
  EXPECT_EQ(test::find_mismatch(target, 3), test::kNoMismatch);
  EXPECT_EQ(pair.worker->wait(Interest::kBulk, Deadline::after(seconds(5))).code(), Code::kPeerLost);
}

TEST(ShmLoss, TheMoversEndDoesNotLoseMessages) {
  Pair pair = make_pair();
  for (std::uint32_t id = 1; id <= 3; ++id) ASSERT_TRUE(test::try_publish(*pair.client, 1, id, {}).is_ok());
  pair.client.reset();
  EXPECT_EQ(pair.worker->wait(Interest::kBulk, Deadline::after(milliseconds(300))).code(), Code::kTimeout);
  Counter sink;
  Result<std::size_t> delivered = pair.worker->poll(sink, 64);
  ASSERT_TRUE(delivered.is_ok()) << delivered.status().to_string();
  EXPECT_EQ(sink.count, 3u);
  EXPECT_EQ(pair.worker->wait(Interest::kMessages, Deadline::after(seconds(5))).code(), Code::kPeerLost);
}

// What nobody receives does not keep the endpoint alive.
TEST(ShmLoss, AChunkWithoutAReceiverEndsSoon) {
  for (const Interest interest : {Interest::kBulk, Interest::kBoth}) {
    Pair pair = make_pair();
    send_and_go(pair.client, 0);
    const auto start = Deadline::Clock::now();
    Status status;
    for (int turn = 0; turn < 1000 && status.is_ok(); ++turn) {
      status = pair.worker->bulk().move_payload().status();
      if (status.is_ok()) status = pair.worker->wait(interest, Deadline::after(seconds(5)));
    }
    EXPECT_EQ(status.code(), Code::kPeerLost) << status.to_string();
    EXPECT_LT(Deadline::Clock::now() - start, seconds(5));
  }
}

// What the other role has not fetched yet: this one sleeps.
TEST(ShmLoss, WaitingForTheOtherRoleBurnsNoProcessor) {
  Pair pair = make_pair();
  ASSERT_TRUE(test::try_publish(*pair.client, 1, 1, {}).is_ok());
  pair.client.reset();
  const auto before = thread_time();
  const Deadline deadline = Deadline::after(milliseconds(400));
  int turns = 0;
  while (!deadline.passed()) {
    ++turns;
    ASSERT_TRUE(pair.worker->bulk().move_payload().is_ok());
    (void)pair.worker->wait(Interest::kBulk, deadline);
  }
  EXPECT_LT(thread_time() - before, milliseconds(100));
  EXPECT_LT(turns, 100);
}

// And should that role never come, there is an end all the same.
TEST(ShmLoss, AnAbsentRoleDelaysTheEndOnlySoLong) {
  Pair pair = make_pair();
  ASSERT_TRUE(test::try_publish(*pair.client, 1, 1, {}).is_ok());
  pair.client.reset();
  EXPECT_EQ(pair.worker->wait(Interest::kBulk, Deadline::after(seconds(20))).code(), Code::kPeerLost);
}

// Room that a producer was told of and did not take is no reason to stay awake.
TEST(ShmLoss, AProducerThatGaveUpLeavesNobodySpinning) {
  Pair pair = make_pair();
  const std::vector<std::byte> payload(4000);
  Status status;
  while (status.is_ok()) status = test::try_publish(*pair.client, 1, 1, payload);
  ASSERT_EQ(status.code(), Code::kWouldBlock);
  Counter sink;
  while (pair.worker->poll(sink, 64).value() != 0) {
  }
  const Deadline deadline = Deadline::after(milliseconds(300));
  int turns = 0;
  while (pair.client->wait(Interest::kBoth, deadline).is_ok()) ++turns;
  EXPECT_GE(turns, 1) << "nobody said that there is room";
  EXPECT_LT(turns, 100);
}

// Consumer and mover wait at the same time for both planes, beside traffic: for the thread sanitizer.
TEST(ShmLoss, BothRolesMayWatchBothPlanes) {
  Pair pair = make_pair();
  constexpr std::uint64_t kTransfers = 300;
  std::atomic<std::uint32_t> moved{0};
  std::thread mover([&] {
    std::vector<std::byte> target(3000);
    for (std::uint64_t tag = 1; tag <= kTransfers; ++tag) {
      BulkCompletion received;
      ASSERT_TRUE(pair.worker->bulk().receive(tag, target, received).is_ok());
      ASSERT_TRUE(await(*pair.worker, received).is_ok());
      moved.fetch_add(1, std::memory_order_relaxed);
    }
  });
  Counter sink;
  std::thread consumer([&] {
    const Deadline deadline = Deadline::after(seconds(20));
    while (sink.count < kTransfers && !deadline.passed()) {
      ASSERT_TRUE(pair.worker->poll(sink, 16).is_ok());
      (void)pair.worker->wait(sink.count % 2 == 0 ? Interest::kBoth : Interest::kMessages,
                              Deadline::after(milliseconds(2)));
    }
  });
  const std::vector<std::byte> source = test::pattern(3000, 1);
  for (std::uint64_t tag = 1; tag <= kTransfers; ++tag) {
    BulkCompletion sent;
    EXPECT_TRUE(test::try_publish(*pair.client, 1, 1, {}).is_ok());
    EXPECT_TRUE(pair.client->bulk().send(tag, source, sent).is_ok());
    EXPECT_TRUE(await(*pair.client, sent).is_ok());
  }
  consumer.join();
  mover.join();
  EXPECT_EQ(sink.count, kTransfers);
  EXPECT_EQ(moved.load(std::memory_order_relaxed), kTransfers);
}

// A process that is killed while its peer sleeps.
TEST(ShmLoss, AKilledProcessIsNoticed) {
  ProcessPair pair = start_client([](Endpoint& endpoint) {
    ASSERT_TRUE(test::try_publish(endpoint, 1, 1, {}).is_ok());
    (void)endpoint.wait(Interest::kBoth, Deadline::after(seconds(20)));
  });
  ASSERT_NE(pair.worker, nullptr);
  Counter sink;
  ASSERT_TRUE(pair.worker->wait(Interest::kMessages, Deadline::after(seconds(10))).is_ok());
  ASSERT_TRUE(pair.worker->poll(sink, 1).is_ok());
  ASSERT_EQ(sink.count, 1u);
  pair.client.kill();
  const auto start = Deadline::Clock::now();
  EXPECT_EQ(pair.worker->wait(Interest::kBoth, Deadline::after(seconds(10))).code(), Code::kPeerLost);
  EXPECT_LT(Deadline::Clock::now() - start, seconds(5));
}

TEST(ShmLoss, BytesOnTheSocketEndTheEndpoint) {
  auto [ours, theirs] = socket_pair();
  net::OwnedFd file;
  Result<Segment> segment = Segment::create(file);
  ASSERT_TRUE(segment.is_ok());
  auto endpoint = make_endpoint(std::move(*segment), std::move(ours), Side::kWorker);
  ASSERT_TRUE(endpoint.is_ok());
  ASSERT_EQ(::send(theirs.get(), "garbage", 7, 0), 7);
  EXPECT_EQ((*endpoint)->wait(Interest::kBoth, Deadline::after(seconds(5))).code(), Code::kProtocol);
}

}  // namespace
}  // namespace tf::shm
