// SPDX-License-Identifier: Apache-2.0
// How many READs and WRITEs of payload the worker's device has at a time, and what becomes of them.
#include "rdma/under_way.h"

#include <array>
#include <deque>

#include "rdma/bulk.h"
#include "tests/support/peer.h"
#include "tests/unit/rdma/endpoints_fixture.h"

namespace tf::rdma {
namespace {

constexpr std::size_t kTransfers = 12;
constexpr std::size_t kSmall = 2 * kSmallBytes;  // and yet READ or WRITTEN

// Twelve transfers of a size, each with its tag, in one direction; the memory is known from the start.
class UnderWayTest : public EndpointsTest {
 protected:
  void post(std::size_t bytes, bool to_worker) {
    source_ = test::pattern(bytes * kTransfers, 1);
    target_.assign(bytes * kTransfers, std::byte{0});
    Endpoint& from = to_worker ? *pair_.client : *pair_.server;
    Endpoint& to = to_worker ? *pair_.server : *pair_.client;
    from.bulk().remember(source_);
    to.bulk().remember(target_);
    for (std::uint64_t tag = 0; tag < kTransfers; ++tag) {
      ASSERT_TRUE(to.bulk()
                      .receive(tag, std::span(target_).subspan(tag * bytes, bytes), received_.emplace_back())
                      .is_ok());
      ASSERT_TRUE(from.bulk()
                      .send(tag, std::span(source_).subspan(tag * bytes, bytes), sent_.emplace_back())
                      .is_ok());
    }
  }
  // Transfers that the worker's mover posts while the device executes none; what was announced has come.
  std::uint64_t posted_at_once() {
    EXPECT_TRUE(fabric_.wait_idle());
    fabric_.pause();
    const std::uint64_t before = fabric_.counters().work_requests;
    for (int turn = 0; turn < 4; ++turn) EXPECT_TRUE(pair_.server->bulk().move_payload().is_ok());
    constexpr std::uint64_t kCredit = 1;  // for the announcements
    return fabric_.counters().work_requests - before - kCredit;
  }
  void expect_all_arrive() {
    fabric_.resume();
    EXPECT_TRUE(move_until_done(sent_) && move_until_done(received_));
    EXPECT_EQ(test::find_mismatch(target_, 1), test::kNoMismatch);
    EXPECT_TRUE(fabric_.wait_idle());
  }

  std::vector<std::byte> source_, target_;
  std::deque<BulkCompletion> sent_, received_;
};

TEST_F(UnderWayTest, SmallReadsUpToTheirNumber) {
  post(kSmall, true);
  EXPECT_EQ(posted_at_once(), kTransfersMax);
  expect_all_arrive();
}

TEST_F(UnderWayTest, LargeReadsUpToTheirBytes) {
  post(std::size_t{1} << 20, true);
  EXPECT_EQ(posted_at_once(), kUnderWayBytes >> 20);
  expect_all_arrive();
}

// The device has the next when it ends one.
TEST_F(UnderWayTest, TwoReadsHoweverLarge) {
  post(2 * kUnderWayBytes, true);
  EXPECT_EQ(posted_at_once(), 2u);
  expect_all_arrive();
}

TEST_F(UnderWayTest, SmallWritesUpToTheirNumber) {
  post(kSmall, false);
  EXPECT_EQ(posted_at_once(), kTransfersMax);
  expect_all_arrive();
}

TEST_F(UnderWayTest, LargeWritesUpToTheirBytes) {
  post(std::size_t{1} << 20, false);
  EXPECT_EQ(posted_at_once(), kUnderWayBytes >> 20);
  expect_all_arrive();
}

TEST_F(UnderWayTest, TwoWritesHoweverLarge) {
  post(2 * kUnderWayBytes, false);
  EXPECT_EQ(posted_at_once(), 2u);
  expect_all_arrive();
}

// The device has them: nobody may be told of the end before it lets go, and then all are.
TEST_F(UnderWayTest, AFailureEndsAllOfThem) {
  for (const bool to_worker : {true, false}) {
    post(kSmall, to_worker);
    EXPECT_EQ(posted_at_once(), kTransfersMax);
    fabric_.resume();
    pair_.server->fail({Code::kPeerLost, "failed by the test"});
    pair_.client->fail({Code::kPeerLost, "failed by the test"});
    for (const auto* const ends : {&sent_, &received_}) {
      for (const BulkCompletion& end : *ends) EXPECT_TRUE(end.done());
    }
    TearDown();
    sent_.clear();
    received_.clear();
    SetUp();
  }
}

// A device that gives no completions any more: what it had ends all the same, while the endpoint is there.
TEST_F(UnderWayTest, AFailureEndsWhatADeadDeviceHas) {
  post(kSmall, true);
  EXPECT_EQ(posted_at_once(), kTransfersMax);  // and stays paused
  pair_.server->fail({Code::kPeerLost, "failed by the test"});
  for (const BulkCompletion& end : received_) {
    EXPECT_TRUE(end.done());
    EXPECT_EQ(end.status().code(), Code::kPeerLost);
  }
  EXPECT_FALSE(pair_.server->bulk().move_payload().is_ok());
  fabric_.resume();
}

// An abort behind payload of its tag ends what is left of the receive, and no byte comes after it.
TEST_F(UnderWayTest, AnAbortWaitsForWhatIsBeforeIt) {
  for (const bool to_worker : {true, false}) {
    Endpoint& from = to_worker ? *pair_.client : *pair_.server;
    Endpoint& to = to_worker ? *pair_.server : *pair_.client;
    const std::vector<std::byte> source = test::pattern(kSmall, 2);
    std::vector<std::byte> target(3 * source.size());
    std::array<BulkCompletion, 3> ends;
    ASSERT_TRUE(to.bulk().receive(50, target, ends[0]).is_ok());
    ASSERT_TRUE(from.bulk().send(50, source, ends[1]).is_ok());
    ASSERT_TRUE(from.bulk().send(50, source, ends[2]).is_ok());
    ASSERT_TRUE(from.bulk().abort(50, 9).is_ok());
    EXPECT_TRUE(move_until_done(ends));
    EXPECT_TRUE(ends[1].status().is_ok() && ends[2].status().is_ok());
    EXPECT_EQ(abort_reason(ends[0].status()), 9u);
    const std::vector<std::byte> seen = target;
    EXPECT_EQ(test::find_mismatch(std::span(target).first(source.size()), 2), test::kNoMismatch);
    EXPECT_TRUE(fabric_.wait_idle());
    EXPECT_EQ(seen, target);
    TearDown();
    SetUp();
  }
}

// Many copies to one place: the last one counts, whether it goes through a slot or not.
TEST_F(UnderWayTest, WhatGoesToTheSamePlaceKeepsItsOrder) {
  std::vector<std::byte> target(kSmall);
  std::deque<std::vector<std::byte>> sources;
  std::deque<BulkCompletion> ends;
  for (std::uint64_t tag = 0; tag < kTransfersMax; ++tag) {
    sources.push_back(test::pattern(kSmall, 80 + tag));
    ASSERT_TRUE(pair_.server->bulk().receive(tag, target, ends.emplace_back()).is_ok());
    ASSERT_TRUE(pair_.client->bulk().send(tag, sources.back(), ends.emplace_back()).is_ok());
  }
  EXPECT_TRUE(fabric_.wait_idle());
  while (!ends.back().done()) {  // all that is under way ends before the worker looks
    ASSERT_TRUE(pair_.server->bulk().move_payload().is_ok());
    EXPECT_TRUE(fabric_.wait_idle());
    ASSERT_TRUE(pair_.client->bulk().move_payload().is_ok());
  }
  EXPECT_EQ(test::find_mismatch(target, 80 + kTransfersMax - 1), test::kNoMismatch);
}

TEST_F(UnderWayTest, SoItDoesAtTheClient) {
  constexpr std::size_t kLarge = kSlotBytes + 1;
  std::vector<std::byte> target(kLarge);
  std::deque<std::vector<std::byte>> sources;
  std::deque<BulkCompletion> ends;
  for (const bool remembered : {false, true}) {
    if (remembered) pair_.client->bulk().remember(target);
    for (std::uint64_t tag = 0; tag < kTransfers; ++tag) {
      const std::size_t bytes = tag % 3 == 0 ? kSmallBytes : tag % 3 == 1 ? kSmall : kLarge;
      sources.push_back(test::pattern(bytes, 90 + tag));
      ASSERT_TRUE(
          pair_.client->bulk().receive(tag, std::span(target).first(bytes), ends.emplace_back()).is_ok());
      ASSERT_TRUE(pair_.server->bulk().send(tag, sources.back(), ends.emplace_back()).is_ok());
    }
    while (!ends.back().done()) {  // all that the worker can do is done before the client looks
      for (int turn = 0; turn < 4; ++turn) {
        ASSERT_TRUE(pair_.server->bulk().move_payload().is_ok());
        EXPECT_TRUE(fabric_.wait_idle());
      }
      ASSERT_TRUE(pair_.client->bulk().move_payload().is_ok());
    }
    ASSERT_TRUE(move_until_done(ends));
    EXPECT_EQ(test::find_mismatch(target, 90 + kTransfers - 1), test::kNoMismatch) << remembered;
  }
  pair_.client->bulk().forget(target);
}

// A device that took an answer for lost asks again, also when both ends know all as done and the client has
// let go of the memory.
TEST_F(UnderWayTest, AReadIsRepeatedWhenAllIsDone) {
  fabric_.repeat_reads_after(std::chrono::milliseconds(20));
  std::vector<std::byte> source = test::pattern(2 * kPieceBytes + kSmall, 5);
  for (const bool remembered : {false, true}) {
    std::vector<std::byte> target(source.size());
    std::array<BulkCompletion, 2> ends;
    if (remembered) pair_.client->bulk().remember(source);
    ASSERT_TRUE(pair_.server->bulk().receive(65, target, ends[0]).is_ok());
    ASSERT_TRUE(pair_.client->bulk().send(65, source, ends[1]).is_ok());
    ASSERT_TRUE(move_until_done(ends));
    EXPECT_TRUE(ends[0].status().is_ok() && ends[1].status().is_ok()) << ends[0].status().to_string();
    if (remembered) pair_.client->bulk().forget(source);
    EXPECT_EQ(test::find_mismatch(target, 5), test::kNoMismatch);
    EXPECT_TRUE(fabric_.wait_idle());
  }
  const test::FakeCounters counters = fabric_.counters();
  EXPECT_EQ(counters.repeated_reads, counters.executed[IBV_WR_RDMA_READ]);
}

// Pieces of one tag that somebody wants and that nobody wants, in turns.
TEST_F(UnderWayTest, DiscardedPiecesKeepTheirPlace) {
  constexpr std::size_t kBytes = kSmall;
  for (const bool to_worker : {true, false}) {
    Endpoint& from = to_worker ? *pair_.client : *pair_.server;
    Endpoint& to = to_worker ? *pair_.server : *pair_.client;
    const std::vector<std::byte> source = test::pattern(kBytes * kTransfers, 3);
    std::vector<std::byte> target(source.size());
    std::deque<BulkCompletion> ends;
    for (std::size_t piece = 0; piece < kTransfers; ++piece) {
      const auto place = std::span(target).subspan(piece * kBytes, kBytes);
      ASSERT_TRUE((piece % 3 == 2 ? to.bulk().discard(60, kBytes, ends.emplace_back())
                                  : to.bulk().receive(60, place, ends.emplace_back()))
                      .is_ok());
    }
    ASSERT_TRUE(from.bulk().send(60, source, ends.emplace_back()).is_ok());
    EXPECT_TRUE(move_until_done(ends));
    for (std::size_t piece = 0; piece < kTransfers; ++piece) {
      const auto place = std::span(target).subspan(piece * kBytes, kBytes);
      const auto sent = std::span(source).subspan(piece * kBytes, kBytes);
      EXPECT_EQ(std::equal(place.begin(), place.end(), sent.begin()), piece % 3 != 2) << piece;
    }
    TearDown();
    SetUp();
  }
}

// Of 12 receives every third is so small that its payload comes in a record; all keep their order.
TEST_F(UnderWayTest, SmallTargetsComeInRecordsInTheirPlace) {
  std::vector<std::byte> source, target;
  std::vector<std::size_t> sizes;
  for (std::size_t piece = 0; piece < kTransfers; ++piece)
    sizes.push_back(piece % 3 == 0 ? kSmallBytes - piece : kSmallBytes + 1 + piece);
  source = test::pattern(kTransfers * kSmall, 4);
  target.resize(source.size());
  std::deque<BulkCompletion> ends;
  std::size_t place = 0;
  for (const std::size_t bytes : sizes) {
    ASSERT_TRUE(pair_.client->bulk()
                    .receive(70, std::span(target).subspan(place, bytes), ends.emplace_back())
                    .is_ok());
    place += bytes;
  }
  ASSERT_TRUE(pair_.server->bulk().send(70, std::span(source).first(place), ends.emplace_back()).is_ok());
  const std::uint64_t written = fabric_.counters().executed[IBV_WR_RDMA_WRITE];
  EXPECT_TRUE(move_until_done(ends));
  EXPECT_TRUE(
      std::equal(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(place), source.begin()));
  EXPECT_TRUE(fabric_.wait_idle());
  EXPECT_GE(fabric_.counters().executed[IBV_WR_RDMA_WRITE] - written, 8u) << "the others are WRITTEN";
}

}  // namespace
}  // namespace tf::rdma
