// SPDX-License-Identifier: Apache-2.0
// What the socket and the queue pairs say of the peer's end. Time is given in: none of it, or more than any
// test takes.
#include "rdma/loss.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>

namespace tf::rdma {
namespace {

constexpr std::chrono::milliseconds kNone{0};
constexpr std::chrono::milliseconds kEndless{3'600'000};

class LossTest : public testing::Test {
 protected:
  void SetUp() override { open({.socket = kEndless, .drain = kEndless}); }

  void open(const LossPatience& patience) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    loss = std::make_unique<Loss>(net::OwnedFd(ends[0]), patience);
    peer = net::OwnedFd(ends[1]);
  }

  void say(std::span<const std::byte> bytes) {
    ASSERT_EQ(::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void say(const Bye& whole) { say(std::as_bytes(std::span(&whole, 1))); }
  void hang_up() { peer = {}; }

  void expect_here() {
    const Status status = loss->look();
    EXPECT_TRUE(status.is_ok()) << status.to_string();
    EXPECT_FALSE(loss->is_gone());
  }
  void expect_gone() {
    const Status status = loss->look();
    EXPECT_TRUE(status.is_ok()) << status.to_string();
    EXPECT_TRUE(loss->is_gone());
  }
  void expect_refused(const char* word) {
    const Status status = loss->look();
    EXPECT_EQ(status.code(), Code::kProtocol);
    EXPECT_NE(status.message().find(word), std::string::npos) << status.to_string();
    EXPECT_FALSE(loss->is_gone());
  }
  void expect_bye(const Bye& said) {
    const std::optional<Bye> taken = loss->bye();
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(taken->messages, said.messages);
    EXPECT_EQ(taken->bulk, said.bulk);
  }

  std::unique_ptr<Loss> loss;
  net::OwnedFd peer;
  const Bye bye{.messages = 0x0123456789abcdc0, .bulk = 640};
};

TEST_F(LossTest, ASilentPeerIsHere) {
  expect_here();
  expect_here();
  EXPECT_FALSE(loss->is_late());
  EXPECT_FALSE(loss->is_broken());
  EXPECT_TRUE(loss->overdue().is_ok());
}

// The positions count when nothing comes behind them: the end of the socket.
TEST_F(LossTest, AByeIsTakenWhole) {
  say(bye);
  expect_here();
  hang_up();
  expect_gone();
  expect_bye(bye);
}

TEST_F(LossTest, AByeIsTakenInPieces) {
  const auto bytes = std::as_bytes(std::span(&bye, 1));
  for (const std::byte& each : bytes) {
    say(std::span(&each, 1));
    expect_here();
  }
  hang_up();
  expect_gone();
  expect_bye(bye);
}

TEST_F(LossTest, AnEndWithoutAByeIsADeath) {
  hang_up();
  expect_gone();
  EXPECT_FALSE(loss->bye().has_value());
}

TEST_F(LossTest, PartOfAByeIsNone) {
  say(std::as_bytes(std::span(&bye, 1)).first(sizeof bye - 1));
  expect_here();
  hang_up();
  expect_gone();
  EXPECT_FALSE(loss->bye().has_value());
}

TEST_F(LossTest, AResetIsAnEnd) {
  say(bye);
  // What the peer has not read when it closes makes its end of the socket one with an error.
  ASSERT_EQ(::send(loss->socket(), "x", 1, MSG_NOSIGNAL), 1);
  hang_up();
  expect_gone();
  expect_bye(bye);
}

TEST_F(LossTest, OtherBytesAreRefusedAsSoonAsTheyShow) {
  Bye other = bye;
  other.magic ^= 1;
  const auto bytes = std::as_bytes(std::span(&other, 1));
  say(bytes.first(sizeof other.magic - 1));
  expect_here();
  say(bytes.subspan(sizeof other.magic - 1, 1));
  expect_refused("unexpected bytes");
}

TEST_F(LossTest, BytesBehindAByeAreRefused) {
  say(bye);
  say(bye);
  expect_refused("behind the peer's Bye");
}

TEST_F(LossTest, BytesThatComeLaterBehindAByeAreRefused) {
  say(bye);
  expect_here();
  say(std::as_bytes(std::span(&bye, 1)).first(1));
  expect_refused("behind the peer's Bye");
}

// --- Patience ---------------------------------------------------------------------------------------------

TEST_F(LossTest, WhoHasGoneIsLateAfterAWhile) {
  hang_up();
  EXPECT_FALSE(loss->is_late()) << "nobody has looked";
  expect_gone();
  EXPECT_FALSE(loss->is_late());

  open({.socket = kEndless, .drain = kNone});
  EXPECT_FALSE(loss->is_late()) << "it is here";
  hang_up();
  expect_gone();
  EXPECT_TRUE(loss->is_late());
}

TEST_F(LossTest, AFailureWaitsForTheSocket) {
  loss->note_broken({Code::kPeerLost, "the first reason"});
  EXPECT_TRUE(loss->is_broken());
  EXPECT_FALSE(loss->is_gone());
  EXPECT_TRUE(loss->overdue().is_ok()) << "the socket still has time";
}

TEST_F(LossTest, AFailureCountsWhenTheSocketHadItsTime) {
  open({.socket = kNone, .drain = kEndless});
  EXPECT_TRUE(loss->overdue().is_ok()) << "nothing has failed";
  loss->note_broken({Code::kPeerLost, "the first reason"});
  EXPECT_EQ(loss->overdue().code(), Code::kPeerLost);
  loss->note_broken({Code::kInternal, "what followed from it"});
  EXPECT_EQ(loss->overdue().code(), Code::kPeerLost);
  EXPECT_NE(loss->overdue().message().find("the first reason"), std::string::npos);
}

TEST_F(LossTest, AFailureIsExplainedByTheEndOfTheSocket) {
  open({.socket = kNone, .drain = kEndless});
  loss->note_broken({Code::kPeerLost, "the peer does not answer"});
  say(bye);
  hang_up();
  expect_gone();
  EXPECT_TRUE(loss->overdue().is_ok());
  expect_bye(bye);
}

// Of many threads that look one reads, and nothing is taken twice.
TEST_F(LossTest, AnyThreadLooks) {
  std::array<std::thread, 4> threads;
  for (std::thread& thread : threads)
    thread = std::thread([this] {
      const Deadline deadline = Deadline::after(std::chrono::seconds(20));
      while (!loss->is_gone() && !deadline.passed()) {
        EXPECT_TRUE(loss->look().is_ok());
        std::this_thread::yield();
      }
      EXPECT_TRUE(loss->is_gone());
      EXPECT_TRUE(loss->bye().has_value());
    });
  for (const std::byte& each : std::as_bytes(std::span(&bye, 1))) say(std::span(&each, 1));
  hang_up();
  for (std::thread& thread : threads) thread.join();
  expect_bye(bye);
}

}  // namespace
}  // namespace tf::rdma
