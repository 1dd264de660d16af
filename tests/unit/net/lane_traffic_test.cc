// SPDX-License-Identifier: Apache-2.0
// The two kernels of a connection count the same bytes.
#include "transport/net/lane_traffic.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <thread>
#include <vector>

#include "tests/unit/net/connected.h"

namespace tf::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LaneTrafficTest : public Connected {
 protected:
  static LaneTraffic of(const OwnedFd& end) {
    const auto traffic = traffic_of(end.get(), "bulk");
    EXPECT_TRUE(traffic) << "this kernel does not count";
    return traffic.value_or(LaneTraffic());
  }
  // As much as the kernel takes, at most `bytes`.
  static std::size_t send_some(const OwnedFd& end, std::size_t bytes) {
    const std::vector<std::byte> data(1 << 16, std::byte{1});
    std::size_t sent = 0;
    while (sent < bytes) {
      const ssize_t got = ::send(end.get(), data.data(), std::min(data.size(), bytes - sent), MSG_DONTWAIT);
      if (got <= 0) break;
      sent += static_cast<std::size_t>(got);
    }
    return sent;
  }
  static std::size_t read_all_there_is(const OwnedFd& end) {
    std::vector<std::byte> data(1 << 16);
    std::size_t read = 0;
    for (;;) {
      const ssize_t got = ::recv(end.get(), data.data(), data.size(), MSG_DONTWAIT);
      if (got <= 0) return read;
      read += static_cast<std::size_t>(got);
    }
  }
  static bool arrived(const OwnedFd& end, std::uint64_t bytes) {
    const Deadline deadline = Deadline::after(seconds(10));
    while (of(end).received != bytes && !deadline.passed()) std::this_thread::sleep_for(milliseconds(1));
    return of(end).received == bytes;
  }
};

TEST_F(LaneTrafficTest, AFreshConnectionHasCarriedNothing) {
  for (const OwnedFd* end : {&ours_, &theirs_}) {
    const LaneTraffic traffic = of(*end);
    EXPECT_EQ(traffic.name, "bulk");
    EXPECT_EQ(traffic.sent, 0u);
    EXPECT_EQ(traffic.received, 0u);
    EXPECT_FALSE(traffic.unread);
  }
}

TEST_F(LaneTrafficTest, WhatOneHasSentTheOtherHasReceived) {
  for (const auto& [from, to] : {std::pair(&ours_, &theirs_), std::pair(&theirs_, &ours_)}) {
    EXPECT_EQ(send_some(*from, 12'345), 12'345u);
    EXPECT_EQ(of(*from).sent, 12'345u);
    EXPECT_TRUE(arrived(*to, 12'345)) << of(*to).received;
    EXPECT_TRUE(of(*to).unread);
    EXPECT_EQ(read_all_there_is(*to), 12'345u);
    EXPECT_FALSE(of(*to).unread);
  }
}

// What waits in the sender's kernel is sent, and the receiver, which has no room, has unread bytes.
TEST_F(LaneTrafficTest, AFullConnectionIsCountedWhole) {
  std::size_t sent = 0;
  while (const std::size_t more = send_some(ours_, 64 << 20)) {
    sent += more;
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_EQ(of(ours_).sent, sent);
  EXPECT_LT(of(theirs_).received, sent);
  EXPECT_TRUE(of(theirs_).unread);
  std::size_t read = 0;
  const Deadline deadline = Deadline::after(seconds(20));
  while (read < sent && !deadline.passed()) {
    const std::size_t more = read_all_there_is(theirs_);
    if (more == 0) std::this_thread::sleep_for(milliseconds(1));
    read += more;
  }
  EXPECT_EQ(read, sent);
  EXPECT_EQ(of(theirs_).received, sent);
  EXPECT_FALSE(of(theirs_).unread);
}

TEST(LaneTraffic, IsTcpsOnly) {
  std::array<int, 2> pair{-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const OwnedFd one(pair[0]);
  const OwnedFd other(pair[1]);
  EXPECT_FALSE(traffic_of(one.get(), "bulk"));
  EXPECT_FALSE(traffic_of(-1, "bulk"));
}

}  // namespace
}  // namespace tf::net
