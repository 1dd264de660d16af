// SPDX-License-Identifier: Apache-2.0
// An endpoint with two piece lanes whose peer is bare sockets.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "tcp/bulk_lane.h"
#include "tcp/endpoint.h"
#include "tcp/stripes.h"
#include "transport/net/socket.h"

namespace tf::tcp {
namespace {

constexpr std::chrono::seconds kPiecesLimit(10);
constexpr std::size_t kPieceOf64K = kPieceBytesMin;

class NoMessages final : public MessageSink {
 public:
  Status on_message(const FrameHeader&, std::span<const std::byte>) override { return Status::ok(); }
};

class BarePieces : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<net::OwnedFd> ours;
    for (net::OwnedFd& theirs : peer_) {
      int pair[2] = {-1, -1};
      ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
      ours.emplace_back(pair[0]);
      theirs = net::OwnedFd(pair[1]);
    }
    Result<std::unique_ptr<Endpoint>> made = make_endpoint(std::move(ours), Options{});
    ASSERT_TRUE(made.is_ok()) << made.status().to_string();
    endpoint_ = std::move(*made);
  }
  void write(std::size_t lane, std::span<const std::byte> bytes) {
    EXPECT_TRUE(net::write_all(peer_[lane].get(), bytes, Deadline::after(kPiecesLimit)).is_ok());
  }
  void announce(std::uint64_t tag, std::size_t bytes) {
    ChunkHeader header{.tag = tag,
                       .bytes = static_cast<std::uint32_t>(bytes),
                       .flags = kChunkStripe,
                       .reason = static_cast<std::uint32_t>(kPieceOf64K)};
    header.seal = seal_of(header);
    write(kBulkConnection, std::as_bytes(std::span(&header, 1)));
  }
  void write_piece(std::size_t lane, std::uint64_t stripe, std::size_t offset, std::size_t bytes,
                   std::byte value) {
    PieceHeader header;
    header.stripe = stripe;
    header.offset = offset;
    header.bytes = static_cast<std::uint32_t>(bytes);
    header.seal = seal_of(header);
    write(lane, std::as_bytes(std::span(&header, 1)));
    write(lane, std::vector<std::byte>(bytes, value));
  }
  // Drives the endpoint until the transfer has ended, or the time is up.
  void drive(const BulkCompletion& done) {
    NoMessages sink;
    const Deadline deadline = Deadline::after(kPiecesLimit);
    while (!done.done() && !deadline.passed()) {
      (void)endpoint_->poll(sink, 100).status();
      (void)endpoint_->bulk().move_payload().status();
      (void)endpoint_->wait(Interest::kBoth, Deadline::after(std::chrono::milliseconds(20)));
    }
    ASSERT_TRUE(done.done());
  }

  std::array<net::OwnedFd, kConnectionsMin + 2> peer_;
  std::vector<std::byte> target_ = std::vector<std::byte>(2 * kPieceOf64K);
  BulkCompletion done_;
  std::unique_ptr<Endpoint> endpoint_;  // goes first, and completes what is left
};

TEST_F(BarePieces, OvertakeTheirAnnouncementAndEachOther) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, target_, done_).is_ok());
  write_piece(3, 1, kPieceOf64K, kPieceOf64K, std::byte{2});
  write_piece(2, 1, 0, kPieceOf64K, std::byte{1});
  announce(5, 2 * kPieceOf64K);
  drive(done_);
  EXPECT_TRUE(done_.status().is_ok()) << done_.status().to_string();
  EXPECT_EQ(target_.front(), std::byte{1});
  EXPECT_EQ(target_.back(), std::byte{2});
}

TEST_F(BarePieces, ASmallPayloadPassesALargeOneThatIsUnderWay) {
  BulkCompletion small;
  std::array<std::byte, 4> few{};
  ASSERT_TRUE(endpoint_->bulk().receive(5, target_, done_).is_ok());
  ASSERT_TRUE(endpoint_->bulk().receive(6, few, small).is_ok());
  announce(5, 2 * kPieceOf64K);
  ChunkHeader header{.tag = 6, .bytes = 4};
  header.seal = seal_of(header);
  write(kBulkConnection, std::as_bytes(std::span(&header, 1)));
  write(kBulkConnection, std::vector<std::byte>(4, std::byte{9}));
  drive(small);
  EXPECT_FALSE(done_.done());
  EXPECT_EQ(few.back(), std::byte{9});
  write_piece(2, 1, 0, kPieceOf64K, std::byte{1});
  write_piece(2, 1, kPieceOf64K, kPieceOf64K, std::byte{2});
  drive(done_);
  EXPECT_TRUE(done_.status().is_ok());
}

// The lane that has taken the piece first is not done with the memory when the second one comes.
TEST_F(BarePieces, OneThatComesTwiceEndsTheEndpointBeforeItIsWritten) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, target_, done_).is_ok());
  announce(5, 2 * kPieceOf64K);
  write_piece(2, 1, 0, kPieceOf64K, std::byte{1});
  write_piece(3, 1, 0, kPieceOf64K, std::byte{2});
  drive(done_);
  EXPECT_EQ(done_.status().code(), Code::kProtocol) << done_.status().to_string();
  EXPECT_EQ(endpoint_->status().code(), Code::kProtocol);
}

TEST_F(BarePieces, GarbageEndsTransfers) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, target_, done_).is_ok());
  write(2, std::vector<std::byte>(sizeof(PieceHeader), std::byte{0x5a}));
  drive(done_);
  EXPECT_EQ(done_.status().code(), Code::kProtocol);
}

TEST_F(BarePieces, GarbageBehindAPieceEndsTransfers) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, target_, done_).is_ok());
  announce(5, 2 * kPieceOf64K);
  write_piece(2, 1, 0, kPieceOf64K, std::byte{1});
  write(2, std::vector<std::byte>(sizeof(PieceHeader), std::byte{0x5a}));
  drive(done_);
  EXPECT_EQ(done_.status().code(), Code::kProtocol) << done_.status().to_string();
}

TEST_F(BarePieces, ALaneThatIsCutEndsTransfers) {
  ASSERT_TRUE(endpoint_->bulk().receive(5, target_, done_).is_ok());
  announce(5, 2 * kPieceOf64K);
  write_piece(2, 1, 0, kPieceOf64K, std::byte{1});
  peer_[3].reset();
  drive(done_);
  EXPECT_EQ(done_.status().code(), Code::kPeerLost) << done_.status().to_string();
}

TEST_F(BarePieces, AnAbortWaitsForThePiecesBeforeIt) {
  std::vector<std::byte> more(10);
  BulkCompletion aborted;
  ASSERT_TRUE(endpoint_->bulk().receive(5, target_, done_).is_ok());
  ASSERT_TRUE(endpoint_->bulk().receive(5, more, aborted).is_ok());
  announce(5, 2 * kPieceOf64K);
  ChunkHeader header{.tag = 5, .flags = kChunkAbort, .reason = 719};
  header.seal = seal_of(header);
  write(kBulkConnection, std::as_bytes(std::span(&header, 1)));
  write_piece(2, 1, 0, kPieceOf64K, std::byte{1});
  write_piece(3, 1, kPieceOf64K, kPieceOf64K, std::byte{2});
  drive(done_);
  EXPECT_TRUE(done_.status().is_ok()) << done_.status().to_string();
  drive(aborted);
  EXPECT_EQ(abort_reason(aborted.status()), 719U);
}

TEST_F(BarePieces, ClosingEndsWhatIsUnderWay) {
  const std::vector<std::byte> source(64 << 20);
  BulkCompletion sent;
  ASSERT_TRUE(endpoint_->bulk().send(1, source, sent).is_ok());
  ASSERT_TRUE(endpoint_->bulk().receive(5, target_, done_).is_ok());
  announce(5, 2 * kPieceOf64K);
  write_piece(2, 1, 0, kPieceOf64K, std::byte{1});
  (void)endpoint_->bulk().move_payload().status();
  for (net::OwnedFd& lane : peer_) lane.reset();
  endpoint_.reset();
  EXPECT_TRUE(sent.done() && done_.done());
  EXPECT_FALSE(sent.status().is_ok() || done_.status().is_ok());
}

}  // namespace
}  // namespace tf::tcp
