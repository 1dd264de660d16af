// SPDX-License-Identifier: Apache-2.0
// Pieces without a receipt: none is forgotten, and none is freed while a lane reads it.
#include "tcp/unconfirmed.h"

#include <gtest/gtest.h>

#include <vector>

namespace tf::tcp {
namespace {

constexpr std::size_t kPart = 100;

class UnconfirmedTest : public testing::Test {
 protected:
  OutgoingPiece piece(std::uint64_t stripe, std::uint64_t offset) const {
    OutgoingPiece made{.send = 40 + stripe, .header = {}, .source = memory_};
    made.header.stripe = stripe;
    made.header.offset = offset;
    return made;
  }
  bool is_freed(const Result<std::optional<Unconfirmed::Freed>>& freed) {
    return freed && freed.value() && freed.value()->bytes == kPart;
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kPart);
  Unconfirmed pieces_;
};

TEST_F(UnconfirmedTest, MemoryIsFreeWhenTheReceiptHasComeAndTheKernelHasLetGo) {
  pieces_.begin(piece(1, 0), 2);
  EXPECT_FALSE(pieces_.release({1, 0}, kPart));
  EXPECT_TRUE(is_freed(pieces_.confirm({1, 0})));
  pieces_.begin(piece(1, 5), 2);
  EXPECT_FALSE(pieces_.release({1, 5}, kPart - 1));
  EXPECT_FALSE(pieces_.confirm({1, 5}).value()) << "a lane still reads it";
  const auto freed = pieces_.release({1, 5}, 1);
  ASSERT_TRUE(freed);
  EXPECT_EQ(freed->send, 41U);
}

TEST_F(UnconfirmedTest, WhatALaneHasLostIsSentAgain) {
  pieces_.begin(piece(1, 0), 2);
  pieces_.begin(piece(1, 1), 3);
  pieces_.begin(piece(1, 2), 2);
  EXPECT_FALSE(pieces_.release({1, 0}, kPart));
  EXPECT_FALSE(pieces_.confirm({1, 2}).value());
  const auto freed = pieces_.lose(2);
  ASSERT_EQ(freed.size(), 1U) << "it had arrived, and the lane no longer reads it";
  EXPECT_EQ(pieces_.lost(), 1U);
  EXPECT_EQ(pieces_.lost_bytes(), kPart);
  const auto again = pieces_.take_lost();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id(), (PieceId{1, 0}));
  EXPECT_EQ(pieces_.lost_bytes(), 0U);
  pieces_.begin(*again, 3);
  EXPECT_TRUE(pieces_.lose(3).empty());
  EXPECT_EQ(pieces_.lost(), 2U) << "what it sent itself, and what it had taken over";
}

TEST_F(UnconfirmedTest, AReceiptThatComesLateSavesTheSecondSending) {
  pieces_.begin(piece(1, 0), 2);
  (void)pieces_.lose(2);
  EXPECT_TRUE(is_freed(pieces_.confirm({1, 0})));
  EXPECT_EQ(pieces_.lost(), 0U);
  EXPECT_FALSE(pieces_.take_lost());
}

TEST_F(UnconfirmedTest, AReceiptDuringTheSecondSendingWaitsForIt) {
  pieces_.begin(piece(1, 0), 2);
  (void)pieces_.lose(2);
  pieces_.begin(*pieces_.take_lost(), 3);
  EXPECT_FALSE(pieces_.confirm({1, 0}).value());
  EXPECT_FALSE(pieces_.release({1, 0}, kPart / 2));
  EXPECT_TRUE(pieces_.release({1, 0}, kPart / 2));
}

TEST_F(UnconfirmedTest, InventedReceiptsAreRefused) {
  EXPECT_EQ(pieces_.confirm({1, 0}).code(), Code::kProtocol);
  pieces_.begin(piece(1, 0), 2);
  EXPECT_FALSE(pieces_.confirm({1, 0}).value());
  EXPECT_EQ(pieces_.confirm({1, 0}).code(), Code::kProtocol) << "a second one";
}

}  // namespace
}  // namespace tf::tcp
