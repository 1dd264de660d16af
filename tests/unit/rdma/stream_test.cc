// SPDX-License-Identifier: Apache-2.0
// A stream's two halves: what they post, and that everything arrives, in order, however they meet.
#include <atomic>
#include <random>
#include <thread>

#include "tests/unit/rdma/plane_pair.h"

namespace tf::rdma {
namespace {

#define ASSERT_OK(expression)                                  \
  do {                                                         \
    const ::tf::Status tf_assert_ = (expression);              \
    ASSERT_TRUE(tf_assert_.is_ok()) << tf_assert_.to_string(); \
  } while (false)

TEST_F(StreamTest, LonePushIsOneRequest) {
  open();
  ASSERT_OK(try_send(pair->left->producer(), 1, 100));
  std::vector<std::uint32_t> ids;
  receive_all(*pair->right, ids, 1);
  ASSERT_TRUE(fabric.wait_idle());
  const test::FakeCounters counters = fabric.counters();
  EXPECT_EQ(counters.work_requests, 1u);
  EXPECT_EQ(executed(counters, IBV_WR_RDMA_WRITE_WITH_IMM), 1u);
  EXPECT_EQ(counters.completions, 0u) << "a lone push asks for no completion";
}

// A pad and its record: two requests, rung for once.
TEST_F(StreamTest, APushWithAPadRingsOnce) {
  open(1 << 14);
  constexpr std::size_t kPayload = 15 * kLineBytes - kFrameHeaderBytes;  // 17 of them leave one line
  std::vector<std::uint32_t> ids;
  test::FakeCounters before;
  for (std::uint32_t id = 1; id <= 18; ++id) {
    before = fabric.counters(pair->left->facts().out_number);
    ASSERT_OK(try_send(pair->left->producer(), id, kPayload));
    receive_all(*pair->right, ids, id);
    ASSERT_TRUE(fabric.wait_idle());
    ASSERT_FALSE(pair->left->producer().holding());
  }
  const test::FakeCounters after = fabric.counters(pair->left->facts().out_number);
  EXPECT_EQ(after.work_requests - before.work_requests, 2u);
  EXPECT_EQ(after.doorbells - before.doorbells, 1u);
}

// So are the READ of what was held and that of the line behind it, which also make one completion.
TEST_F(StreamTest, AChainOfReadsRingsOnce) {
  open();
  constexpr std::uint32_t kRecords = 100;
  for (std::uint32_t id = 1; id <= kRecords; ++id) ASSERT_OK(try_send(pair->left->producer(), id, 1000));
  ASSERT_TRUE(pair->left->producer().holding());
  ASSERT_TRUE(fabric.wait_idle());
  const auto posted_by_a_poll = [&] {
    const test::FakeCounters before = fabric.counters(pair->right->facts().in_number);
    EXPECT_TRUE(pair->right->consumer().poll().is_ok());
    EXPECT_TRUE(fabric.wait_idle());
    test::FakeCounters now = fabric.counters(pair->right->facts().in_number);
    now.work_requests -= before.work_requests;
    now.doorbells -= before.doorbells;
    now.completions -= before.completions;
    return now;
  };
  EXPECT_EQ(posted_by_a_poll().work_requests, 1u) << "what is there?";
  const test::FakeCounters chain = posted_by_a_poll();
  EXPECT_EQ(chain.work_requests, 2u);
  EXPECT_EQ(chain.doorbells, 1u);
  EXPECT_EQ(chain.completions, 1u);
  std::vector<std::uint32_t> ids;
  receive_all(*pair->right, ids, kRecords);
}

TEST_F(StreamTest, RequestsAndResponsesNeverHold) {
  open();
  constexpr std::uint32_t kRounds = 3000;  // around the ring of 1 MiB more than once
  std::vector<std::uint32_t> there, back;
  for (std::uint32_t id = 1; id <= kRounds; ++id) {
    const std::size_t bytes = id * 37 % 900;
    ASSERT_OK(try_send(pair->left->producer(), id, bytes));
    receive_all(*pair->right, there, id);
    ASSERT_OK(try_send(pair->right->producer(), id, bytes));
    receive_all(*pair->left, back, id);
    ASSERT_FALSE(pair->left->producer().holding() || pair->right->producer().holding());
  }
  const test::FakeCounters counters = fabric.counters();
  EXPECT_EQ(executed(counters, IBV_WR_RDMA_READ), 0u);
  EXPECT_EQ(executed(counters, IBV_WR_RDMA_WRITE_WITH_IMM), 2u * kRounds);
  // Pads at the ring's end; no write of a credit, since the answers say what is consumed.
  EXPECT_LE(executed(counters, IBV_WR_RDMA_WRITE), 4u);
}

TEST_F(StreamTest, OneWayTrafficAtEaseIsToldOfNowAndThen) {
  open();
  constexpr std::uint32_t kRecords = 800;
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 1; id <= kRecords; ++id) {
    ASSERT_OK(try_send(pair->left->producer(), id, 40));
    receive_all(*pair->right, ids, id);
    ASSERT_TRUE(fabric.wait_idle());
    ASSERT_FALSE(pair->left->producer().holding());
  }
  EXPECT_EQ(executed(fabric.counters(), IBV_WR_RDMA_WRITE), kRecords / kTellBatches);
}

constexpr double kProducerRequestsPerRecord = 0.1;

TEST_F(StreamTest, BurstTowardsASlowConsumerCostsFewRequests) {
  open();
  constexpr std::uint32_t kRecords = 1000;
  for (std::uint32_t id = 1; id <= kRecords; ++id) ASSERT_OK(try_send(pair->left->producer(), id, 100));
  EXPECT_TRUE(pair->left->producer().holding());
  const std::uint64_t posted = fabric.counters(pair->left->facts().out_number).work_requests;
  EXPECT_LE(posted, static_cast<std::uint64_t>(kRecords * kProducerRequestsPerRecord));
  std::vector<std::uint32_t> ids;
  receive_all(*pair->right, ids, kRecords);
  EXPECT_EQ(fabric.counters(pair->left->facts().out_number).work_requests, posted);
  // And back to pushing.
  ASSERT_TRUE(fabric.wait_idle());
  ASSERT_OK(receive(*pair->right, ids));
  ASSERT_TRUE(fabric.wait_idle());
  ASSERT_OK(receive(*pair->right, ids));
  ASSERT_TRUE(fabric.wait_idle());
  const std::uint64_t reads = executed(fabric.counters(), IBV_WR_RDMA_READ);
  ASSERT_OK(try_send(pair->left->producer(), kRecords + 1, 100));
  EXPECT_FALSE(pair->left->producer().holding());
  receive_all(*pair->right, ids, kRecords + 1);
  EXPECT_EQ(executed(fabric.counters(), IBV_WR_RDMA_READ), reads);
}

struct Race {
  std::size_t ring_bytes;
  std::size_t payload_max;
  bool late_reads;
  bool both_ways;
  unsigned inline_bytes = PlanePair::kInline;
  bool watches = false;  // now and then
};

class StreamRace : public StreamTest, public testing::WithParamInterface<Race> {
 protected:
  // Publishes, with pauses; asleep it is not, so room is looked for again and again.
  static void produce(Plane& plane, std::uint32_t count, std::size_t payload_max, unsigned seed) {
    std::minstd_rand random(seed);
    const Deadline deadline = Deadline::after(std::chrono::seconds(100));
    for (std::uint32_t id = 1; id <= count; ++id) {
      const std::size_t bytes = random() % 8 == 0 ? random() % payload_max : random() % 200;
      Status status = try_send(plane.producer(), id, bytes);
      while (status.code() == Code::kWouldBlock && !deadline.passed()) {
        ASSERT_OK(plane.producer().take_kicks());
        std::this_thread::yield();
        status = try_send(plane.producer(), id, bytes);
      }
      ASSERT_OK(status);
      if (random() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
    }
  }

  static void consume(Plane& plane, std::uint32_t count, unsigned seed, bool watches) {
    std::minstd_rand random(seed);
    std::vector<std::uint32_t> ids;
    const Deadline deadline = Deadline::after(std::chrono::seconds(100));
    while (ids.size() < count && !deadline.passed()) {
      const std::size_t before = ids.size();
      ASSERT_OK(receive(plane, ids, 1 + random() % 100));
      if (watches && random() % 16 == 0) plane.consumer().watch(random() % 4 != 0);
      if (ids.size() == before) std::this_thread::yield();
      if (random() % 128 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
    ASSERT_EQ(ids.size(), count);
    for (std::size_t index = 0; index < count; ++index) ASSERT_EQ(ids[index], index + 1);
  }
};

TEST_P(StreamRace, EverythingArrivesInOrder) {
  const Race& race = GetParam();
  if (race.late_reads) fabric.set_read_lateness(std::chrono::microseconds(30));
  open(race.ring_bytes, race.inline_bytes);
  constexpr std::uint32_t kRecords = 20'000;
  std::thread left([&] { produce(*pair->left, kRecords, race.payload_max, 1); });
  std::thread right([&] { consume(*pair->right, kRecords, 2, race.watches); });
  if (race.both_ways) {
    std::thread back([&] { produce(*pair->right, kRecords, race.payload_max, 3); });
    std::thread there([&] { consume(*pair->left, kRecords, 4, race.watches); });
    back.join();
    there.join();
  }
  left.join();
  right.join();
}

INSTANTIATE_TEST_SUITE_P(
    All, StreamRace,
    testing::Values(Race{kMessageRingBytes, 8000, false, false}, Race{1 << 14, 4000, false, false},
                    Race{1 << 14, 4000, true, false}, Race{1 << 14, 4000, true, true},
                    Race{1 << 12, 900, false, true}, Race{1 << 14, 4000, false, false, 0},
                    Race{1 << 14, 4000, true, true, 0}, Race{1 << 12, 900, false, true, 0},
                    Race{kMessageRingBytes, 8000, false, true, 224, true},
                    Race{1 << 14, 4000, false, true, 224, true}, Race{1 << 14, 4000, true, true, 224, true},
                    Race{1 << 12, 900, false, true, 0, true}));

// A device that takes nothing inline may read a record again until it says that it is done, also when the
// peer has long consumed it.
TEST_F(StreamTest, RecordsStayUntilTheDeviceIsDoneWithThem) {
  open(1 << 12, 0);
  fabric.set_completion_delay(std::chrono::milliseconds(10));
  constexpr std::uint32_t kRecords = 64;  // eight times around the ring
  std::vector<std::uint32_t> ids;
  const Deadline deadline = Deadline::after(std::chrono::seconds(20));
  for (std::uint32_t id = 1; id <= kRecords && !deadline.passed();) {
    const Status status = try_send(pair->left->producer(), id, 440);
    if (status.is_ok()) ++id;
    if (!status.is_ok()) {
      ASSERT_EQ(status.code(), Code::kWouldBlock) << status.to_string();
    }
    ASSERT_OK(receive(*pair->right, ids));
    ASSERT_OK(pair->left->producer().take_kicks());
  }
  receive_all(*pair->right, ids, kRecords);
}

// The immediate of a push may be met long after credits that were written later: what it tells is old, and
// must not be taken for something newer that has the same low bits.
TEST_F(StreamTest, OldImmediatesTellNothingNew) {
  open();
  std::vector<std::uint32_t> there, back;
  ASSERT_OK(try_send(pair->right->producer(), 1, 10));  // not met until the end
  constexpr std::uint32_t kRecords =
      330;  // of 501 lines: so that the low bits of old and new differ by less than half
  const Deadline deadline = Deadline::after(std::chrono::seconds(60));
  for (std::uint32_t id = 1; id <= kRecords && !deadline.passed();) {
    const Status status = try_send(pair->left->producer(), id, 32'000);
    if (status.is_ok()) ++id;
    if (!status.is_ok()) {
      ASSERT_EQ(status.code(), Code::kWouldBlock);
    }
    ASSERT_OK(receive(*pair->right, there));
  }
  receive_all(*pair->right, there, kRecords);
  receive_all(*pair->left, back, 1);
  for (std::uint32_t id = 2; id <= 8; ++id) {
    ASSERT_OK(try_send(pair->right->producer(), id, 10));
    receive_all(*pair->left, back, id);
  }
}

TEST_F(StreamTest, KickWakesWhoWaitsForRoom) {
  open(1 << 14);
  std::uint32_t id = 0;
  Status status;
  while (status.is_ok()) status = try_send(pair->left->producer(), ++id, 1000);
  ASSERT_EQ(status.code(), Code::kWouldBlock);
  EXPECT_TRUE(pair->left->producer().refused());
  EXPECT_EQ(pair->left->producer().refusal_to_tell(), Producer::kNotRefused);
  ASSERT_OK(pair->left->arm());
  std::vector<std::uint32_t> ids;
  receive_all(*pair->right, ids, id - 1);
  const Deadline deadline = Deadline::after(std::chrono::seconds(10));
  while (pair->left->producer().refusal_to_tell() == Producer::kNotRefused && !deadline.passed())
    ASSERT_OK(receive(*pair->right, ids));
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(fabric.wait_idle());
    ASSERT_OK(receive(*pair->right, ids));
  }
  EXPECT_EQ(fabric.counters(pair->left->facts().out_number).receive_completions, 1u) << "one kick";
  ASSERT_OK(pair->left->producer().take_kicks());
  ASSERT_OK(try_send(pair->left->producer(), id, 1000));
  receive_all(*pair->right, ids, id);
  ASSERT_OK(pair->left->take_events().status());
}

TEST_F(StreamTest, FinishBringsWhatWasHeld) {
  open(1 << 14);
  std::uint32_t id = 0;
  while (try_send(pair->left->producer(), id + 1, 300).is_ok()) ++id;
  EXPECT_TRUE(pair->left->producer().holding());
  ASSERT_OK(pair->left->producer().finish(Deadline::after(std::chrono::seconds(2))));
  const std::uint64_t position = pair->left->producer().position();
  std::vector<std::uint32_t> ids;
  Consumer& consumer = pair->right->consumer();
  ASSERT_OK(consumer.poll());
  EXPECT_TRUE(consumer.finish(position));
  pair->left.reset();  // its memory cannot be read any more
  const Deadline deadline = Deadline::after(std::chrono::seconds(10));
  while (ids.size() < id && !deadline.passed()) {
    (void)consumer.poll();
    Status failure;
    const Record* const record = consumer.peek(1000, failure);
    ASSERT_OK(failure);
    if (record == nullptr) break;
    ids.push_back(record->header.request_id);
    consumer.consume();
  }
  EXPECT_EQ(ids.size(), id);
}

}  // namespace
}  // namespace tf::rdma
