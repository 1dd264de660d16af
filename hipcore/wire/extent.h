// SPDX-License-Identifier: Apache-2.0
// Sizes of strided memory in requests, and of rows of mappings, for range checks on both sides. The numbers
// come from a program or a client, so every product and sum is checked. A result that does not fit 64 bits
// becomes kNoExtent, which no range contains.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

namespace tf::protocol {

inline constexpr std::uint64_t kNoExtent = ~std::uint64_t{0};

// `height` rows of `width` bytes, `pitch` bytes from row to row.
constexpr std::uint64_t rows(std::uint64_t pitch, std::uint64_t width, std::uint64_t height) {
  if (width == 0 || height == 0) return 0;
  std::uint64_t extent = 0;
  if (__builtin_mul_overflow(pitch, height - 1, &extent)) return kNoExtent;
  return __builtin_add_overflow(extent, width, &extent) ? kNoExtent : extent;
}

// A box of pitched memory: `pitched.ysize` rows from slice to slice; slices do not overlap.
constexpr std::uint64_t slices(const hipPitchedPtr& pitched, const hipExtent& box) {
  std::uint64_t slice = 0;
  if (__builtin_mul_overflow(pitched.pitch, pitched.ysize, &slice)) return kNoExtent;
  const std::uint64_t last = rows(pitched.pitch, box.width, box.height);
  if (box.depth == 0 || last == 0) return 0;
  if (last == kNoExtent || (box.depth > 1 && slice < last)) return kNoExtent;
  return rows(slice, last, box.depth);
}

// Bytes of `count` elements.
constexpr std::uint64_t elements(std::uint64_t count, std::uint64_t size) {
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? kNoExtent : bytes;
}

// Whether whole entries, side by side, cover exactly [address, address + bytes). `ranges`: a std::map by
// address whose entries have `bytes`.
template <typename Ranges>
bool is_tiled(const Ranges& ranges, std::uint64_t address, std::uint64_t bytes) {
  std::uint64_t covered = 0;
  for (auto range = ranges.find(address); covered < bytes; ++range) {
    if (range == ranges.end() || range->first != address + covered) return false;
    covered += range->second.bytes;
  }
  return bytes != 0 && covered == bytes;
}

}  // namespace tf::protocol
