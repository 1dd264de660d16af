// SPDX-License-Identifier: Apache-2.0
// Finds what has changed, by watched pages, by hashes and by twins.
#include "hipcore/mirror/changes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "hipcore/mirror/batch.h"

namespace tf::mirror {

Changes::Changes(WrittenPages& pages, const Piece& range, Options options) : pages_(pages), range_(range) {
  const std::uint64_t begin = page_up(range.address);
  const std::uint64_t end = options.whole_pages ? page_up(range.end()) : page_down(range.end());
  const bool large = end > begin && end - begin >= kWatchedBytesMin;
  const Piece inner{begin, large ? end - begin : 0};
  if (options.watched && large && pages_.watch(inner)) {
    if (options.start == Start::kUnknown || pages_.forget(inner)) {
      watched_ = inner;
      untouched_ = options.start == Start::kUnknown;
    } else {
      pages_.unwatch(inner);
    }
  }
  const bool some = watched_.bytes != 0;
  add_compared(range.address, some ? watched_.address : range.end(), options);
  if (some) add_compared(watched_.end(), range.end(), options);
}

Changes::~Changes() {
  if (watched_.bytes != 0) pages_.unwatch(watched_);
}

// Of bytes that the program may be writing: then it differs now or the next time.
Changes::Hash Changes::hash_of(const Piece& block) {
  const UnwatchedPayload payload;
  const XXH128_hash_t hash = XXH3_128bits(block.memory().data(), block.bytes);
  return {hash.low64, hash.high64};
}

Piece Changes::block_of(const Compared& compared, std::uint64_t index) {
  const std::uint64_t offset = index * kComparedBytes;
  return {compared.piece.address + offset, std::min(kComparedBytes, compared.piece.bytes - offset)};
}

void Changes::add_compared(std::uint64_t begin, std::uint64_t end, const Options& options) {
  if (begin >= end) return;
  const bool known = options.start == Start::kSame;
  if (options.exact && end - begin < kWatchedBytesMin) {
    twins_.emplace_back(Piece{begin, end - begin}, known);
    return;
  }
  Compared& compared = compared_.emplace_back();
  compared.piece = {begin, end - begin};
  compared.hashes.resize((end - begin + kComparedBytes - 1) / kComparedBytes);
  if (!known) return;
  static constexpr std::array<std::byte, kComparedBytes> kZeros{};
  const auto zeros = reinterpret_cast<std::uint64_t>(kZeros.data());
  std::fill(compared.hashes.begin(), compared.hashes.end(), hash_of({zeros, kComparedBytes}));
  compared.hashes.back() = hash_of({zeros, block_of(compared, compared.hashes.size() - 1).bytes});
}

void Changes::take_compared(Compared& compared, const Piece& part, bool settled,
                            std::vector<Piece>& changed) {
  const Piece wanted = common(compared.piece, part);
  if (wanted.bytes == 0) return;
  const std::uint64_t first = (wanted.address - compared.piece.address) / kComparedBytes;
  const std::uint64_t last = (wanted.end() - 1 - compared.piece.address) / kComparedBytes;
  for (std::uint64_t index = first; index <= last; ++index) {
    const Piece block = block_of(compared, index);
    const Hash hash = hash_of(block);
    if (hash == compared.hashes[index] && hash != Hash{}) continue;
    compared.hashes[index] = settled ? hash : Hash{};
    append(changed, block);
  }
}

void Changes::take_watched(const Piece& part, std::vector<Piece>& changed) {
  std::vector<Piece> found;
  const Piece wanted{page_down(part.address), page_up(part.end()) - page_down(part.address)};
  const Piece pages = untouched_ ? watched_ : common(watched_, wanted);
  if (pages.bytes == 0) return;
  const bool told = untouched_ ? pages_.begin(pages, found) : pages_.take(pages, found);
  untouched_ = untouched_ && !told;
  if (!told) found.assign(1, pages);
  for (const Piece& piece : found) append(changed, common(piece, range_));
}

void Changes::take(const Piece& part, bool settled, std::vector<Piece>& changed) {
  const Piece within = common(range_, part);
  if (within.bytes == 0) return;
  const auto take_twins = [&](bool in_front) {
    for (Twin& twin : twins_)
      if ((twin.range().address < watched_.address) == in_front) twin.take(within, changed);
  };
  std::vector<Piece> inner;  // of its own: a twin's pieces are not joined with others
  bool watched_taken = watched_.bytes == 0;
  for (Compared& compared : compared_) {
    if (!watched_taken && compared.piece.address >= watched_.end()) {
      take_watched(within, inner);
      watched_taken = true;
    }
    take_compared(compared, within, settled, inner);
  }
  if (!watched_taken) take_watched(within, inner);
  take_twins(true);
  changed.insert(changed.end(), inner.begin(), inner.end());
  take_twins(false);
}

Piece Changes::source(const Piece& changed) const {
  for (const Twin& twin : twins_)
    if (common(twin.range(), changed) == changed) return twin.source(changed);
  return changed;
}

namespace {

constexpr std::uint64_t kMixedBytesMax = 256 << 10;  // of pages that are copied at once

// Whether a piece touches the last page of those before it, or the one behind. What comes from outside may be
// in any order.
bool is_next(std::span<const Piece> before, const Piece& piece) {
  const std::uint64_t end = before.back().end();
  return piece.address >= end && piece.address < page_up(end) &&
         piece.end() - before.front().address <= kMixedBytesMax;
}

}  // namespace

// Writes what twins have of the piece; returns the rest, which is one piece.
Piece Changes::put_exact(const Piece& piece, const std::byte* bytes) {
  Piece rest = piece;
  for (Twin& twin : twins_) {
    const Piece exact = common(twin.range(), piece);
    if (exact.bytes == 0) continue;
    twin.put(exact, bytes + (exact.address - piece.address));
    if (exact.address == rest.address) rest.address = exact.end();
    rest.bytes -= exact.bytes;
  }
  return rest;
}

void Changes::put(std::span<const Piece> pieces, const std::byte* bytes) {
  const auto is_whole = [this](const Piece& piece) {
    const bool ends = piece.end() == page_down(piece.end()) || piece.end() == range_.end();
    return ends && piece.address == page_down(piece.address);
  };
  while (!pieces.empty()) {
    const Piece& first = pieces.front();
    const Piece rest = put_exact(first, bytes);
    std::size_t count = 1;
    if (rest == first && !is_whole(first)) {
      while (count < pieces.size() && is_next(pieces.first(count), pieces[count])) ++count;
      put_mixed(pieces.first(count), bytes);
    } else if (rest.bytes != 0) {
      scatter(bytes + (rest.address - first.address), {&rest, 1});
      agree(rest);
    }
    bytes += total(pieces.first(count));
    pieces = pieces.subspan(count);
  }
}

// Pages that get some bytes only: this side may have changed others, or does so now.
void Changes::put_mixed(std::span<const Piece> pieces, const std::byte* bytes) {
  const Piece all{pieces.front().address, pieces.back().end() - pieces.front().address};
  if (!untouched_ && common(watched_, all) == all) return put_mixed_watched(all, pieces, bytes);
  for (Compared& compared : compared_)
    if (common(compared.piece, all) == all) return put_mixed_compared(compared, all, pieces, bytes);
  scatter(bytes, pieces);
}

namespace {

std::vector<std::byte> content_of(const Piece& memory) {
  const UnwatchedPayload payload;  // as gather()
  return {memory.memory().begin(), memory.memory().end()};
}

// The content of `memory` with the pieces in it.
void lay_over(std::vector<std::byte>& content, const Piece& memory, std::span<const Piece> pieces,
              const std::byte* bytes) {
  for (const Piece& piece : pieces) {
    std::memcpy(content.data() + (piece.address - memory.address), bytes, piece.bytes);
    bytes += piece.bytes;
  }
}

// Counts as written from now on.
void write_same(std::uint64_t page) {
  const std::atomic_ref<unsigned> word(*reinterpret_cast<unsigned*>(page));
  word.fetch_or(0, std::memory_order_relaxed);
}

}  // namespace

// In this order: what is written between two steps is in `written`, or differs at the end.
void Changes::put_mixed_watched(const Piece& all, std::span<const Piece> pieces, const std::byte* bytes) {
  const Piece pages{page_down(all.address), page_up(all.end()) - page_down(all.address)};
  std::vector<std::byte> expected = content_of(pages);
  lay_over(expected, pages, pieces, bytes);
  std::vector<Piece> written;
  if (!pages_.take(pages, written)) written.assign(1, pages);
  scatter(bytes, pieces);
  static_cast<void>(pages_.forget(pages));
  for (std::uint64_t page = pages.address; page < pages.end(); page += kPageBytes) {
    const auto has_page = [page](const Piece& piece) { return common(piece, {page, kPageBytes}).bytes != 0; };
    const void* const memory = reinterpret_cast<const void*>(page);
    if (std::any_of(written.begin(), written.end(), has_page) ||
        std::memcmp(memory, expected.data() + (page - pages.address), kPageBytes) != 0)
      write_same(page);
  }
}

void Changes::put_mixed_compared(Compared& compared, const Piece& all, std::span<const Piece> pieces,
                                 const std::byte* bytes) {
  const std::uint64_t first = (all.address - compared.piece.address) / kComparedBytes;
  const std::uint64_t last = (all.end() - 1 - compared.piece.address) / kComparedBytes;
  const std::uint64_t begin = block_of(compared, first).address;
  const Piece blocks{begin, block_of(compared, last).end() - begin};
  const std::vector<std::byte> before = content_of(blocks);
  std::vector<std::byte> expected = before;
  lay_over(expected, blocks, pieces, bytes);
  scatter(bytes, pieces);
  for (std::uint64_t index = first; index <= last; ++index) {
    const Piece block = block_of(compared, index);
    const auto hash_in = [&](const std::vector<std::byte>& content) {
      const std::byte* const there = content.data() + (block.address - blocks.address);
      return hash_of({reinterpret_cast<std::uint64_t>(there), block.bytes});
    };
    const bool agreed = hash_in(before) == compared.hashes[index];
    compared.hashes[index] = agreed ? hash_in(expected) : Hash{};
  }
}

void Changes::agree_on(const Piece& part, const std::byte* bytes) {
  for (Compared& compared : compared_) {
    const Piece within = common(compared.piece, part);
    if (within.bytes == 0) continue;
    const std::uint64_t first = (within.address - compared.piece.address) / kComparedBytes;
    const std::uint64_t last = (within.end() - 1 - compared.piece.address) / kComparedBytes;
    for (std::uint64_t index = first; index <= last; ++index) {
      const Piece block = block_of(compared, index);
      if (common(block, part) != block) continue;  // found again
      const auto sent = reinterpret_cast<std::uint64_t>(bytes) + (block.address - part.address);
      compared.hashes[index] = hash_of({sent, block.bytes});
    }
  }
}

void Changes::agree(const Piece& part) {
  const Piece within = common(range_, part);
  if (within.bytes == 0) return;
  const Piece pages =
      common(watched_, {page_down(within.address), page_up(within.end()) - page_down(within.address)});
  if (!untouched_) static_cast<void>(pages_.forget(pages));
  for (Twin& twin : twins_)
    if (const Piece exact = common(twin.range(), within); exact.bytes != 0) twin.agree(exact);
  for (Compared& compared : compared_) {
    const Piece touched = common(compared.piece, within);
    if (touched.bytes == 0) continue;
    const std::uint64_t first = (touched.address - compared.piece.address) / kComparedBytes;
    const std::uint64_t last = (touched.end() - 1 - compared.piece.address) / kComparedBytes;
    for (std::uint64_t index = first; index <= last; ++index)
      compared.hashes[index] = hash_of(block_of(compared, index));
  }
}

}  // namespace tf::mirror
