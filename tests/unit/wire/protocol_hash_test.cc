// SPDX-License-Identifier: Apache-2.0
// What HELLO compares changes with the requests and with the messages of the control connection.
#include "hipcore/wire/protocol_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "hipcore/mirror/order.h"

namespace tf::protocol {
namespace {

using Words = std::vector<std::uint64_t>;

const Words kMagics(std::begin(kControlMagics), std::end(kControlMagics));
const Words kForm(std::begin(kControlForm), std::end(kControlForm));

TEST(ProtocolHash, SeesEveryControlMessage) {
  EXPECT_EQ(protocol_hash(kSchemaHash, kMagics, kForm), kProtocolHash);
  for (std::size_t index = 0; index < kMagics.size(); ++index) {
    Words fewer = kMagics;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(index));
    EXPECT_NE(protocol_hash(kSchemaHash, fewer, kForm), kProtocolHash) << index;
  }
  Words more = kMagics;
  more.push_back(1);
  EXPECT_NE(protocol_hash(kSchemaHash, more, kForm), kProtocolHash);
}

TEST(ProtocolHash, SeesTheirFormAndTheRequests) {
  for (std::size_t index = 0; index < kForm.size(); ++index) {
    Words other = kForm;
    ++other[index];
    EXPECT_NE(protocol_hash(kSchemaHash, kMagics, other), kProtocolHash) << index;
  }
  EXPECT_NE(protocol_hash(kSchemaHash + 1, kMagics, kForm), kProtocolHash);
  EXPECT_NE(kSchemaHash, kProtocolHash);
}

TEST(MirrorOrderForm, IsTheOneThatItsNumberStandsFor) {
  using mirror::Order;
  using mirror::OrderReply;
  using mirror::Piece;
  const Words form{sizeof(Order),
                   offsetof(Order, what),
                   offsetof(Order, tag),
                   offsetof(Order, after),
                   offsetof(Order, pieces),
                   offsetof(Order, bytes),
                   static_cast<std::uint64_t>(Order::What::kWrite),
                   static_cast<std::uint64_t>(Order::What::kFind),
                   sizeof(OrderReply),
                   offsetof(OrderReply, bytes),
                   sizeof(Piece),
                   offsetof(Piece, bytes),
                   mirror::kOrderPiecesMax,
                   mirror::kOrderBytesMax};
  EXPECT_EQ(form, (Words{40, 0, 8, 16, 24, 32, 1, 2, 16, 8, 16, 8, 2'048, 256 << 10}))
      << "then count kMirrorOrderForm up";
}

TEST(ControlMagics, DifferFromEachOther) {
  Words sorted = kMagics;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
}

}  // namespace
}  // namespace tf::protocol
