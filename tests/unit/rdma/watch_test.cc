// SPDX-License-Identifier: Apache-2.0
// Records that a consumer finds in its memory: that they are taken when they are whole and not before, cost
// no receive, and that nothing is missed when the consumer goes to sleep after all.
#include <functional>
#include <random>
#include <thread>

#include "rdma/stamp.h"
#include "tests/support/peer.h"
#include "tests/unit/rdma/endpoints_fixture.h"
#include "tests/unit/rdma/plane_pair.h"

namespace tf::rdma {
namespace {

#define ASSERT_OK(expression)                                  \
  do {                                                         \
    const ::tf::Status tf_assert_ = (expression);              \
    ASSERT_TRUE(tf_assert_.is_ok()) << tf_assert_.to_string(); \
  } while (false)

// --- Stamps -----------------------------------------------------------------------------------------------

class StampTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kSecret = 0x1234567890abcdef;
  static constexpr std::uint64_t kPosition = std::uint64_t{1} << 20;
  static constexpr std::uint32_t kTold = 0xfffffff0;

  // A stamped record with so much payload, at the start of the ring.
  void put(std::size_t payload, std::uint64_t position = kPosition) {
    const std::size_t bytes = kFrameHeaderBytes + payload;
    write_header({.opcode = 1, .payload_length = payload}, ring_.data());
    test::fill_pattern(std::span(ring_).subspan(kFrameHeaderBytes, payload), 1);
    const Stamp stamp = make_stamp(kSecret, position, kTold, std::span(ring_).first(bytes));
    std::memcpy(ring_.data() + record_span(bytes) - sizeof stamp, &stamp, sizeof stamp);
  }
  bool take(std::uint64_t secret = kSecret) {
    const std::size_t bytes = StampedCopy::find(ring_, secret, kPosition);
    return bytes != 0 && copy_.take(ring_, bytes, secret, kPosition);
  }

  alignas(kLineBytes) std::array<std::byte, 1024> ring_{};
  StampedCopy copy_;
};

TEST_F(StampTest, OfEveryLengthIsTaken) {
  for (std::size_t payload = 0; payload <= kStampedMax - kFrameHeaderBytes; ++payload) {
    put(payload);
    ASSERT_TRUE(take()) << payload;
    ASSERT_EQ(copy_.size(), kFrameHeaderBytes + payload);
    ASSERT_EQ(std::memcmp(copy_.data(), ring_.data(), copy_.size()), 0);
    ASSERT_EQ(copy_.told(), kTold);
  }
}

TEST_F(StampTest, OfARecordThatIsNotWholeIsNotTaken) {
  for (const std::size_t payload : {0, 1, 64, 101, 400}) {
    put(payload);
    const std::size_t bytes = kFrameHeaderBytes + payload;
    const std::size_t span = record_span(bytes);
    for (std::size_t at = 0; at < span; ++at) {
      if (at >= bytes && at < span - kStampBytes) continue;  // what lies between is nobody's
      ring_[at] ^= std::byte{0x40};
      ASSERT_FALSE(take()) << "with another byte " << at << " of " << span;
      ring_[at] ^= std::byte{0x40};
    }
    ASSERT_TRUE(take());
  }
}

TEST_F(StampTest, OfAnotherLapOrRingIsNotTaken) {
  for (const std::uint64_t lap : {1u, 2u, 1u << 12, 1u << 20}) {
    put(40, kPosition + lap * kMessageRingBytes);
    EXPECT_FALSE(take());
  }
  put(40);
  EXPECT_FALSE(take(kSecret ^ 1));
  EXPECT_FALSE(take(kSecret ^ std::uint64_t{1} << 63));
  EXPECT_TRUE(take());
}

TEST_F(StampTest, ReachesNowhereBeyondTheRing) {
  put(400);
  EXPECT_EQ(StampedCopy::find(std::span(ring_).first(kLineBytes), kSecret, kPosition), 0u);
  for (const std::uint64_t length : {kStampedMax, std::size_t{1} << 20, SIZE_MAX, SIZE_MAX - 23}) {
    write_header({.opcode = 1, .payload_length = length}, ring_.data());
    EXPECT_FALSE(take()) << length;
  }
}

// --- Streams ----------------------------------------------------------------------------------------------

class WatchTest : public StreamTest {
 protected:
  // Both ends, and both know.
  void watch(bool wanted) {
    std::vector<std::uint32_t> ids;
    for (Plane* plane : {pair->left.get(), pair->right.get()}) plane->consumer().watch(wanted);
    for (int round = 0; round < 4; ++round) {
      for (Plane* plane : {pair->left.get(), pair->right.get()}) ASSERT_OK(receive(*plane, ids));
      ASSERT_TRUE(fabric.wait_idle());
    }
    EXPECT_TRUE(ids.empty());
    before = fabric.counters();
  }
  std::uint64_t done(ibv_wr_opcode opcode) const {
    return executed(fabric.counters(), opcode) - executed(before, opcode);
  }

  test::FakeCounters before;
};

TEST_F(WatchTest, RequestsAndResponsesTakeNoReceives) {
  open(1 << 16);
  watch(true);
  constexpr std::uint32_t kRounds = 3000;  // many times around the ring
  std::vector<std::uint32_t> there, back;
  for (std::uint32_t id = 1; id <= kRounds; ++id) {
    const std::size_t bytes = id * 37 % (kStampedMax - kFrameHeaderBytes);
    ASSERT_OK(try_send(pair->left->producer(), id, bytes));
    receive_all(*pair->right, there, id);
    ASSERT_OK(try_send(pair->right->producer(), id, bytes));
    receive_all(*pair->left, back, id);
    ASSERT_FALSE(pair->left->producer().holding() || pair->right->producer().holding());
  }
  ASSERT_TRUE(fabric.wait_idle());
  constexpr std::uint64_t kLaps = kRounds * 320 / (1 << 16);  // of each direction, at most; pads are pushed
  EXPECT_LE(done(IBV_WR_RDMA_WRITE_WITH_IMM), 2 * kLaps);
  EXPECT_LE(done(IBV_WR_RDMA_WRITE), 2 * kRounds + 2 * kLaps) << "no write of a credit";
  EXPECT_EQ(done(IBV_WR_RDMA_READ), 0u);
}

TEST_F(WatchTest, LongRecordsAreAnnounced) {
  open();
  watch(true);
  std::vector<std::uint32_t> ids;
  ASSERT_OK(try_send(pair->left->producer(), 1, kStampedMax - kFrameHeaderBytes + 1));
  receive_all(*pair->right, ids, 1);
  EXPECT_EQ(done(IBV_WR_RDMA_WRITE_WITH_IMM), 1u);
  // What lies before and behind it is not, and all keep their order.
  for (std::uint32_t id = 2; id <= 13; ++id)
    ASSERT_OK(try_send(pair->left->producer(), id, id % 3 == 0 ? 1000 : 100));
  receive_all(*pair->right, ids, 13);
  EXPECT_EQ(done(IBV_WR_RDMA_WRITE_WITH_IMM), 5u);
}

TEST_F(WatchTest, OneWayTrafficIsToldOfNowAndThen) {
  open();
  watch(true);
  constexpr std::uint32_t kRecords = 800;
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 1; id <= kRecords; ++id) {
    ASSERT_OK(try_send(pair->left->producer(), id, 40));
    receive_all(*pair->right, ids, id);
    ASSERT_TRUE(fabric.wait_idle());
    ASSERT_FALSE(pair->left->producer().holding());
  }
  EXPECT_EQ(done(IBV_WR_RDMA_WRITE), kRecords + kRecords / kTellBatches);
  EXPECT_EQ(done(IBV_WR_RDMA_WRITE_WITH_IMM), 0u);
}

TEST_F(WatchTest, ABurstIsHeldAndFetched) {
  open();
  watch(true);
  constexpr std::uint32_t kRecords = 1000;
  for (std::uint32_t id = 1; id <= kRecords; ++id) ASSERT_OK(try_send(pair->left->producer(), id, 100));
  EXPECT_TRUE(pair->left->producer().holding());
  EXPECT_EQ(fabric.counters(pair->left->facts().out_number).work_requests, kPushedMax);
  std::vector<std::uint32_t> ids;
  receive_all(*pair->right, ids, kRecords);
}

TEST_F(WatchTest, AfterwardsRecordsAreAnnounced) {
  open();
  watch(true);
  watch(false);
  EXPECT_FALSE(pair->right->consumer().is_settling());
  std::vector<std::uint32_t> ids;
  ASSERT_OK(try_send(pair->left->producer(), 1, 40));
  receive_all(*pair->right, ids, 1);
  EXPECT_EQ(done(IBV_WR_RDMA_WRITE_WITH_IMM), 1u);
}

// Written while the producer could not know yet that nobody watches any more: fetched, and taken once.
TEST_F(WatchTest, WhatCrossesTheEndOfWatchingIsFetched) {
  open();
  watch(true);
  fabric.pause();
  ASSERT_OK(pair->right->consumer().poll());
  pair->right->consumer().watch(false);
  ASSERT_OK(pair->right->consumer().poll());
  EXPECT_TRUE(pair->right->consumer().is_settling());
  for (std::uint32_t id = 1; id <= 3; ++id) ASSERT_OK(try_send(pair->left->producer(), id, 40));
  fabric.resume();
  std::vector<std::uint32_t> ids;
  receive_all(*pair->right, ids, 3);
  ASSERT_TRUE(fabric.wait_idle());
  ASSERT_OK(receive(*pair->right, ids));
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_FALSE(pair->right->consumer().is_settling());
  EXPECT_EQ(done(IBV_WR_RDMA_WRITE_WITH_IMM), 0u);
  ASSERT_OK(try_send(pair->left->producer(), 4, 40));
  receive_all(*pair->right, ids, 4);
  EXPECT_EQ(done(IBV_WR_RDMA_WRITE_WITH_IMM), 1u);
}

// A consumer that has something to post and no room for it still takes completions, though records keep
// coming.
TEST_F(WatchTest, RecordsInMemoryDoNotHideCompletions) {
  open(1 << 12);
  watch(true);
  constexpr std::uint32_t kRecords =
      2000;  // each eight of them are told of, with a request of the consumer's
  std::vector<std::uint32_t> ids;
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  for (std::uint32_t id = 1; id <= kRecords && !deadline.passed();) {
    const Status status = try_send(pair->left->producer(), id, 200);
    if (status.is_ok()) ++id;
    ASSERT_OK(pair->left->producer().take_kicks());
    ASSERT_OK(receive(*pair->right, ids, 1));
  }
  receive_all(*pair->right, ids, kRecords);
}

// --- Endpoints --------------------------------------------------------------------------------------------

// Whoever waits for long is woken, however often both had answered each other without sleeping.
class WatchingEndpointsTest : public EndpointsTest, public testing::WithParamInterface<Interest> {
 protected:
  struct Count final : MessageSink {
    Status on_message(const FrameHeader& header, std::span<const std::byte>) override {
      EXPECT_EQ(header.request_id, ++last);
      return Status::ok();
    }
    std::uint32_t last = 0;
  };

  // Until message `id` has come. Before each wait as long a pause as `pause` says.
  static void hear(Endpoint& endpoint, Count& count, std::uint32_t id) {
    while (count.last < id) {
      Result<std::size_t> delivered = endpoint.poll(count, 8);
      ASSERT_OK(delivered.status());
      if (delivered.value() == 0)
        ASSERT_OK(endpoint.wait(GetParam(), Deadline::after(std::chrono::seconds(20))));
    }
  }
  static void say(Endpoint& endpoint, std::uint32_t id, std::size_t bytes) {
    const std::vector<std::byte> payload(bytes);
    ASSERT_OK(test::try_publish(endpoint, 1, id, payload));
  }
};

TEST_P(WatchingEndpointsTest, AreWoken) {
  constexpr std::uint32_t kRounds = 20'000;
  std::thread worker([&] {
    Count count;
    std::minstd_rand random(1);
    for (std::uint32_t id = 1; id <= kRounds && !HasFailure(); ++id) {
      hear(*pair_.server, count, id);
      if (random() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
      say(*pair_.server, id, random() % 600);
    }
  });
  Count count;
  std::minstd_rand random(2);
  for (std::uint32_t id = 1; id <= kRounds && !HasFailure(); ++id) {
    if (random() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
    say(*pair_.client, id, random() % 600);
    hear(*pair_.client, count, id);
  }
  worker.join();
}

INSTANTIATE_TEST_SUITE_P(All, WatchingEndpointsTest, testing::Values(Interest::kMessages, Interest::kBoth),
                         [](const testing::TestParamInfo<Interest>& each) {
                           return each.param == Interest::kBoth ? "Both" : "Messages";
                         });

// Messages that are there before each wait: nobody sleeps, and soon nobody needs receives.
TEST_F(EndpointsTest, ThatAnswerEachOtherComeToWatch) {
  struct Nothing final : MessageSink {
    Status on_message(const FrameHeader&, std::span<const std::byte>) override { return Status::ok(); }
  } sink;
  const std::vector<std::byte> payload(64);
  constexpr std::uint32_t kRounds = 500;
  const test::FakeCounters before = fabric_.counters();
  for (std::uint32_t id = 1; id <= kRounds; ++id) {
    for (Endpoint* const from : {pair_.client.get(), pair_.server.get()}) {
      Endpoint& to = from == pair_.client.get() ? *pair_.server : *pair_.client;
      ASSERT_OK(test::try_publish(*from, 1, id, payload));
      ASSERT_TRUE(fabric_.wait_idle());
      ASSERT_OK(to.wait(Interest::kMessages, Deadline::after(std::chrono::seconds(20))));
      Result<std::size_t> delivered = to.poll(sink, 8);
      ASSERT_OK(delivered.status());
      ASSERT_EQ(delivered.value(), 1u);
    }
  }
  const test::FakeCounters after = fabric_.counters();
  EXPECT_LE(after.receive_completions - before.receive_completions, 20u);
  EXPECT_LE(after.work_requests - before.work_requests, 2 * kRounds + 4);
}

}  // namespace
}  // namespace tf::rdma
