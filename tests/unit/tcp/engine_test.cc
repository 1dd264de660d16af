// SPDX-License-Identifier: Apache-2.0
// Late release of sent memory, from the io_uring sender up to the bulk lane, and the waker's seats.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "tcp/bulk_lane.h"
#include "tcp/probe.h"
#include "tcp/uring_engine.h"
#include "transport/net/socket.h"
#include "transport/net/waker.h"

namespace tf::tcp {
namespace {

constexpr std::chrono::seconds kEngineLimit(5);
constexpr std::size_t kBodyBytes = 64 * 1024;  // the smallest that is sent without a copy

// Nothing ever comes.
class SilentReceiver final : public Receiver {
 public:
  void start(std::span<std::byte> target) override { busy_ = !target.empty(); }
  bool busy() const override { return busy_; }
  Result<std::size_t> finish() override { return std::size_t{0}; }
  void cancel() override { busy_ = false; }
  pollfd wait_for() const override { return {.fd = -1, .events = 0, .revents = 0}; }
  bool uses_ring() const override { return false; }

 private:
  bool busy_ = false;
};

// Takes everything at once and frees it when told to.
class LateSender final : public Sender {
 public:
  void start(std::span<const std::byte> source, bool) override { started_ = source.size(); }
  bool busy() const override { return started_ != 0; }
  Result<std::size_t> finish() override {
    held_ += started_;
    return std::exchange(started_, 0);
  }
  std::size_t take_released() override { return free_ ? std::exchange(held_, 0) : 0; }
  std::size_t held() const override { return held_; }
  void cancel() override { started_ = 0; }
  pollfd wait_for() const override { return {.fd = -1, .events = 0, .revents = 0}; }
  void free_all() { free_ = true; }

 private:
  std::size_t started_ = 0;
  std::size_t held_ = 0;
  bool free_ = false;
};

// Who drives a lane goes to wait when nothing moved, and would wait for a transfer that has ended.
TEST(TcpBulkLane, EndOfASendCountsAsMovement) {
  auto owned = std::make_unique<LateSender>();
  LateSender& sender = *owned;
  BulkLane lane({.receiver = std::make_unique<SilentReceiver>(), .sender = std::move(owned)});
  const std::vector<std::byte> source(kBodyBytes);
  BulkCompletion done;
  ASSERT_TRUE(lane.queue().send(1, source, done).is_ok());
  EXPECT_EQ(lane.move().value(), sizeof(ChunkHeader) + kBodyBytes);
  EXPECT_FALSE(done.done());
  EXPECT_EQ(lane.move().value(), 0u);
  sender.free_all();
  EXPECT_GT(lane.move().value(), 0u);
  EXPECT_TRUE(done.done());
  EXPECT_EQ(lane.move().value(), 0u);
  lane.stop({Code::kClosed, "end of the test"});
}

// Takes everything at once, and sends it when it is asked again.
class LazySender final : public Sender {
 public:
  explicit LazySender(Status failure) : failure_(std::move(failure)) {}
  void start(std::span<const std::byte> source, bool) override { started_ = source.size(); }
  bool busy() const override { return started_ != 0; }
  Result<std::size_t> finish() override {
    if (started_ == 0 && !failure_.is_ok()) return failure_;
    if (started_ == 0) released_ = held_;
    held_ += started_;
    return std::exchange(started_, 0);
  }
  std::size_t take_released() override {
    held_ -= released_;
    return std::exchange(released_, 0);
  }
  std::size_t held() const override { return held_; }
  void cancel() override { started_ = 0; }
  pollfd wait_for() const override { return {.fd = -1, .events = 0, .revents = 0}; }

 private:
  const Status failure_;
  std::size_t started_ = 0;
  std::size_t held_ = 0;
  std::size_t released_ = 0;
};

// A sender that works ahead of the wire is asked again when there is nothing more to start.
TEST(TcpBulkLane, GoesOnWithWhatItsSenderHolds) {
  BulkLane lane(
      {.receiver = std::make_unique<SilentReceiver>(), .sender = std::make_unique<LazySender>(Status::ok())});
  const std::vector<std::byte> source(kBodyBytes);
  BulkCompletion done;
  ASSERT_TRUE(lane.queue().send(1, source, done).is_ok());
  EXPECT_GT(lane.move().value(), 0u);
  ASSERT_TRUE(done.done());
  EXPECT_TRUE(done.status().is_ok());
  lane.stop({Code::kClosed, "end of the test"});
}

TEST(TcpBulkLane, LearnsThatWhatItsSenderHoldsCannotBeSent) {
  BulkLane lane({.receiver = std::make_unique<SilentReceiver>(),
                 .sender = std::make_unique<LazySender>(Status(Code::kProtocol, "no"))});
  const std::vector<std::byte> source(kBodyBytes);
  BulkCompletion done;
  ASSERT_TRUE(lane.queue().send(1, source, done).is_ok());
  Result<std::size_t> moved = lane.move();
  if (moved) moved = lane.move();
  EXPECT_EQ(moved.code(), Code::kProtocol);
  ASSERT_TRUE(done.done());
  EXPECT_EQ(done.status().code(), Code::kProtocol);
}

class UringSend : public testing::Test {
 protected:
  void SetUp() override {
    if (!probe().available.is_ok()) GTEST_SKIP() << probe().available.message();
    if (!probe().features.zero_copy_send) GTEST_SKIP() << "no SEND_ZC in this kernel";
    Result<net::Listener> listener = net::Listener::open(net::Address::tcp("127.0.0.1", 0));
    ASSERT_TRUE(listener.is_ok());
    ours_ = net::dial(listener->address(), Deadline::after(kEngineLimit)).value();
    ASSERT_TRUE(net::wait_readable(listener->fd(), Deadline::after(kEngineLimit)).is_ok());
    peer_ = listener->accept().value();
    Result<LaneIo> io = make_uring_io(ours_.get(), Lane::kBulk, {.zero_copy_send = true}, true);
    ASSERT_TRUE(io.is_ok()) << io.status().to_string();
    io_ = std::move(*io);
  }
  void TearDown() override {
    if (io_.sender != nullptr) io_.sender->cancel();
  }

  std::size_t finish() {
    const Deadline deadline = Deadline::after(kEngineLimit);
    std::size_t sent = 0;
    while (sent == 0 && !deadline.passed()) sent = io_.sender->finish().value();
    return sent;
  }

  // The peer reads on: the kernel frees what was acknowledged.
  std::size_t take_released() {
    std::array<std::byte, 16 * 1024> sink;
    while (::read(peer_.get(), sink.data(), sink.size()) > 0) {
    }
    return io_.sender->take_released();
  }

  net::OwnedFd ours_;
  net::OwnedFd peer_;
  LaneIo io_;
};

// The second send has ended in the ring, but nobody was told: its bytes must not be counted as free yet.
TEST_F(UringSend, ReleasesOnlyWhatWasReported) {
  const std::vector<std::byte> source(2 * kBodyBytes, std::byte{7});
  io_.sender->start(std::span(source).first(kBodyBytes), false);
  const std::size_t first = finish();
  ASSERT_GT(first, 0u);
  io_.sender->start(std::span(source).last(kBodyBytes), false);
  std::size_t released = 0;
  const Deadline soon = Deadline::after(std::chrono::milliseconds(100));
  while (!soon.passed()) released += take_released();
  EXPECT_LE(released, first);
  const std::size_t second = finish();
  ASSERT_GT(second, 0u);
  const Deadline deadline = Deadline::after(kEngineLimit);
  while (released < first + second && !deadline.passed()) released += take_released();
  EXPECT_EQ(released, first + second);
  EXPECT_EQ(io_.sender->held(), 0u);
}

bool is_rung(const net::Waker& waker, int seat) {
  pollfd entry{.fd = waker.fd(seat), .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) == 1;
}

// What a notifier writes after its sleeper has left wakes the next one early, once and no more.
TEST(TcpWaker, LateRingIsHeardOnce) {
  net::Waker waker;
  ASSERT_TRUE(waker.open().is_ok());
  const int seat = waker.arm();
  ASSERT_EQ(seat, 0);
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(waker.fd(seat), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  EXPECT_TRUE(is_rung(waker, seat));
  waker.disarm(seat);
  ASSERT_EQ(waker.arm(), seat);
  EXPECT_FALSE(is_rung(waker, seat));
  waker.notify();
  EXPECT_TRUE(is_rung(waker, seat));
  waker.disarm(seat);
}

}  // namespace
}  // namespace tf::tcp
