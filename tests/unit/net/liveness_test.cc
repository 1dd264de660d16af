// SPDX-License-Identifier: Apache-2.0
// Who is busy and who is gone, on real connections.
#include "transport/net/liveness.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <thread>
#include <vector>

#include "tests/support/cut.h"
#include "tests/unit/net/connected.h"

namespace tf::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = Deadline::Clock;

constexpr milliseconds kTimeout{1000};
constexpr seconds kBusy{4};          // several timeouts
constexpr seconds kNoticeLimit{10};  // three for the probes, the rest for the machine

class Liveness : public Connected {
 protected:
  void SetUp() override {
    Connected::SetUp();
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_TRUE(watch_idle(ours_.get(), kTimeout).is_ok());
    ASSERT_TRUE(watch_idle(theirs_.get(), kTimeout).is_ok());
  }

  // Sends until the socket takes no more; the peer's window is shut then.
  std::size_t fill() {
    const std::vector<std::byte> bytes(1 << 20);
    std::size_t sent = 0;
    for (int idle = 0; idle < 20;) {
      const ssize_t step = ::send(ours_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (step > 0) sent += static_cast<std::size_t>(step);
      idle = step > 0 ? 0 : idle + 1;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return sent;
  }
  std::size_t drain(std::size_t bytes) {
    std::vector<std::byte> sink(bytes);
    return read_all(theirs_.get(), sink, Deadline::after(seconds(20))).is_ok() ? bytes : 0;
  }
  static int option(int socket, int level, int name) {
    int value = -1;
    socklen_t length = sizeof value;
    EXPECT_EQ(::getsockopt(socket, level, name, &value, &length), 0);
    return value;
  }
  // How long until the connection has ended; more than kNoticeLimit: never.
  static Clock::duration time_until_end(int socket) {
    const auto start = Clock::now();
    std::byte byte{};
    while (Clock::now() - start <= kNoticeLimit &&
           !(::recv(socket, &byte, 1, MSG_DONTWAIT) < 0 && errno == ETIMEDOUT))
      std::this_thread::sleep_for(milliseconds(20));
    return Clock::now() - start;
  }
};

TEST_F(Liveness, PeerThatReadsNothingIsBusy) {
  const std::size_t sent = fill();
  std::this_thread::sleep_for(kBusy);
  EXPECT_EQ(drain(sent), sent) << "the connection was ended";
}

TEST_F(Liveness, IdlePeerIsThere) {
  ASSERT_TRUE(watch_silence(ours_.get(), kTimeout).is_ok());
  std::this_thread::sleep_for(kBusy);
  const std::byte one{1};
  ASSERT_TRUE(write_all(ours_.get(), std::span(&one, 1), Deadline::after(seconds(1))).is_ok());
  EXPECT_EQ(drain(1), 1u);
}

// A lane, and a control connection.
TEST_F(Liveness, PeerThatAnswersNoProbeIsGone) {
  ASSERT_TRUE(watch_silence(theirs_.get(), kTimeout).is_ok());
  ASSERT_TRUE(test::cut_off(ours_.get()) && test::cut_off(theirs_.get()));
  EXPECT_LT(time_until_end(ours_.get()), kNoticeLimit);
  EXPECT_LT(time_until_end(theirs_.get()), kNoticeLimit);
}

// A cut that heals in time costs nothing.
TEST_F(Liveness, PeerThatAnswersLateIsThere) {
  for (const int socket : {ours_.get(), theirs_.get()})
    ASSERT_TRUE(watch_silence(socket, seconds(8)).is_ok());
  ASSERT_TRUE(test::cut_off(theirs_.get()));
  std::this_thread::sleep_for(kBusy);
  ASSERT_TRUE(test::join_again(theirs_.get()));
  std::this_thread::sleep_for(kBusy);
  const std::byte one{1};
  ASSERT_TRUE(write_all(ours_.get(), std::span(&one, 1), Deadline::after(seconds(1))).is_ok());
  EXPECT_EQ(drain(1), 1u);
}

// Interval, probes and what the kernel gives a control connection, by TF_IO_TIMEOUT.
TEST_F(Liveness, ProbesFitTheTimeout) {
  struct Expected {
    int timeout_s, interval_s, probes, whole_ms;
  };
  for (const Expected& expected : {Expected{1, 1, 2, 3000}, Expected{3, 1, 2, 3000}, Expected{4, 1, 3, 4000},
                                   Expected{30, 7, 3, 28000}, Expected{86400, 21600, 3, 86'400'000}}) {
    ASSERT_TRUE(watch_silence(ours_.get(), seconds(expected.timeout_s)).is_ok());
    EXPECT_EQ(option(ours_.get(), SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(ours_.get(), IPPROTO_TCP, TCP_KEEPIDLE), expected.interval_s);
    EXPECT_EQ(option(ours_.get(), IPPROTO_TCP, TCP_KEEPINTVL), expected.interval_s);
    EXPECT_EQ(option(ours_.get(), IPPROTO_TCP, TCP_KEEPCNT), expected.probes);
    EXPECT_EQ(option(ours_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT), expected.whole_ms);
  }
  EXPECT_EQ(option(theirs_.get(), IPPROTO_TCP, TCP_USER_TIMEOUT), 0) << "a lane has none";
  EXPECT_EQ(watch_idle(ours_.get(), seconds(0)).code(), Code::kInvalidArgument);
  EXPECT_EQ(watch_silence(ours_.get(), seconds(-1)).code(), Code::kInvalidArgument);
}

TEST(LivenessOf, UnixSocketsIsTheirKernelsToTell) {
  std::array<int, 2> ends{-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const OwnedFd ours(ends[0]);
  const OwnedFd theirs(ends[1]);
  EXPECT_TRUE(watch_idle(ours.get(), kTimeout).is_ok());
  EXPECT_TRUE(watch_silence(ours.get(), kTimeout).is_ok());
}

}  // namespace
}  // namespace tf::net
