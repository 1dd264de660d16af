// SPDX-License-Identifier: Apache-2.0
// How pieces travel as payload: large ones straight from and to memory, runs of small ones through a buffer.
// Each side may cut differently: what travels is the pieces' bytes, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "hipcore/mirror/piece.h"
#include "transport/base/unwatched_payload.h"

namespace tf::mirror {

inline constexpr std::uint64_t kSmallPieceBytes = 64 << 10;  // smaller ones are gathered
inline constexpr std::uint64_t kGatheredBytesMax = 1 << 20;  // per buffer

struct Batch {
  std::size_t pieces = 0;
  std::uint64_t bytes = 0;
  bool gathered = false;  // else it is one piece
};

// The first pieces of `rest`. REQUIRES: it is not empty
inline Batch next_batch(std::span<const Piece> rest) {
  Batch batch;
  while (batch.pieces < rest.size()) {
    const std::uint64_t bytes = rest[batch.pieces].bytes;
    if (bytes >= kSmallPieceBytes || batch.bytes + bytes > kGatheredBytesMax) break;
    batch.bytes += bytes;
    ++batch.pieces;
  }
  batch.gathered = batch.pieces != 0;
  return batch.gathered ? batch : Batch{1, rest.front().bytes, false};
}

// Both: the program may write the pages at that moment, and work may read them. A page that is written again travels
// again; programs must not rely on more (docs/limits.md).
inline void gather(std::span<const Piece> pieces, std::byte* to) {
  const UnwatchedPayload payload;
  for (const Piece& piece : pieces) {
    std::memcpy(to, piece.memory().data(), piece.bytes);
    to += piece.bytes;
  }
}

inline void scatter(const std::byte* from, std::span<const Piece> pieces) {
  const UnwatchedPayload payload;
  for (const Piece& piece : pieces) {
    std::memcpy(piece.memory().data(), from, piece.bytes);
    from += piece.bytes;
  }
}

}  // namespace tf::mirror
