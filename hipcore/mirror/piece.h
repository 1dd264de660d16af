// SPDX-License-Identifier: Apache-2.0
// Pieces of memory: what has changed on one side of a mirror and travels to the other. Plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tf::mirror {

inline constexpr std::uint64_t kPageBytes = 4096;

constexpr std::uint64_t page_down(std::uint64_t address) { return address & ~(kPageBytes - 1); }
// REQUIRES: not in the last page of all addresses
constexpr std::uint64_t page_up(std::uint64_t address) { return page_down(address + kPageBytes - 1); }

// [address, address + bytes). On the wire as it is here.
struct Piece {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;

  std::uint64_t end() const { return address + bytes; }
  std::span<std::byte> memory() const { return {reinterpret_cast<std::byte*>(address), bytes}; }
  friend bool operator==(const Piece&, const Piece&) = default;
};
static_assert(sizeof(Piece) == 16 && alignof(Piece) == 8);

// What both have; empty if they do not meet.
constexpr Piece common(const Piece& one, const Piece& other) {
  const std::uint64_t begin = one.address > other.address ? one.address : other.address;
  const std::uint64_t one_end = one.address + one.bytes;
  const std::uint64_t other_end = other.address + other.bytes;
  const std::uint64_t end = one_end < other_end ? one_end : other_end;
  return end > begin ? Piece{begin, end - begin} : Piece{begin, 0};
}

// Adds a piece behind the others, to the last one if they touch. Empty ones are dropped.
inline void append(std::vector<Piece>& pieces, const Piece& piece) {
  if (piece.bytes == 0) return;
  if (!pieces.empty() && pieces.back().end() == piece.address)
    pieces.back().bytes += piece.bytes;
  else
    pieces.push_back(piece);
}

// Appends all that is in one of the two, which are in the order of their addresses.
inline void unite(std::span<const Piece> one, std::span<const Piece> other, std::vector<Piece>& all) {
  while (!one.empty() || !other.empty()) {
    std::span<const Piece>& from =
        other.empty() || (!one.empty() && one.front().address <= other.front().address) ? one : other;
    const Piece next = from.front();
    from = from.subspan(1);
    const std::uint64_t known = all.empty() ? 0 : all.back().end();
    const std::uint64_t begin = next.address > known ? next.address : known;
    if (next.end() > begin) append(all, {begin, next.end() - begin});
  }
}

// Whether no two of them have a byte in common, in whatever order. REQUIRES: none wraps
inline bool are_apart(std::span<const Piece> pieces) {
  std::vector<Piece> sorted(pieces.begin(), pieces.end());
  std::ranges::sort(sorted, {}, &Piece::address);
  const auto meet = [](const Piece& one, const Piece& next) { return next.address < one.end(); };
  return std::ranges::adjacent_find(sorted, meet) == sorted.end();
}

// REQUIRES: the sum does not wrap; it cannot for pieces of memory of one process that do not overlap
inline std::uint64_t total(std::span<const Piece> pieces) {
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  return bytes;
}

}  // namespace tf::mirror
