// SPDX-License-Identifier: Apache-2.0
// Changes: which bytes of a range of memory differ from what the other side of the mirror has.
//
// Large ranges are watched by the kernel (written_pages.h), page by page. What it cannot watch is compared:
// a 128-bit hash of every 4 KiB stands for what both sides had. So are small ranges, for which a fault costs
// more than the comparison, and pages of which the range has only a part, since others write to them; these,
// if they are wanted exactly, with a copy (twin.h) instead of hashes. Comparing reads all the memory, but
// also finds what a device has written. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hipcore/mirror/piece.h"
#include "hipcore/mirror/twin.h"
#include "hipcore/mirror/written_pages.h"

namespace tf::mirror {

inline constexpr std::uint64_t kWatchedBytesMin = 64 << 10;  // of whole pages
inline constexpr std::uint64_t kComparedBytes = 4096;        // per hash

class Changes {
 public:
  enum class Start : std::uint8_t {
    kSame,     // both sides are zero
    kUnknown,  // the first take() finds everything, except pages that nobody has written
  };
  struct Options {
    Start start = Start::kUnknown;
    bool whole_pages = false;  // the range has its first and last page to itself
    bool watched = true;       // all writes go through this process's page tables
    bool exact = false;        // where it is small: words instead of pages, merged with what arrives
  };
  // `pages` outlives it.
  Changes(WrittenPages& pages, const Piece& range, Options options);
  Changes(Changes&& other) noexcept
      : pages_(other.pages_),
        range_(other.range_),
        watched_(std::exchange(other.watched_, {})),
        untouched_(other.untouched_),
        compared_(std::move(other.compared_)),
        twins_(std::move(other.twins_)) {}
  Changes& operator=(Changes&&) = delete;
  ~Changes();

  const Piece& range() const { return range_; }
  // All of it is watched, none compared.
  bool is_watched() const { return compared_.empty() && twins_.empty(); }

  // Appends what has changed in `part`, rounded outward inside the range, and at first perhaps in all of it,
  // in the order of the addresses. From then on both sides have it. `settled` false: the memory may still
  // change while it travels by means that are not seen (a device), so what is found now is found again unless
  // agree_on() says what has travelled.
  void take(const Piece& part, bool settled, std::vector<Piece>& changed);
  // Where the bytes of such a piece are that are to travel, until the next call. REQUIRES: take() has found
  // it
  Piece source(const Piece& changed) const;
  // These have come from the other side, `bytes` one after another: writes them. What this side has changed
  // beside them is still found, also if it does so now. REQUIRES: each lies in range()
  void put(std::span<const Piece> pieces, const std::byte* bytes);
  // `part` has come from the other side, straight into the memory.
  void agree(const Piece& part);
  // The other side has got `bytes` for `part`, which take() has found. What the memory has by now may differ:
  // then it is found again.
  void agree_on(const Piece& part, const std::byte* bytes);

 private:
  struct Hash {
    std::uint64_t low = 0;
    std::uint64_t high = 0;  // both 0: unknown
    friend bool operator==(const Hash&, const Hash&) = default;
  };
  // Bytes in front of the watched pages, behind them, or all of the range, unless a twin has them.
  struct Compared {
    Piece piece;
    std::vector<Hash> hashes;
  };

  static Hash hash_of(const Piece& block);
  static Piece block_of(const Compared& compared, std::uint64_t index);
  void add_compared(std::uint64_t begin, std::uint64_t end, const Options& options);
  Piece put_exact(const Piece& piece, const std::byte* bytes);
  void put_mixed(std::span<const Piece> pieces, const std::byte* bytes);
  void put_mixed_watched(const Piece& all, std::span<const Piece> pieces, const std::byte* bytes);
  static void put_mixed_compared(Compared& compared, const Piece& all, std::span<const Piece> pieces,
                                 const std::byte* bytes);
  void take_watched(const Piece& part, std::vector<Piece>& changed);
  static void take_compared(Compared& compared, const Piece& part, bool settled, std::vector<Piece>& changed);

  WrittenPages& pages_;
  const Piece range_;
  Piece watched_;           // whole pages, perhaps beyond the range's end
  bool untouched_ = false;  // watched_ holds what no take() has seen yet
  std::vector<Compared> compared_;
  std::vector<Twin> twins_;
};

}  // namespace tf::mirror
