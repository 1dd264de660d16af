// SPDX-License-Identifier: Apache-2.0
// Stripes: every byte has one place, whatever order pieces come in and whatever a peer invents.
#include "tcp/stripes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace tf::tcp {
namespace {

constexpr std::size_t kPiece = kPieceBytesMin;

PieceHeader header_of(std::uint64_t stripe, std::size_t offset, std::size_t bytes) {
  PieceHeader header;
  header.stripe = stripe;
  header.offset = offset;
  header.bytes = static_cast<std::uint32_t>(bytes);
  header.seal = seal_of(header);
  return header;
}

class Stripes : public testing::Test {
 protected:
  // As a piece lane does.
  void land(const PieceHeader& header, std::span<const std::byte> source) {
    const Result<IncomingStripes::Taken> taken = incoming_.take(header);
    ASSERT_TRUE(taken.is_ok()) << taken.status().to_string();
    ASSERT_TRUE(taken.value().ready);
    for (std::size_t at = 0; at < header.bytes;) {
      const auto place = incoming_.place(header.stripe, header.offset + at, header.bytes - at);
      ASSERT_GT(place.bytes, 0U);
      if (!place.target.empty()) std::memcpy(place.target.data(), source.data() + at, place.bytes);
      (void)incoming_.land(header.stripe, header.offset + at, place.bytes);
      at += place.bytes;
    }
  }
  static std::vector<std::byte> bytes(std::size_t count) {
    std::vector<std::byte> made(count);
    std::minstd_rand random(static_cast<unsigned>(count));
    for (std::byte& each : made) each = static_cast<std::byte>(random());
    return made;
  }

  BulkCompletion done_[3];  // the queue's end completes what is left
  BulkQueue queue_;
  OutgoingStripes outgoing_{queue_};
  IncomingStripes incoming_{queue_};
};

TEST_F(Stripes, PiecesInAnyOrderFillReceivesAndSkipDiscards) {
  const std::size_t total = 5 * kPiece + 77;
  const std::vector<std::byte> source = bytes(total);
  outgoing_.add(1, source, kPiece);
  EXPECT_EQ(outgoing_.backlog(), total);
  std::vector<OutgoingPiece> pieces;
  while (const auto piece = outgoing_.claim(2)) pieces.push_back(*piece);
  ASSERT_EQ(pieces.size(), 6U);
  EXPECT_TRUE(outgoing_.empty());
  EXPECT_EQ(outgoing_.backlog(), total) << "lanes have claimed it all, and sent nothing";
  for (const OutgoingPiece& piece : pieces) outgoing_.sent(piece.source.size());
  EXPECT_EQ(outgoing_.backlog(), 0U);
  std::shuffle(pieces.begin(), pieces.end(), std::minstd_rand(7));

  std::vector<std::byte> first(kPiece + 5);
  std::vector<std::byte> last(total - first.size() - 100'000);
  ASSERT_TRUE(queue_.receive(9, first, done_[0]).is_ok());
  ASSERT_TRUE(queue_.discard(9, 100'000, done_[1]).is_ok());
  ASSERT_TRUE(queue_.receive(9, last, done_[2]).is_ok());
  incoming_.open(9, total, kPiece);
  ASSERT_TRUE(incoming_.reserve().value());
  for (const auto& piece : pieces) {
    EXPECT_TRUE(incoming_.has_open(9));
    EXPECT_FALSE(done_[0].done() && done_[1].done() && done_[2].done());
    land(piece.header, piece.source);
  }
  EXPECT_FALSE(incoming_.has_open(9));
  for (const BulkCompletion& each : done_) ASSERT_TRUE(each.done() && each.status().is_ok());
  EXPECT_TRUE(std::ranges::equal(first, std::span(source).first(first.size())));
  EXPECT_TRUE(std::ranges::equal(last, std::span(source).last(last.size())));
}

TEST_F(Stripes, ASendEndsWithItsLastPieceWhicheverThatIs) {
  const std::vector<std::byte> source = bytes(3 * kPiece);
  BulkCompletion& large = done_[0];
  BulkCompletion& small = done_[1];
  ASSERT_TRUE(queue_.send(1, source, large).is_ok());
  ASSERT_TRUE(queue_.send(2, std::span(source).first(10), small).is_ok());
  const auto next = queue_.next_send();
  queue_.hand_over_send(source.size());
  outgoing_.add(next->id, next->source, kPiece);
  // The small one behind it goes its own way, and ends first.
  const auto behind = queue_.next_send();
  ASSERT_EQ(behind->tag, 2U);
  queue_.hand_over_send(10);
  EXPECT_TRUE(queue_.finish_send(behind->id, 10));
  EXPECT_TRUE(small.done());
  for (int piece = 0; piece < 3; ++piece) {
    EXPECT_FALSE(large.done());
    const auto claimed = outgoing_.claim(2);
    EXPECT_EQ(queue_.finish_send(claimed->send, claimed->source.size()), piece == 2);
  }
  EXPECT_TRUE(large.done() && large.status().is_ok());
}

// What is not there yet is passed over, and costs later stripes no larger pieces.
TEST_F(Stripes, OfOneThatIsBeingFilledWhatIsThereCanBeClaimed) {
  const std::vector<std::byte> source = bytes(3 * kPiece + 5);
  Filling filling;
  outgoing_.add(1, source, kPiece, &filling);
  EXPECT_TRUE(outgoing_.empty());
  EXPECT_FALSE(outgoing_.claim(2).has_value());
  EXPECT_EQ(outgoing_.backlog(), 0U);
  outgoing_.add(2, source, kPieceBytesMax);
  EXPECT_EQ(outgoing_.claim(2)->send, 2U);
  filling.reach(2 * kPiece + 1);
  EXPECT_EQ(outgoing_.recount(), 3U) << "of which the last one is there in part";
  EXPECT_FALSE(outgoing_.empty());
  EXPECT_EQ(outgoing_.claim(2)->header.offset, 0U);
  EXPECT_EQ(outgoing_.claim(2)->header.offset, kPiece);
  EXPECT_TRUE(outgoing_.empty());
  filling.reach(source.size());
  EXPECT_EQ(outgoing_.recount(), 2U);
  EXPECT_FALSE(outgoing_.claim(2)->header.is_void());
  EXPECT_EQ(outgoing_.claim(2)->source.size(), 5U);
  EXPECT_FALSE(outgoing_.claim(2).has_value());
}

TEST_F(Stripes, OfOneWhoseFillingStopsTheRestIsVoid) {
  const std::vector<std::byte> source = bytes(3 * kPiece);
  Filling filling;
  outgoing_.add(1, source, kPiece, &filling);
  filling.reach(kPiece + 10);
  filling.stop();
  EXPECT_EQ(outgoing_.recount(), 3U);
  std::vector<std::byte> target(source.size() + 1);
  ASSERT_TRUE(queue_.receive(9, target, done_[0]).is_ok());
  incoming_.open(9, source.size(), kPiece);
  ASSERT_TRUE(incoming_.reserve().value());
  const auto first = outgoing_.claim(2);
  ASSERT_TRUE(validate(first->header).is_ok() && !first->header.is_void());
  land(first->header, first->source);
  for (int piece = 1; piece < 3; ++piece) {
    const auto next = outgoing_.claim(2);
    ASSERT_TRUE(validate(next->header).is_ok() && next->header.is_void());
    EXPECT_TRUE(incoming_.has_open(9));
    EXPECT_EQ(incoming_.land_void(next->header, incoming_.take(next->header).value()), piece == 2);
  }
  EXPECT_FALSE(incoming_.has_open(9)) << "the abort can be taken";
  EXPECT_FALSE(done_[0].done());
  ASSERT_TRUE(queue_.abort_receive(9, 719).is_ok());
  ASSERT_TRUE(done_[0].done());
  EXPECT_EQ(abort_reason(done_[0].status()), 719U);
}

TEST_F(Stripes, WaitForReceivesInTheOrderOfTheTag) {
  std::vector<std::byte> target(2 * kPiece);
  incoming_.open(4, 2 * kPiece, kPiece);
  EXPECT_FALSE(incoming_.reserve().value());
  ASSERT_TRUE(incoming_.take(header_of(1, kPiece, kPiece)).value().ready);
  EXPECT_EQ(incoming_.place(1, kPiece, kPiece).bytes, 0U);
  ASSERT_TRUE(queue_.receive(4, std::span(target).first(kPiece + 10), done_[0]).is_ok());
  const std::uint64_t before = incoming_.news();
  EXPECT_FALSE(incoming_.reserve().value());
  EXPECT_NE(incoming_.news(), before);
  EXPECT_EQ(incoming_.place(1, kPiece, kPiece).bytes, 10U);
  ASSERT_TRUE(queue_.receive(4, std::span(target).subspan(kPiece + 10), done_[1]).is_ok());
  EXPECT_TRUE(incoming_.reserve().value());
  EXPECT_EQ(incoming_.place(1, kPiece + 10, kPiece).target.data(), target.data() + kPiece + 10);
}

TEST_F(Stripes, WhatNobodyAskedForIsRefused) {
  queue_.refuse_unasked();
  incoming_.open(4, kPiece, kPiece);
  EXPECT_EQ(incoming_.reserve().code(), Code::kProtocol);
}

TEST_F(Stripes, PiecesThatDoNotFitAreRefused) {
  std::vector<std::byte> target(2 * kPiece + 5);
  ASSERT_TRUE(queue_.receive(4, target, done_[0]).is_ok());
  incoming_.open(4, target.size(), kPiece);
  ASSERT_TRUE(incoming_.reserve().value());
  EXPECT_FALSE(incoming_.take(header_of(2, 0, kPiece)).value().ready);  // announced later, perhaps
  EXPECT_EQ(incoming_.take(header_of(1, 1, kPiece)).code(), Code::kProtocol);
  EXPECT_EQ(incoming_.take(header_of(1, 3 * kPiece, 5)).code(), Code::kProtocol);
  EXPECT_EQ(incoming_.take(header_of(1, 0, kPiece - 1)).code(), Code::kProtocol);
  EXPECT_EQ(incoming_.take(header_of(1, 2 * kPiece, kPiece)).code(), Code::kProtocol);
  land(header_of(1, kPiece, kPiece), target);
  EXPECT_EQ(incoming_.take(header_of(1, kPiece, kPiece)).code(), Code::kProtocol);  // a second time
  land(header_of(1, 0, kPiece), target);
  EXPECT_FALSE(done_[0].done());
  land(header_of(1, 2 * kPiece, 5), target);
  EXPECT_TRUE(done_[0].done());
  EXPECT_EQ(incoming_.take(header_of(1, 0, kPiece)).code(), Code::kProtocol);  // complete
}

TEST_F(Stripes, IncompleteOnesAreBounded) {
  for (std::size_t count = 0; count < kStripesMax; ++count) {
    ASSERT_FALSE(incoming_.full());
    incoming_.open(count, 1, kPiece);
  }
  EXPECT_TRUE(incoming_.full());
}

TEST(StripeHeaders, EveryFlippedBitIsRefused) {
  const PieceHeader good = header_of(3, 2 * kPiece, kPiece);
  ASSERT_TRUE(validate(good).is_ok());
  for (std::size_t bit = 0; bit < 8 * sizeof good; ++bit) {
    PieceHeader bad = good;
    std::span bytes = std::as_writable_bytes(std::span(&bad, 1));
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_EQ(validate(bad).code(), Code::kProtocol) << bit;
  }
  EXPECT_FALSE(validate(header_of(0, 0, kPiece)).is_ok());
  EXPECT_FALSE(validate(header_of(1, kStripeBytesMax, kPiece)).is_ok());
  EXPECT_FALSE(validate(header_of(1, 0, 0)).is_ok());
  EXPECT_FALSE(validate(header_of(1, 0, kPieceBytesMax + 1)).is_ok());
  EXPECT_FALSE(validate_stripe(0, kPiece).is_ok());
  EXPECT_FALSE(validate_stripe(kStripeBytesMax + 1, kPiece).is_ok());
  EXPECT_FALSE(validate_stripe(1, kPieceBytesMin - 1).is_ok());
  EXPECT_FALSE(validate_stripe(1, kPieceBytesMax + 1).is_ok());
}

// Streaming costs the lane a tenth: long stripes are not worth it.
TEST_F(Stripes, ShortOnesAreStreamedToWhereADeviceReads) {
  std::vector<std::byte> memory(2 * kPiece);
  const std::span<std::byte> staging = std::span(memory).first(kPiece);
  incoming_.expect_device_reads(staging);
  ASSERT_TRUE(queue_.receive(1, memory, done_[0]).is_ok());
  incoming_.open(1, kPiece / 2, kPiece);
  ASSERT_TRUE(incoming_.reserve().value());
  EXPECT_TRUE(incoming_.place(1, 0, kPiece).is_streamed);

  ASSERT_TRUE(queue_.receive(2, std::span(memory).last(kPiece), done_[1]).is_ok());
  incoming_.open(2, kPiece, kPiece);
  ASSERT_TRUE(incoming_.reserve().value());
  EXPECT_FALSE(incoming_.place(2, 0, kPiece).is_streamed) << "it is not staging";

  incoming_.forget(staging);
  ASSERT_TRUE(queue_.receive(3, staging, done_[2]).is_ok());
  incoming_.open(3, kPiece, kPiece);
  ASSERT_TRUE(incoming_.reserve().value());
  EXPECT_FALSE(incoming_.place(3, 0, kPiece).is_streamed) << "it is forgotten";
}

TEST_F(Stripes, LongOnesAreNotStreamed) {
  std::vector<std::byte> memory(17U << 20);
  incoming_.expect_device_reads(memory);
  ASSERT_TRUE(queue_.receive(1, memory, done_[0]).is_ok());
  incoming_.open(1, memory.size(), kPieceBytesMax);
  ASSERT_TRUE(incoming_.reserve().value());
  EXPECT_FALSE(incoming_.place(1, 0, kPieceBytesMax).is_streamed);
}

TEST(DeviceReads, AreBounded) {
  DeviceReads reads;
  std::vector<std::byte> memory(kDeviceReadsMax + 1);
  for (std::byte& each : memory) reads.add(std::span(&each, 1));
  EXPECT_TRUE(reads.holds(&memory.front()));
  EXPECT_FALSE(reads.holds(&memory.back())) << "a hint too many";
  EXPECT_FALSE(reads.holds(nullptr));
  reads.remove(std::span(memory).first(1));
  reads.add(std::span(memory).last(1));
  EXPECT_FALSE(reads.holds(&memory.front()));
  EXPECT_TRUE(reads.holds(&memory.back()));
}

TEST(StripeSizes, EachLaneGetsAPieceAndEachPieceIsWorthIt) {
  EXPECT_EQ(piece_bytes_for(kStripedBytesMin, 0, 8), kPieceBytesMin);
  EXPECT_EQ(piece_bytes_for(1 << 20, 0, 4), 86U << 10) << "three for each lane";
  EXPECT_EQ(piece_bytes_for(1 << 20, 0, 6), 57U << 10);
  EXPECT_EQ(piece_bytes_for(512 << 10, 0, 6), 43U << 10) << "two";
  EXPECT_EQ(piece_bytes_for(256 << 10, 0, 6), 43U << 10) << "one";
  EXPECT_EQ(piece_bytes_for(4 << 20, 0, 6), 228U << 10);
  EXPECT_EQ(piece_bytes_for(16 << 20, 0, 6), 911U << 10) << "not 16 for six";
  EXPECT_EQ(piece_bytes_for(kStripeBytesMax, 0, 8), kPieceBytesMax);
}

TEST(StripeSizes, PiecesGrowWithWhatIsToBeSentBefore) {
  EXPECT_EQ(piece_bytes_for(256 << 10, 256 << 10, 6), 64U << 10) << "quarters of a short copy";
  EXPECT_EQ(piece_bytes_for(1 << 20, 4 << 20, 6), 256U << 10);
  EXPECT_EQ(piece_bytes_for(1 << 20, 13 << 20, 6), kPieceBytesMax) << "one lane gets all of it";
  for (std::size_t bytes = kStripedBytesMin; bytes <= 40U << 20; bytes += 123'457)
    for (std::size_t backlog = 0; backlog <= 16U << 20; backlog += 3U << 20)
      for (const unsigned lanes : {1U, 3U, 8U})
        EXPECT_TRUE(validate_stripe(bytes, piece_bytes_for(bytes, backlog, lanes)).is_ok()) << bytes;
}

}  // namespace
}  // namespace tf::tcp
