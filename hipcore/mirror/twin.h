// SPDX-License-Identifier: Apache-2.0
// Twin: a copy of a small range of memory as both sides of the mirror have it.
//
// With it changes are known to the byte, so what the other side has changed is merged with what this side
// changes at the same time: a struct of which the host writes one member and running work another stays
// right. It costs as much memory as the range has, hence small ranges only. One thread at a time; the program
// may write to the memory meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hipcore/mirror/piece.h"

namespace tf::mirror {

// What is found: aligned words, so that no int arrives in halves.
inline constexpr std::uint64_t kWordBytes = 4;

class Twin {
 public:
  // `known` false: the other side may have anything; the first take() finds all of it. Else both sides are
  // zero.
  Twin(const Piece& range, bool known) : range_(range), known_(known), bytes_(range.bytes) {}

  const Piece& range() const { return range_; }
  // Appends the words of `part` that differ, and at first all of the range. From then on both sides have them
  // as source() holds them.
  void take(const Piece& part, std::vector<Piece>& changed);
  // The bytes of a piece as take() found them, valid until the next take() or put(). REQUIRES: it lies in
  // range()
  Piece source(const Piece& piece) const;
  // `from` has come from the other side: what differs from the twin is stored. REQUIRES: as source()
  void put(const Piece& piece, const std::byte* from);
  // The piece has come from the other side, straight into the memory. REQUIRES: as source()
  void agree(const Piece& piece);

 private:
  std::byte* twin_of(std::uint64_t address) { return bytes_.data() + (address - range_.address); }
  void take_words(const Piece& block, std::size_t first, std::vector<Piece>& changed);

  Piece range_;
  bool known_;
  std::vector<std::byte> bytes_;
};

}  // namespace tf::mirror
