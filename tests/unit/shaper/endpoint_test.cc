// SPDX-License-Identifier: Apache-2.0
// When things become visible over a shaped endpoint, on a clock that the test moves.
#include "transport/shaper/endpoint.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/peer.h"
#include "transport/loopback.h"

namespace tf::shaper {
namespace {

using std::chrono::microseconds;

class HandClock final : public Clock {
 public:
  Time now() const override { return now_; }
  void set(microseconds at) { now_ = Time{} + std::chrono::hours(1) + at; }

 private:
  Time now_ = Time{} + std::chrono::hours(1);
};

class Ids final : public MessageSink {
 public:
  Status on_message(const FrameHeader& header, std::span<const std::byte>) override {
    ids.push_back(header.request_id);
    return Status::ok();
  }
  std::vector<std::uint32_t> ids;
};

// A byte a nanosecond, 100 us there and back.
class Shaped : public testing::Test {
 protected:
  Shaped() {
    auto [near, far] = make_loopback_pair();
    near_ = make_shaped_by_hand(std::move(near), {.rtt = microseconds(100), .bits_per_second = 8'000'000'000},
                                clock_);
    far_ = std::move(far);
  }
  // A message of `bytes`, header included.
  static Status publish(Endpoint& endpoint, std::uint32_t id, std::size_t bytes) {
    return test::try_publish(endpoint, 1, id, std::vector<std::byte>(bytes - kFrameHeaderBytes));
  }
  std::vector<std::uint32_t> come_far() {
    Ids ids;
    EXPECT_TRUE(near_->poll(none_, 10).is_ok());  // hands over what is due
    EXPECT_TRUE(far_->poll(ids, 10).is_ok());
    return ids.ids;
  }
  std::vector<std::uint32_t> come_near() {
    Ids ids;
    EXPECT_TRUE(near_->poll(ids, 10).is_ok());
    return ids.ids;
  }
  using Got = std::vector<std::uint32_t>;

  int us_ = 0;
  HandClock clock_;
  Ids none_;
  std::unique_ptr<Endpoint> near_;
  std::unique_ptr<Endpoint> far_;
};

TEST_F(Shaped, AMessageIsThereHalfARoundTripAndItsSerialisationLater) {
  ASSERT_TRUE(publish(*near_, 1, 1000));
  ASSERT_TRUE(publish(*near_, 2, 2000));
  clock_.set(microseconds(50));
  EXPECT_EQ(come_far(), Got{});
  clock_.set(microseconds(51));
  EXPECT_EQ(come_far(), Got{1});
  clock_.set(microseconds(52));
  EXPECT_EQ(come_far(), Got{});
  clock_.set(microseconds(53));
  EXPECT_EQ(come_far(), Got{2});
}

TEST_F(Shaped, AnAnswerTakesTheOtherHalf) {
  ASSERT_TRUE(publish(*far_, 7, 1000));
  EXPECT_EQ(come_near(), Got{});  // it is seen to have left now
  clock_.set(microseconds(50));
  EXPECT_EQ(come_near(), Got{});
  clock_.set(microseconds(51));
  EXPECT_EQ(come_near(), Got{7});
}

TEST_F(Shaped, LimitOfAPollIsKept) {
  for (std::uint32_t id = 1; id <= 5; ++id) ASSERT_TRUE(publish(*far_, id, 100));
  EXPECT_EQ(come_near(), Got{});
  clock_.set(microseconds(1000));
  Ids ids;
  EXPECT_EQ(near_->poll(ids, 2).value(), 2u);
  EXPECT_EQ(near_->poll(ids, 10).value(), 3u);
  EXPECT_EQ(ids.ids, (Got{1, 2, 3, 4, 5}));
}

TEST_F(Shaped, PayloadIsDeliveredAtTheRate) {
  constexpr std::size_t kBytes = 600'000;  // three pieces
  const std::vector<std::byte> source = test::pattern(kBytes, 1);
  std::vector<std::byte> target(kBytes);
  BulkCompletion sent;
  BulkCompletion received;
  ASSERT_TRUE(near_->bulk().send(1, source, sent));
  ASSERT_TRUE(far_->bulk().receive(1, target, received));
  const auto run_to = [&](int us) {
    for (; us_ <= us; ++us_) {
      clock_.set(microseconds(us_));
      (void)near_->bulk().move_payload();
      (void)far_->bulk().move_payload();
    }
  };
  run_to(600);
  EXPECT_FALSE(received.done());
  EXPECT_FALSE(sent.done());
  run_to(660);  // pieces leave on whole microseconds here
  EXPECT_TRUE(received.done());
  EXPECT_TRUE(sent.done());
  EXPECT_EQ(test::find_mismatch(target, 1), test::kNoMismatch);
}

TEST_F(Shaped, ReceivedPayloadCompletesWhenItWouldHaveCome) {
  constexpr std::size_t kBytes = 600'000;
  const std::vector<std::byte> source = test::pattern(kBytes, 2);
  std::vector<std::byte> target(kBytes);
  BulkCompletion sent;
  BulkCompletion received;
  ASSERT_TRUE(near_->bulk().receive(1, target, received));
  ASSERT_TRUE(far_->bulk().send(1, source, sent));
  for (int turn = 0; turn < 100; ++turn) {
    (void)far_->bulk().move_payload();
    (void)near_->bulk().move_payload();
  }
  clock_.set(microseconds(649));
  (void)near_->bulk().move_payload();
  EXPECT_FALSE(received.done());
  clock_.set(microseconds(650));
  (void)near_->bulk().move_payload();
  ASSERT_TRUE(received.done());
  EXPECT_TRUE(received.status().is_ok());
  EXPECT_EQ(test::find_mismatch(target, 2), test::kNoMismatch);
}

TEST_F(Shaped, AnAbortIsOnTheWayToo) {
  std::vector<std::byte> target(100);
  BulkCompletion received;
  ASSERT_TRUE(far_->bulk().receive(3, target, received));
  ASSERT_TRUE(near_->bulk().abort(3, 719));
  const auto move = [&] {
    (void)near_->bulk().move_payload();
    (void)far_->bulk().move_payload();
  };
  clock_.set(microseconds(49));
  move();
  EXPECT_FALSE(received.done());
  clock_.set(microseconds(50));
  move();  // to the endpoint inside
  move();  // and over it
  ASSERT_TRUE(received.done());
  EXPECT_EQ(abort_reason(received.status()), 719u);
}

TEST_F(Shaped, QueuedMessagesAreBounded) {
  Status status;
  std::uint32_t accepted = 0;
  while ((status = publish(*near_, accepted, 50'000)).is_ok() && accepted < 1000) ++accepted;
  EXPECT_EQ(status.code(), Code::kWouldBlock);
  EXPECT_LE(accepted, 84u);  // 4 MiB
  clock_.set(microseconds(1'000'000));
  EXPECT_FALSE(come_far().empty());
  EXPECT_TRUE(publish(*near_, 0, 1000).is_ok());
}

TEST_F(Shaped, TheLossOfThePeerComesBehindWhatItSent) {
  ASSERT_TRUE(publish(*far_, 9, 1000));
  far_.reset();
  EXPECT_EQ(come_near(), Got{});
  EXPECT_EQ(come_near(), Got{});
  EXPECT_TRUE(near_->status().is_ok());
  clock_.set(microseconds(51));
  EXPECT_EQ(come_near(), Got{9});
  clock_.set(microseconds(52));
  EXPECT_EQ(near_->poll(none_, 10).code(), Code::kPeerLost);
  EXPECT_EQ(near_->status().code(), Code::kPeerLost);
}

}  // namespace
}  // namespace tf::shaper
