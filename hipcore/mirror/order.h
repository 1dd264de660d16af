// SPDX-License-Identifier: Apache-2.0
// Orders: what a client asks of the worker's mirror outside the order of its requests, on the control
// connection. While the program's host functions wait to run, a request may stand behind work that waits for
// them; an order does not. The client has one order under way at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "hipcore/mirror/piece.h"

namespace tf::mirror {

inline constexpr std::uint64_t kOrderPiecesMax = 2'048;
inline constexpr std::uint64_t kOrderBytesMax = 256 << 10;  // of memory

// In front of the Piece structs, and of the bytes of one after another if they are to be written.
struct Order {
  enum class What : std::uint32_t {
    kWrite = 1,  // the pieces as the client has them
    kFind = 2,   // what has changed in the pieces, and send it
  };
  What what = What::kWrite;
  std::uint32_t reserved = 0;
  // The bulk plane's, for what comes back: an OrderReply, then the Piece structs that it counts, then the
  // bytes of one after another.
  std::uint64_t tag = 0;
  std::uint64_t after = 0;  // so many WriteHostPieces come first: they were posted before
  std::uint64_t pieces = 0;
  std::uint64_t bytes = 0;  // behind the pieces
};
static_assert(sizeof(Order) == 40 && std::has_unique_object_representations_v<Order>);

struct OrderReply {
  std::uint64_t pieces = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(OrderReply) == 16 && std::has_unique_object_representations_v<OrderReply>);

inline constexpr std::size_t kOrderMessageMax =
    sizeof(Order) + kOrderPiecesMax * sizeof(Piece) + kOrderBytesMax;

// A message with room for `order.bytes` behind the pieces.
inline std::vector<std::byte> order_message(const Order& order, std::span<const Piece> pieces) {
  std::vector<std::byte> message(sizeof order + pieces.size_bytes() + order.bytes);
  std::memcpy(message.data(), &order, sizeof order);
  if (!pieces.empty()) std::memcpy(message.data() + sizeof order, pieces.data(), pieces.size_bytes());
  return message;
}

// What a message says. `bytes` is a view of the message.
struct OrderParts {
  Order order;
  std::vector<Piece> pieces;
  std::span<const std::byte> bytes;
};

// False: these bytes are no order.
inline bool read_order(std::span<const std::byte> message, OrderParts& parts) {
  if (message.size() < sizeof parts.order) return false;
  std::memcpy(&parts.order, message.data(), sizeof parts.order);
  const Order& order = parts.order;
  const bool known =
      order.what == Order::What::kWrite || (order.what == Order::What::kFind && order.bytes == 0);
  if (!known || order.pieces == 0 || order.pieces > kOrderPiecesMax || order.bytes > kOrderBytesMax)
    return false;
  const std::size_t places = order.pieces * sizeof(Piece);
  if (message.size() != sizeof order + places + order.bytes) return false;
  parts.pieces.resize(order.pieces);
  std::memcpy(parts.pieces.data(), message.data() + sizeof order, places);
  parts.bytes = message.subspan(sizeof order + places);
  return true;
}

}  // namespace tf::mirror
