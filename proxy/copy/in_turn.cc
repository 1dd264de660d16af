// SPDX-License-Identifier: Apache-2.0
// Queues copies to the device whose payload is read when the stream gets there.
#include "proxy/copy/in_turn.h"

#include <cstddef>
#include <span>
#include <vector>

#include "hipcore/wire/control_message.h"
#include "proxy/copy/mapped.h"

namespace tf::proxy {
namespace {

// The rows of the piece's source, one after another.
std::span<const std::byte> packed(const Box& piece, std::vector<std::byte>& room) {
  const auto bytes = static_cast<std::size_t>(piece.bytes());
  if (piece.is_line()) return {piece.source.memory(), bytes};
  room.resize(bytes);
  Box rows = piece;
  rows.target = packed_at(to_raw(room.data()), piece);
  copy_rows(rows);
  return room;
}

}  // namespace

hipError_t copy_in_turn(Callbacks& callbacks, const CopyPlan& plan) {
  graph::BoxPieces pieces(plan.box, protocol::kTurnPayloadMax);
  protocol::CopyInTurnRequest request{};
  for (auto piece = pieces.next(); piece; piece = pieces.next()) {
    request.follows = request.cookie;
    request.target = piece->target.address;
    request.target_pitch = piece->target.pitch;
    request.target_slice = piece->target.slice;
    request.width = piece->width;
    request.height = piece->height;
    request.depth = piece->depth;
    request.stream = plan.mode.stream;
    const auto payload = [piece = *piece](std::vector<std::byte>& room) { return packed(piece, room); };
    const hipError_t error = callbacks.add_copy(plan.mode.device, request, payload);
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}

}  // namespace tf::proxy
