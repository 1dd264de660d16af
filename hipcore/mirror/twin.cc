// SPDX-License-Identifier: Apache-2.0
// Finds what differs from the twin, and merges what arrives.
#include "hipcore/mirror/twin.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace tf::mirror {
namespace {

using Word = std::uint64_t;  // what is stored at once

// 0xff for each byte that is not 0.
Word nonzero_bytes(Word word) {
  constexpr Word kLow = 0x7f7f7f7f7f7f7f7f;
  const Word tops = (((word & kLow) + kLow) | word) & ~kLow;
  return (tops >> 7) * 0xff;
}

// The program or a device may write the other bytes of the word at this moment.
void store(Word* target, Word value, Word mask) {
  const std::atomic_ref<Word> memory(*target);
  if (mask == ~Word{0}) return memory.store(value, std::memory_order_relaxed);
  Word seen = memory.load(std::memory_order_relaxed);
  while (!memory.compare_exchange_weak(seen, (seen & ~mask) | (value & mask), std::memory_order_relaxed)) {
  }
}

}  // namespace

// The memory is read once: what the twin gets is what travels.
void Twin::take_words(const Piece& block, std::size_t first, std::vector<Piece>& changed) {
  for (std::uint64_t at = block.address; at < block.end();) {
    const std::uint64_t end = std::min((at | (kWordBytes - 1)) + 1, block.end());
    std::byte now[kWordBytes];
    std::memcpy(now, reinterpret_cast<const void*>(at), end - at);
    if (std::memcmp(now, twin_of(at), end - at) != 0) {
      std::memcpy(twin_of(at), now, end - at);
      const bool joins = changed.size() > first && changed.back().end() == at;
      if (joins) changed.back().bytes += end - at;
      if (!joins) changed.push_back({at, end - at});
    }
    at = end;
  }
}

void Twin::take(const Piece& part, std::vector<Piece>& changed) {
  const Piece wanted = common(range_, part);
  if (wanted.bytes == 0) return;
  if (!known_) {
    std::memcpy(bytes_.data(), range_.memory().data(), range_.bytes);
    known_ = true;
    return changed.push_back(range_);
  }
  const std::size_t first = changed.size();
  const std::uint64_t begin = std::max(wanted.address & ~(kWordBytes - 1), range_.address);
  const std::uint64_t end = std::min(((wanted.end() - 1) | (kWordBytes - 1)) + 1, range_.end());
  for (std::uint64_t at = begin; at < end;) {
    const Piece block{at, std::min(page_down(at) + kPageBytes, end) - at};
    if (std::memcmp(block.memory().data(), twin_of(at), block.bytes) != 0) take_words(block, first, changed);
    at = block.end();
  }
}

Piece Twin::source(const Piece& piece) const {
  const std::byte* const bytes = bytes_.data() + (piece.address - range_.address);
  return {reinterpret_cast<std::uint64_t>(bytes), piece.bytes};
}

void Twin::agree(const Piece& piece) {
  std::memcpy(twin_of(piece.address), piece.memory().data(), piece.bytes);
}

void Twin::put(const Piece& piece, const std::byte* from) {
  for (std::uint64_t at = piece.address; at < piece.end();) {
    std::byte* const twin = twin_of(at);
    const std::byte* const next = from + (at - piece.address);
    if (at % sizeof(Word) == 0 && piece.end() - at >= sizeof(Word)) {
      Word had = 0;
      Word has = 0;
      std::memcpy(&had, twin, sizeof had);
      std::memcpy(&has, next, sizeof has);
      if (had != has) store(reinterpret_cast<Word*>(at), has, nonzero_bytes(had ^ has));
      at += sizeof(Word);
      continue;
    }
    if (*twin != *next) *reinterpret_cast<std::byte*>(at) = *next;
    ++at;
  }
  std::memcpy(twin_of(piece.address), from, piece.bytes);
}

}  // namespace tf::mirror
