// SPDX-License-Identifier: Apache-2.0
// Bytes that never arrive are found, and bytes that only wait are not mistaken for them.
#include "transport/lane_watch.h"

#include <gtest/gtest.h>

#include "transport/loopback.h"

namespace tf {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 4s;
constexpr auto kTurn = 1s;

// An endpoint whose kernel has counted what the test says.
class CountedEndpoint : public Endpoint {
 public:
  LaneTraffics traffics{{}, 2, kPatience};

  LaneTraffics lane_traffic() const override { return traffics; }
  void drop_lane(std::size_t lane, const Status& why) override {
    traffics.lanes[lane].lost = true;
    dropped.push_back(why.message());
  }
  std::vector<std::string> dropped;
  std::string_view transport() const override { return "counted"; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Slot> reserve(std::size_t) override { return Status(Code::kUnsupported, "only counted"); }
  void publish(Slot) override {}
  void abandon(Slot) override {}
  Result<std::size_t> poll(MessageSink&, std::size_t) override { return std::size_t{0}; }
  BulkPlane& bulk() override { std::abort(); }
  Status wait(Interest, Deadline) override { return {Code::kTimeout, "only counted"}; }
  void fail(Status) override {}
  Status status() const override { return Status::ok(); }

 private:
  const Capabilities capabilities_{};
};

class LaneWatchTest : public testing::Test {
 protected:
  LaneWatchTest() {
    endpoint_.traffics.lanes[0].name = "message";
    endpoint_.traffics.lanes[1].name = "bulk";
  }
  LaneTraffic& lane(std::size_t index) { return endpoint_.traffics.lanes[index]; }
  Status hear(std::uint64_t message, std::uint64_t bulk) { return watch_.hear({{message, bulk}, 2}); }
  // A turn later.
  Result<std::optional<LaneReport>> turn(LaneWatch::Clock::duration later = kTurn) {
    now_ += later;
    return watch_.turn(now_);
  }
  // Turns until one fails; 0: none of ten did.
  int turns_until_loss(std::string* why = nullptr) {
    for (int number = 1; number <= 10; ++number) {
      const Status status = turn().status();
      if (status.is_ok()) continue;
      EXPECT_EQ(status.code(), Code::kPeerLost);
      if (why != nullptr) *why = status.message();
      return number;
    }
    return 0;
  }

  CountedEndpoint endpoint_;
  LaneWatch::Clock::time_point now_ = LaneWatch::Clock::now() + 10ms;
  LaneWatch watch_{endpoint_};
};

TEST_F(LaneWatchTest, TellsWhatIsNewOnceATurn) {
  EXPECT_FALSE(turn().value()) << "nothing was sent";
  lane(0).sent = 100;
  EXPECT_FALSE(turn(kTurn / 10).value()) << "not due";
  const auto news = turn().value();
  ASSERT_TRUE(news);
  EXPECT_EQ(news->count, 2u);
  EXPECT_EQ(news->sent[0], 100u);
  EXPECT_EQ(news->sent[1], 0u);
  EXPECT_FALSE(turn().value()) << "nothing new";
  lane(1).sent = 7;
  EXPECT_TRUE(turn().value());
}

TEST_F(LaneWatchTest, WhatNeverArrivesIsLost) {
  lane(1).received = 60;
  ASSERT_TRUE(turn().is_ok());
  ASSERT_TRUE(hear(0, 61).is_ok());
  std::string why;
  EXPECT_EQ(turns_until_loss(&why), 4);
  EXPECT_NE(why.find("1 bytes that were sent on the bulk lane"), std::string::npos) << why;
}

TEST_F(LaneWatchTest, ASpareLaneIsDroppedAndItsCountStays) {
  lane(1).spare = true;
  lane(1).sent = 70;
  ASSERT_TRUE(turn().value());
  ASSERT_TRUE(hear(0, 1000).is_ok());
  EXPECT_EQ(turns_until_loss(), 0) << "the session goes on";
  ASSERT_EQ(endpoint_.dropped.size(), 1U) << "told once";
  EXPECT_NE(endpoint_.dropped[0].find("1000 bytes that were sent on the bulk lane"), std::string::npos);
  lane(1).sent = 0;  // the kernel forgets a connection that was cut
  lane(0).sent = 5;
  EXPECT_EQ(turn().value()->sent[1], 70U) << "the peer takes no smaller one";
}

TEST_F(LaneWatchTest, ASpareLaneNeedNotWaitForASilentHost) {
  lane(1).spare = true;
  endpoint_.traffics.patience = std::chrono::hours(1);
  LaneWatch patient(endpoint_);
  ASSERT_TRUE(patient.hear({{0, 1000}, 2}).is_ok());
  const auto until = now_ + 3 * kSparePatience;
  while (now_ < until && endpoint_.dropped.empty()) {
    now_ += kSparePatience / 4;
    EXPECT_TRUE(patient.turn(now_).is_ok());
  }
  EXPECT_EQ(endpoint_.dropped.size(), 1U);
}

TEST_F(LaneWatchTest, WhatArrivesSlowlyIsNot) {
  ASSERT_TRUE(hear(0, 1000).is_ok());
  for (int number = 0; number < 10; ++number) {
    lane(1).received += 50;
    for (int quiet = 0; quiet < 3; ++quiet) ASSERT_TRUE(turn().is_ok());
  }
  lane(1).received = 1000;
  EXPECT_EQ(turns_until_loss(), 0);
}

TEST_F(LaneWatchTest, WhatWaitsForRoomIsNot) {
  lane(0).received = 500;
  lane(0).unread = true;
  ASSERT_TRUE(hear(1000, 0).is_ok());
  EXPECT_EQ(turns_until_loss(), 0);
  lane(0).unread = false;
  EXPECT_EQ(turns_until_loss(), 4) << "now it has all the room it wants";
}

// The clock went on while the process, or the host, did not.
TEST_F(LaneWatchTest, ASuspendedHostLooksMoreThanOnce) {
  ASSERT_TRUE(turn().is_ok());
  ASSERT_TRUE(hear(10, 0).is_ok());
  EXPECT_TRUE(turn(3600s).is_ok());
  EXPECT_TRUE(turn().is_ok());
  lane(0).received = 10;
  EXPECT_EQ(turns_until_loss(), 0);
}

TEST_F(LaneWatchTest, OtherLanesAndFewerBytesAreNoReport) {
  EXPECT_EQ(watch_.hear({{1}, 1}).code(), Code::kProtocol);
  ASSERT_TRUE(hear(10, 10).is_ok());
  EXPECT_EQ(hear(10, 9).code(), Code::kProtocol);
}

TEST(LaneWatch, SleepsForGoodWhereNothingIsLost) {
  const auto pair = make_loopback_pair();
  LaneWatch watch(*pair.first);
  EXPECT_EQ(watch.sleep_ms(LaneWatch::Clock::now()), -1);
  EXPECT_FALSE(watch.turn(LaneWatch::Clock::now() + 1h).value());
}

// The peer's kernel counts, and this side's is an older one.
TEST(LaneWatch, AReportIsOfNoUseWhereNothingIsCounted) {
  const auto pair = make_loopback_pair();
  LaneWatch watch(*pair.first);
  EXPECT_TRUE(watch.hear({{1000, 1000}, 2}).is_ok());
  EXPECT_FALSE(watch.turn(LaneWatch::Clock::now() + 1h).value());
}

}  // namespace
}  // namespace tf
