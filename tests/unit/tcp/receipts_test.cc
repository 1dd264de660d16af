// SPDX-License-Identifier: Apache-2.0
// An endpoint with two recoverable payload lanes whose peer is bare sockets.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tcp/bulk_lane.h"
#include "tcp/endpoint.h"
#include "tcp/receipt_lane.h"
#include "tcp/stripes.h"
#include "transport/base/unwatched_payload.h"
#include "transport/lane_watch.h"
#include "transport/net/socket.h"

namespace tf::tcp {
namespace {

constexpr std::chrono::seconds kReceiptsLimit(10);
constexpr unsigned kFirst = kConnectionsMin;
constexpr unsigned kSecond = kConnectionsMin + 1;
constexpr unsigned kReceipts = kConnectionsMin + 2;
constexpr std::size_t kPieceBytes = 64 << 10;    // of what the peer sends
constexpr std::size_t kBytes = 4 * kPieceBytes;  // of a stripe

class NothingElse final : public MessageSink {
 public:
  Status on_message(const FrameHeader&, std::span<const std::byte>) override { return Status::ok(); }
};

class Receipts : public testing::Test {
 protected:
  void SetUp() override {
    Result<net::Listener> listener = net::Listener::open(net::Address::tcp("127.0.0.1", 0));
    ASSERT_TRUE(listener.is_ok());
    std::vector<net::OwnedFd> ours;
    for (net::OwnedFd& theirs : peer_) {
      Result<net::OwnedFd> dialled = net::dial(listener->address(), limit());
      ASSERT_TRUE(dialled.is_ok() && net::wait_readable(listener->fd(), limit()).is_ok());
      ours.push_back(std::move(*dialled));
      Result<net::OwnedFd> accepted = listener->accept();
      ASSERT_TRUE(accepted.is_ok());
      theirs = std::move(*accepted);
    }
    Options options;
    options.recoverable = true;
    Result<std::unique_ptr<Endpoint>> made = make_endpoint(std::move(ours), options);
    ASSERT_TRUE(made.is_ok()) << made.status().to_string();
    endpoint_ = std::move(*made);
  }
  static Deadline limit() { return Deadline::after(kReceiptsLimit); }

  void write(unsigned lane, std::span<const std::byte> bytes) {
    EXPECT_TRUE(net::write_all(peer_[lane].get(), bytes, limit()).is_ok());
  }
  template <typename Header>
  void write_sealed(unsigned lane, Header header) {
    header.seal = seal_of(header);
    write(lane, std::as_bytes(std::span(&header, 1)));
  }
  template <typename Header>
  Header read(unsigned lane) {
    Header header;
    EXPECT_TRUE(
        net::read_all(peer_[lane].get(), std::as_writable_bytes(std::span(&header, 1)), limit()).is_ok());
    EXPECT_TRUE(validate(header).is_ok());
    return header;
  }
  void announce() {
    write_sealed(kBulkConnection, ChunkHeader{.tag = 5,
                                              .bytes = static_cast<std::uint32_t>(kBytes),
                                              .flags = kChunkStripe,
                                              .reason = static_cast<std::uint32_t>(kPieceBytes)});
  }
  // `part`: bytes of it that come.
  void write_piece(unsigned lane, std::size_t number, std::byte value, std::size_t part = kPieceBytes) {
    PieceHeader header;
    header.stripe = 1;
    header.offset = number * kPieceBytes;
    header.bytes = static_cast<std::uint32_t>(kPieceBytes);
    write_sealed(lane, header);
    write(lane, std::vector<std::byte>(part, value));
  }
  void expect_receipt(std::size_t number) {
    const auto receipt = read<Receipt>(kReceipts);
    EXPECT_EQ(receipt.kind, kReceiptPiece);
    EXPECT_EQ(receipt.what, 1U);
    EXPECT_EQ(receipt.offset, number * kPieceBytes);
  }
  void expect_lost(unsigned lane) {
    const auto receipt = read<Receipt>(kReceipts);
    EXPECT_EQ(receipt.kind, kReceiptLost);
    EXPECT_EQ(receipt.what, lane);
  }
  void read_body(unsigned lane, std::size_t bytes) {
    std::vector<std::byte> body(bytes);
    ASSERT_TRUE(net::read_all(peer_[lane].get(), body, limit()).is_ok());
  }
  // What the endpoint sends of one send: offsets of its pieces, by lane. The lanes share them as they like.
  std::array<std::vector<std::uint64_t>, 2> read_pieces() {
    std::array<std::vector<std::uint64_t>, 2> offsets;
    const std::size_t piece_bytes = read<ChunkHeader>(kBulkConnection).reason;
    EXPECT_NE(piece_bytes, 0U) << "it is no stripe";
    std::size_t left = piece_bytes == 0 ? 0 : (kBytes + piece_bytes - 1) / piece_bytes;
    const Deadline deadline = limit();
    while (left > 0 && !deadline.passed()) {
      for (unsigned lane : {kFirst, kSecond}) {
        const Deadline soon = Deadline::after(std::chrono::milliseconds(left > 0 ? 20 : 0));
        if (left == 0 || !net::wait_readable(peer_[lane].get(), soon).is_ok()) continue;
        const auto header = read<PieceHeader>(lane);
        read_body(lane, header.bytes);
        offsets[lane - kFirst].push_back(header.offset);
        --left;
      }
    }
    EXPECT_EQ(left, 0U);
    return offsets;
  }
  void turn() {
    NothingElse sink;
    (void)endpoint_->poll(sink, 100).status();
    (void)endpoint_->bulk().move_payload().status();
    (void)endpoint_->wait(Interest::kBoth, Deadline::after(std::chrono::milliseconds(2)));
  }
  void drive(const BulkCompletion& done) {
    const Deadline deadline = limit();
    while (!done.done() && !deadline.passed()) turn();
    ASSERT_TRUE(done.done());
  }
  void turn_until(const std::function<bool()>& reached) {
    const Deadline deadline = limit();
    while (!reached() && !deadline.passed()) turn();
    EXPECT_TRUE(reached());
  }
  // While a lane may be writing there.
  std::byte seen(std::size_t at) const {
    const UnwatchedPayload payload;
    return *static_cast<const volatile std::byte*>(&memory_[at]);
  }
  bool is_value(std::size_t number, std::byte value) const {
    return std::ranges::all_of(std::span(memory_).subspan(number * kPieceBytes, kPieceBytes),
                               [value](std::byte each) { return each == value; });
  }

  std::array<net::OwnedFd, kConnectionsMin + 3> peer_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(kBytes);
  BulkCompletion done_;
  std::unique_ptr<Endpoint> endpoint_;  // goes first, and completes what is left
};

TEST_F(Receipts, AreSentForEachPieceAndEndASend) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, memory_, done_).is_ok());
  announce();
  turn();
  for (std::size_t number : {2U, 0U, 3U, 1U}) {
    write_piece(number % 2 == 0 ? kFirst : kSecond, number, std::byte{9});
    expect_receipt(number);
  }
  drive(done_);
  EXPECT_TRUE(done_.status().is_ok());

  BulkCompletion sent;
  ASSERT_TRUE(endpoint_->bulk().send(7, memory_, sent).is_ok());
  turn();
  const auto offsets = read_pieces();
  turn();
  EXPECT_FALSE(sent.done()) << "the peer has it, but has not said so";
  for (const auto& lane : offsets)
    for (const std::uint64_t offset : lane) write_sealed(kReceipts, Receipt{.what = 1, .offset = offset});
  drive(sent);
  EXPECT_TRUE(sent.status().is_ok()) << sent.status().to_string();
}

// Lost with its receipt on the way, a void piece comes again, like any other.
TEST_F(Receipts, AVoidPieceHasOneHoweverOftenItComes) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, memory_, done_).is_ok());
  announce();
  turn();
  for (std::size_t number : {0U, 0U, 1U, 2U, 3U}) {
    const PieceHeader header{.stripe = 1,
                             .offset = number * kPieceBytes,
                             .bytes = static_cast<std::uint32_t>(kPieceBytes),
                             .magic = kVoidPieceMagic};
    write_sealed(kFirst, header);
  }
  for (std::size_t number = 0; number < 4; ++number) expect_receipt(number);
  EXPECT_FALSE(done_.done());
  write_sealed(kBulkConnection, ChunkHeader{.tag = 5, .flags = kChunkAbort, .reason = 719});
  drive(done_);
  EXPECT_EQ(abort_reason(done_.status()), 719U);
}

// The rest of a piece that was cut comes after its beginning, which is not written a second time.
TEST_F(Receipts, TheRestOfAPieceComesOverAnotherLane) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, memory_, done_).is_ok());
  announce();
  write_piece(kFirst, 0, std::byte{1}, kPieceBytes / 2);
  turn_until([this] { return seen(kPieceBytes / 2 - 1) == std::byte{1}; });
  peer_[kFirst].reset();
  expect_lost(kFirst);
  write_piece(kSecond, 0, std::byte{2});
  expect_receipt(0);
  EXPECT_EQ(memory_[kPieceBytes / 2 - 1], std::byte{1});
  EXPECT_EQ(memory_[kPieceBytes / 2], std::byte{2});
  write_piece(kSecond, 0, std::byte{3});  // its receipt was lost, perhaps
  for (std::size_t number : {1U, 2U, 3U}) write_piece(kSecond, number, std::byte{4});
  drive(done_);
  EXPECT_TRUE(done_.status().is_ok()) << done_.status().to_string();
  EXPECT_EQ(memory_[0], std::byte{1});
  EXPECT_TRUE(is_value(3, std::byte{4}));
  EXPECT_TRUE(endpoint_->status().is_ok());
  const std::vector<std::string> remarks = endpoint_->take_remarks();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_NE(remarks[0].find("payload 1 connection was lost, another one goes on"), std::string::npos);
  EXPECT_TRUE(endpoint_->take_remarks().empty()) << "told once";
  EXPECT_TRUE(endpoint_->lane_traffic().lanes[kFirst].lost);
}

// The peer knows of a loss first: its second copy must not be written beside the first one.
TEST_F(Receipts, ASecondCopyWaitsUntilTheFirstLaneIsGivenUp) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, memory_, done_).is_ok());
  announce();
  write_piece(kFirst, 0, std::byte{1}, 1000);
  turn_until([this] { return seen(999) == std::byte{1}; });
  write_piece(kSecond, 0, std::byte{2});
  for (int round = 0; round < 20; ++round) turn();
  EXPECT_EQ(memory_[1000], std::byte{0});
  write_sealed(kReceipts, Receipt{.what = kFirst, .offset = 0, .kind = kReceiptLost});
  expect_lost(kFirst);
  expect_receipt(0);
  EXPECT_EQ(memory_[999], std::byte{1});
  EXPECT_EQ(memory_[1000], std::byte{2});
}

TEST_F(Receipts, WhatWasLostIsSentAgainAndWhatArrivedIsNot) {
  ASSERT_TRUE(endpoint_->bulk().send(7, memory_, done_).is_ok());
  turn();
  std::array<std::vector<std::uint64_t>, 2> by_lane = read_pieces();
  // The lane that had more is lost; the first of its pieces has arrived.
  const unsigned lost = by_lane[0].size() >= by_lane[1].size() ? kFirst : kSecond;
  const unsigned other = lost == kFirst ? kSecond : kFirst;
  const std::vector<std::uint64_t>& cut = by_lane[lost - kFirst];
  write_sealed(kReceipts, Receipt{.what = 1, .offset = cut.front()});
  for (const std::uint64_t offset : by_lane[other - kFirst])
    write_sealed(kReceipts, Receipt{.what = 1, .offset = offset});
  write_sealed(kReceipts, Receipt{.what = lost, .offset = 0, .kind = kReceiptLost});
  expect_lost(lost);
  for (std::size_t index = 1; index < cut.size(); ++index) {
    const auto again = read<PieceHeader>(other);
    EXPECT_EQ(again.offset, cut[index]);
    read_body(other, again.bytes);
    EXPECT_FALSE(done_.done());
    write_sealed(kReceipts, Receipt{.what = 1, .offset = again.offset});
  }
  drive(done_);
  EXPECT_TRUE(done_.status().is_ok()) << done_.status().to_string();
}

// A send of one piece needs one lane: not the one that is lost.
TEST_F(Receipts, SmallSendsFindTheLaneThatIsLeft) {
  peer_[kFirst].reset();
  expect_lost(kFirst);
  for (std::uint64_t number = 1; number <= 4; ++number) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the lane sleeps
    BulkCompletion sent;
    ASSERT_TRUE(endpoint_->bulk().send(number, memory_, sent).is_ok());
    turn();
    EXPECT_EQ(read<ChunkHeader>(kBulkConnection).flags, kChunkStripe);
    const auto header = read<PieceHeader>(kSecond);
    EXPECT_EQ(header.bytes, kBytes);
    read_body(kSecond, header.bytes);
    write_sealed(kReceipts, Receipt{.what = number, .offset = 0});
    drive(sent);
    EXPECT_TRUE(sent.status().is_ok()) << sent.status().to_string();
  }
}

TEST_F(Receipts, TheLastLanesLossIsTheEnd) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, memory_, done_).is_ok());
  peer_[kFirst].reset();
  expect_lost(kFirst);
  turn();
  EXPECT_FALSE(done_.done());
  peer_[kSecond].reset();
  drive(done_);
  EXPECT_EQ(done_.status().code(), Code::kPeerLost) << done_.status().to_string();
}

TEST_F(Receipts, ThatAreGarbageEndTheEndpoint) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, memory_, done_).is_ok());
  write(kReceipts, std::vector<std::byte>(sizeof(Receipt), std::byte{0x5a}));
  drive(done_);
  EXPECT_EQ(done_.status().code(), Code::kProtocol) << done_.status().to_string();
}

TEST_F(Receipts, OfWhatWasNotSentEndTheEndpoint) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, memory_, done_).is_ok());
  write_sealed(kReceipts, Receipt{.what = 1, .offset = 0});
  drive(done_);
  EXPECT_EQ(done_.status().code(), Code::kProtocol) << done_.status().to_string();
}

TEST_F(Receipts, OfAConnectionThatIsNoPayloadLaneEndTheEndpoint) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, memory_, done_).is_ok());
  write_sealed(kReceipts, Receipt{.what = kBulkConnection, .offset = 0, .kind = kReceiptLost});
  drive(done_);
  EXPECT_EQ(done_.status().code(), Code::kProtocol) << done_.status().to_string();
}

// A header that makes no sense is no loss of the network's.
TEST_F(Receipts, GarbageOnAPayloadLaneStillEndsTheEndpoint) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, memory_, done_).is_ok());
  write(kFirst, std::vector<std::byte>(sizeof(PieceHeader), std::byte{0x5a}));
  drive(done_);
  EXPECT_EQ(done_.status().code(), Code::kProtocol) << done_.status().to_string();
}

}  // namespace
}  // namespace tf::tcp
