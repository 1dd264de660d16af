// SPDX-License-Identifier: Apache-2.0
// Checks pieces' headers.
#include "tcp/piece.h"

#include <string>

#include "tcp/seal.h"

namespace tf::tcp {

Status not_possible(std::string_view what, std::string_view field, std::uint64_t value) {
  return {Code::kProtocol,
          std::string(what) + std::string(field) + " " + std::to_string(value) + " is not possible"};
}

std::uint64_t seal_of(const PieceHeader& header) {
  const std::uint64_t rest = std::uint64_t{header.bytes} | std::uint64_t{header.magic} << 32;
  return mix(mix(header.stripe, header.offset), rest);
}

Status validate(const PieceHeader& header) {
  if (header.magic != kPieceMagic && !header.is_void())
    return not_possible("bulk piece: ", "magic", header.magic);
  if (header.seal != seal_of(header)) return not_possible("bulk piece: ", "seal", header.seal);
  if (header.stripe == 0) return not_possible("bulk piece: ", "stripe", header.stripe);
  if (header.bytes == 0 || header.bytes > kPieceBytesMax)
    return not_possible("bulk piece: ", "length", header.bytes);
  if (header.offset >= kStripeBytesMax) return not_possible("bulk piece: ", "offset", header.offset);
  return Status::ok();
}

}  // namespace tf::tcp
