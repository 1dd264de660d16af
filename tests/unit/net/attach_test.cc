// SPDX-License-Identifier: Apache-2.0
#include "transport/net/attach.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <random>

#include "transport/net/socket.h"

namespace tf::net {
namespace {

constexpr TransportKind kKind{3};
constexpr TransportKind kOther{1};

class AttachTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    here_ = OwnedFd(ends[0]);
    there_ = OwnedFd(ends[1]);
  }
  std::array<std::byte, kAttachFrameBytes> frame_of(const Attach& attach) {
    std::array<std::byte, kAttachFrameBytes> frame;
    EXPECT_TRUE(write_attach(here_.get(), attach, soon()).is_ok());
    EXPECT_TRUE(read_all(there_.get(), frame, soon()).is_ok());
    return frame;
  }
  static Deadline soon() { return Deadline::after(std::chrono::seconds(5)); }
  OwnedFd here_;
  OwnedFd there_;
};

TEST_F(AttachTest, RoundTripsAndLeavesTheRest) {
  const Attach sent{.token = Token::random().value(), .kind = kKind, .lane = 3};
  ASSERT_TRUE(write_attach(here_.get(), sent, soon()).is_ok());
  const std::byte next[1] = {std::byte{9}};
  ASSERT_TRUE(write_all(here_.get(), next, soon()).is_ok());
  const Result<Attach> got = read_attach(there_.get(), soon());
  ASSERT_TRUE(got.is_ok()) << got.status().to_string();
  EXPECT_EQ(got.value().token, sent.token);
  EXPECT_EQ(got.value().kind, kKind);
  EXPECT_EQ(got.value().lane, 3u);
  std::byte rest[1];
  ASSERT_TRUE(read_all(there_.get(), rest, soon()).is_ok());
  EXPECT_EQ(rest[0], std::byte{9});
}

TEST_F(AttachTest, ControlConnectionHasAZeroToken) {
  const Result<Attach> control = decode_attach(frame_of({}));
  ASSERT_TRUE(control.is_ok());
  EXPECT_TRUE(control.value().token.is_zero());
  EXPECT_EQ(decode_attach(frame_of({.token = {}, .kind = kOther, .lane = 0})).code(), Code::kProtocol);
  Attach named{.token = Token::random().value(), .kind = TransportKind::kControl, .lane = 0};
  EXPECT_EQ(decode_attach(frame_of(named)).code(), Code::kProtocol);
}

TEST_F(AttachTest, ALaneIsOfItsEndpointItsKindAndANumber) {
  const Token token = Token::random().value();
  const auto check = [&](const Attach& lane) { return check_lane(lane, "tcp", token, kKind, 2); };
  EXPECT_TRUE(check({.token = token, .kind = kKind, .lane = 0}).is_ok());
  EXPECT_TRUE(check({.token = token, .kind = kKind, .lane = 1}).is_ok());
  EXPECT_EQ(check({.token = Token::random().value(), .kind = kKind, .lane = 0}).code(), Code::kPermission);
  EXPECT_EQ(check({.token = token, .kind = kOther, .lane = 0}).code(), Code::kProtocol);
  const Status beyond = check({.token = token, .kind = kKind, .lane = 2});
  EXPECT_EQ(beyond.code(), Code::kProtocol);
  EXPECT_EQ(beyond.message(), "tcp: there is no lane 2");
}

TEST_F(AttachTest, EveryFlippedBitOutsideTokenAndLaneIsRefused) {
  const auto good = frame_of({.token = Token::random().value(), .kind = kKind, .lane = 0});
  ASSERT_TRUE(decode_attach(good).is_ok());
  for (std::size_t offset = 0; offset < good.size(); ++offset) {
    const bool free = offset >= 24 && offset < 40;  // the token
    const bool kind = offset == 40;                 // another known kind is well-formed
    const bool lane = offset == 44;                 // another small lane too
    const bool security = offset == 48;             // and another level
    const bool lanes = offset == 52;                // and another number of lanes
    if (free || kind || lane || security || lanes) continue;
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto bad = good;
      bad[offset] ^= static_cast<std::byte>(1u << bit);
      EXPECT_EQ(decode_attach(bad).code(), Code::kProtocol) << "offset " << offset << " bit " << bit;
    }
  }
}

TEST_F(AttachTest, ShortAndSilentPeersEnd) {
  const std::byte half[20] = {};
  ASSERT_TRUE(write_all(here_.get(), half, soon()).is_ok());
  EXPECT_EQ(read_attach(there_.get(), Deadline::after(std::chrono::milliseconds(20))).code(), Code::kTimeout);
  here_.reset();
  EXPECT_EQ(read_attach(there_.get(), soon()).code(), Code::kPeerLost);
}

TEST_F(AttachTest, RandomBytesAreRefused) {
  std::minstd_rand random(7);
  for (int round = 0; round < 1000; ++round) {
    std::array<std::byte, kAttachFrameBytes> frame;
    for (std::byte& byte : frame) byte = static_cast<std::byte>(random());
    EXPECT_EQ(decode_attach(frame).code(), Code::kProtocol);
  }
}

TEST(Token, IsRandom) {
  EXPECT_NE(Token::random().value(), Token::random().value());
  EXPECT_FALSE(Token::random().value().is_zero());
}

}  // namespace
}  // namespace tf::net
