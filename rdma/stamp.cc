// SPDX-License-Identifier: Apache-2.0
// Makes and checks the stamps of unannounced records (XXH3-64).
#include "rdma/stamp.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tf::rdma {
namespace {

std::uint64_t seal_of(std::uint64_t secret, std::uint64_t position, std::uint64_t mark,
                      std::span<const std::byte> record) {
  return XXH3_64bits_withSeed(record.data(), record.size(), (secret + position) ^ (mark & ~0xffffffffull));
}

}  // namespace

Stamp make_stamp(std::uint64_t secret, std::uint64_t position, std::uint32_t told,
                 std::span<const std::byte> record) {
  const std::uint64_t mark = std::uint64_t{told} << 32 | tag_of(secret, position);
  return {mark, seal_of(secret, position, mark, record)};
}

bool StampedCopy::take(std::span<const std::byte> place, std::size_t bytes, std::uint64_t secret,
                       std::uint64_t position) {
  const std::size_t span = record_span(bytes);
  const std::uint64_t mark = load(place.data() + span - kStampBytes);
  const std::uint64_t seal = load(place.data() + span - sizeof(std::uint64_t));
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = load(place.data() + at);
    std::memcpy(bytes_.data() + at, &word, sizeof word);
  }
  FrameHeader header;
  std::memcpy(&header, bytes_.data(), sizeof header);
  if (header.payload_length != bytes - kFrameHeaderBytes) return false;
  if (static_cast<std::uint32_t>(mark) != tag_of(secret, position)) return false;
  size_ = bytes;
  told_ = static_cast<std::uint32_t>(mark >> 32);
  return seal == seal_of(secret, position, mark, std::span(bytes_).first(bytes));
}

}  // namespace tf::rdma
