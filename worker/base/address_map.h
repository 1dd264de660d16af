// SPDX-License-Identifier: Apache-2.0
// AddressMap: the device addresses that this session may name. Every address from the client is looked up
// here before the runtime sees it. Belongs to the executor thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace tf::worker {

inline constexpr std::size_t kAddressRangesMax = 1u << 20;  // leases, allocations and globals per session

class AddressMap {
 public:
  // kJoins: a span may continue from this range into a neighbour of the same sort, as for mappings that the
  // client made. kEnds: ranges granted separately stay separate, however close they lie.
  enum class Edge : std::uint8_t { kEnds, kJoins };
  struct Range {
    std::uint64_t bytes = 0;
    std::int32_t device = 0;
    Edge edge = Edge::kEnds;
  };

  // False when the range is empty, wraps, overlaps a known one, or there are too many.
  bool add(std::uint64_t address, std::uint64_t bytes, std::int32_t device, Edge edge = Edge::kEnds);
  bool remove(std::uint64_t address);

  // The range that holds the start of [address, address + bytes), if the whole span belongs to the session
  // (one range, or several that join); else null. An empty span is looked up as one byte, and may also lie at
  // the end of a range.
  const Range* find(std::uint64_t address, std::uint64_t bytes) const;
  // The same for `depth` slices of `height` rows of `width` bytes. Also false if the numbers overflow, or
  // rows or slices overlap; so there are never more of them than the memory has bytes.
  bool holds_box(std::uint64_t address, std::uint64_t pitch, std::uint64_t slice, std::uint64_t width,
                 std::uint64_t height, std::uint64_t depth) const;

  std::size_t size() const { return ranges_.size(); }

 private:
  using Ranges = std::map<std::uint64_t, Range>;
  // The `bytes` after the end of `range` lie in neighbours that join it.
  bool continues(Ranges::const_iterator range, std::uint64_t bytes) const;

  Ranges ranges_;
};

}  // namespace tf::worker
