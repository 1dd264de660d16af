// SPDX-License-Identifier: Apache-2.0
// A piece: what of a large send travels at once over one of several connections. A 32-byte header and its
// bytes. A void piece has no bytes: they will not come, and its sender aborts the tag.
//   offset  size  field
//   0       8     stripe    1, 2, ... in the order of their announcements (stripes.h)
//   8       8     offset    in the stripe; a multiple of the stripe's piece size
//   16      4     bytes     the piece size, or what is left of the stripe
//   20      4     magic     'HIPP'; 'HIPV' of a void piece
//   24      8     seal      of the fields before it (seal.h)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "transport/base/status.h"

namespace tf::tcp {

inline constexpr std::uint32_t kPieceMagic = 0x48495050;
inline constexpr std::uint32_t kVoidPieceMagic = 0x48495056;
inline constexpr std::size_t kPieceBytesMin = 32 << 10;
inline constexpr std::size_t kPieceBytesMax = 1 << 20;
// A longer send is several stripes.
inline constexpr std::size_t kStripeBytesMax = 1 << 30;

struct PieceHeader {
  std::uint64_t stripe = 0;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t magic = kPieceMagic;
  std::uint64_t seal = 0;

  bool is_void() const { return magic == kVoidPieceMagic; }
};
static_assert(sizeof(PieceHeader) == 32 && std::has_unique_object_representations_v<PieceHeader>);

// kProtocol: "bulk piece: length 0 is not possible".
Status not_possible(std::string_view what, std::string_view field, std::uint64_t value);
// The value of its last field.
std::uint64_t seal_of(const PieceHeader& header);
// A failure is kProtocol and names the field and its value.
Status validate(const PieceHeader& header);

// Names one.
struct PieceId {
  std::uint64_t stripe = 0;
  std::uint64_t offset = 0;
  friend auto operator<=>(const PieceId&, const PieceId&) = default;
};

// One that is to be sent.
struct OutgoingPiece {
  std::uint64_t send = 0;  // BulkQueue::Outgoing::id
  PieceHeader header;
  std::span<const std::byte> source;

  PieceId id() const { return {header.stripe, header.offset}; }
};

}  // namespace tf::tcp
