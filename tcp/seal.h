// SPDX-License-Identifier: Apache-2.0
// A checksum on every header of a lane. Lengths, tags and request ids say where the next bytes belong. If one
// of them is corrupted in transit, its reader would wait for bytes that never come. TCP's own checksum misses
// such corruption now and then, and proxies that rewrite a stream replace it. This is no protection against
// forgery.
#pragma once

#include <bit>
#include <cstdint>

#include "transport/frame.h"

namespace tf::tcp {

// Every bit of the words changes the result (odd factors; the rotation lets high bits reach low ones).
constexpr std::uint64_t mix(std::uint64_t first, std::uint64_t second) {
  constexpr std::uint64_t kFirst = 0x9e3779b97f4a7c15;
  constexpr std::uint64_t kSecond = 0xc2b2ae3d27d4eb4f;
  const std::uint64_t mixed = (std::rotl(first * kFirst, 31) ^ second) * kSecond;
  return mixed ^ mixed >> 32;
}

// Takes the place of the magic on a message lane.
constexpr std::uint32_t seal_of(const FrameHeader& header) {
  const std::uint64_t what = std::uint64_t{header.version} | std::uint64_t{header.opcode} << 16 |
                             std::uint64_t{header.request_id} << 32;
  const std::uint64_t whole = mix(mix(what, header.flags), header.payload_length);
  return static_cast<std::uint32_t>(whole) ^ kFrameMagic;
}

}  // namespace tf::tcp
