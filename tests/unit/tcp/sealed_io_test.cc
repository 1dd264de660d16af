// SPDX-License-Identifier: Apache-2.0
// Sealed lanes whose records several threads seal and open: order, and damage in the middle of many records.
#include "tcp/sealed_io.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tcp/poll_engine.h"
#include "tcp/probe.h"
#include "tcp/uring_engine.h"
#include "transport/base/deadline.h"
#include "transport/net/fd.h"

namespace tf::tcp {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::chrono::seconds kSealedLimit(20);
constexpr std::size_t kWholeRecord = secure::kRecordBytesMax + secure::kRecordOverhead;
constexpr std::size_t kTextBytes = 40 * secure::kRecordBytesMax + 12345;

Bytes text() {
  Bytes bytes(kTextBytes);
  std::uint32_t state = 1;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

// Two ends of a lane, with a place between them where everything that was sent lies in one piece.
class SealedIo : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    if (Status status = secure::load_library(); !status.is_ok()) GTEST_SKIP() << status.message();
    session_ = std::make_shared<secure::Session>();
    session_->level = secure::Level::kEncrypt;
    connect(out_, out_far_);
    connect(in_far_, in_);
    sender_ = make(out_.get(), secure::Side::kClient).sender;
    receiver_ = make(in_.get(), secure::Side::kWorker).receiver;
  }
  void TearDown() override {
    if (sender_ != nullptr) sender_->cancel();
    if (receiver_ != nullptr) receiver_->cancel();
  }

  static void connect(net::OwnedFd& near, net::OwnedFd& far) {
    int pair[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    near = net::OwnedFd(pair[0]);
    far = net::OwnedFd(pair[1]);
  }
  LaneIo make(int socket, secure::Side own) const {
    Result<LaneIo> io =
        make_sealed_io(make_poll_io(socket), {.session = session_, .own = own}, kBulkConnection, GetParam());
    EXPECT_TRUE(io.is_ok()) << io.status().to_string();
    return std::move(*io);
  }

  // What travels if this is sent, in pieces of many sizes, until all of its memory is free again.
  Bytes sealed(const Bytes& plain) {
    constexpr std::array<std::size_t, 5> kPieces = {32, 1 << 20, 7, 200'000, secure::kRecordBytesMax};
    Bytes wire;
    std::size_t at = 0, released = 0, piece = 0;
    const Deadline deadline = Deadline::after(kSealedLimit);
    while (released < plain.size() && !deadline.passed()) {
      if (at < plain.size() && !sender_->busy()) {
        const std::size_t bytes = std::min(kPieces[piece++ % kPieces.size()], plain.size() - at);
        sender_->start(std::span(plain).subspan(at, bytes), false);
      }
      const Result<std::size_t> sent = sender_->finish();
      EXPECT_TRUE(sent.is_ok()) << sent.status().to_string();
      at += sent.value();
      released += sender_->take_released();
      drain(wire);
    }
    EXPECT_EQ(released, plain.size());
    EXPECT_EQ(sender_->held(), 0u);
    drain(wire);
    return wire;
  }
  void drain(Bytes& wire) const {
    std::array<std::byte, 64 << 10> part;
    for (ssize_t got = 0; (got = ::read(out_far_.get(), part.data(), part.size())) > 0;)
      wire.insert(wire.end(), part.begin(), part.begin() + got);
  }

  // What comes out of this, up to `bytes` or the first failure.
  Bytes opened(const Bytes& wire, std::size_t bytes, Status& failure) {
    constexpr std::array<std::size_t, 4> kTargets = {32, 1 << 20, 100'000, 3};
    Bytes plain(bytes);
    std::size_t at = 0, fed = 0, target = 0;
    const Deadline deadline = Deadline::after(kSealedLimit);
    while (at < bytes && failure.is_ok() && !deadline.passed()) {
      if (fed < wire.size()) {
        const ssize_t wrote = ::write(in_far_.get(), wire.data() + fed, wire.size() - fed);
        if (wrote > 0) fed += static_cast<std::size_t>(wrote);
        if (fed == wire.size()) ::shutdown(in_far_.get(), SHUT_WR);
      }
      if (!receiver_->busy())
        receiver_->start(
            std::span(plain).subspan(at, std::min(kTargets[target++ % kTargets.size()], bytes - at)));
      const Result<std::size_t> got = receiver_->finish();
      if (got)
        at += got.value();
      else
        failure = got.status();
    }
    plain.resize(at);
    return plain;
  }

  std::shared_ptr<secure::Session> session_;
  net::OwnedFd out_, out_far_, in_, in_far_;
  std::unique_ptr<Sender> sender_;
  std::unique_ptr<Receiver> receiver_;
};
INSTANTIATE_TEST_SUITE_P(Helpers, SealedIo, testing::Values(0u, 1u, 3u));

TEST_P(SealedIo, EverythingComesInOrder) {
  const Bytes plain = text();
  Status failure;
  const Bytes came = opened(sealed(plain), plain.size(), failure);
  EXPECT_TRUE(failure.is_ok()) << failure.to_string();
  EXPECT_TRUE(came == plain);
}

// In the middle of records that are opened at the same time. What comes before it may be delivered.
TEST_P(SealedIo, AFlippedBitIsNoticedWhereverItIs) {
  const Bytes plain = text();
  const Bytes wire = sealed(plain);
  for (const std::size_t at : {wire.size() / 2, wire.size() / 2 + kWholeRecord}) {
    SetUp();
    Bytes damaged = wire;
    damaged[at] ^= std::byte{4};
    Status failure;
    const Bytes came = opened(damaged, plain.size(), failure);
    EXPECT_EQ(failure.code(), Code::kProtocol) << failure.to_string();
    EXPECT_LT(came.size(), at);
    EXPECT_TRUE(std::equal(came.begin(), came.end(), plain.begin()));
    Bytes more(10);
    receiver_->start(more);
    EXPECT_EQ(receiver_->finish().code(), Code::kProtocol) << "the failure stays";
  }
}

TEST_P(SealedIo, ALostOrMovedRecordIsNoticed) {
  const Bytes plain(8 * secure::kRecordBytesMax, std::byte{7});
  sender_->start(plain, false);
  Bytes wire;
  std::size_t sent = 0;
  const Deadline deadline = Deadline::after(kSealedLimit);
  while (wire.size() < 8 * kWholeRecord && !deadline.passed()) {
    if (sent < plain.size() && !sender_->busy()) sender_->start(std::span(plain).subspan(sent), false);
    sent += sender_->finish().value();
    drain(wire);
  }
  ASSERT_EQ(wire.size(), 8 * kWholeRecord) << "whole records only";
  const auto record = [&wire](std::size_t number) {
    return wire.begin() + static_cast<long>(number * kWholeRecord);
  };
  Bytes lost = wire;
  lost.erase(lost.begin() + (record(3) - wire.begin()), lost.begin() + (record(4) - wire.begin()));
  Bytes moved = wire;
  std::swap_ranges(moved.begin() + (record(3) - wire.begin()), moved.begin() + (record(4) - wire.begin()),
                   moved.begin() + (record(5) - wire.begin()));
  for (const Bytes& damaged : {lost, moved}) {
    SetUp();
    Status failure;
    const Bytes came = opened(damaged, plain.size(), failure);
    EXPECT_EQ(failure.code(), Code::kProtocol) << failure.to_string();
    EXPECT_LE(came.size(), 3 * secure::kRecordBytesMax);
  }
}

// A lane writes its next header where the last one was.
TEST_P(SealedIo, WhatIsShortIsNotHeld) {
  const Bytes body(3 * secure::kRecordBytesMax, std::byte{9});
  Bytes expected, wire;
  std::array<std::byte, kHeldBytesMin - 1> header{};
  const Deadline deadline = Deadline::after(kSealedLimit);
  const auto send = [&](std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size() && !deadline.passed(); drain(wire)) {
      if (!sender_->busy()) sender_->start(bytes.subspan(at), false);
      at += sender_->finish().value();
    }
    expected.insert(expected.end(), bytes.begin(), bytes.end());
  };
  for (int round = 0; round < 20; ++round) {
    header.fill(static_cast<std::byte>(round));
    send(header);
    header.fill(std::byte{0xee});
    send(body);
  }
  for (std::size_t released = 0; released < expected.size() && !deadline.passed(); drain(wire)) {
    EXPECT_TRUE(sender_->finish().is_ok());
    released += sender_->take_released();
  }
  Status failure;
  EXPECT_TRUE(opened(wire, expected.size(), failure) == expected) << failure.to_string();
}

// Its memory belongs to the lane again, whatever was under way.
TEST_P(SealedIo, IsCancelledWithRecordsUnderWay) {
  for (int round = 0; round < 50; ++round) {
    SetUp();
    Bytes plain(1 << 20, std::byte{1});
    sender_->start(plain, true);
    EXPECT_TRUE(sender_->finish().is_ok());
    sender_->cancel();
    std::fill(plain.begin(), plain.end(), std::byte{2});  // a thread sanitizer would see who still reads it
    Bytes target(1 << 20);
    receiver_->start(target);
    EXPECT_EQ(receiver_->finish().value(), 0u);
    receiver_->cancel();
  }
}

}  // namespace
}  // namespace tf::tcp
