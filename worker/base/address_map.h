// SPDX-License-Identifier: Apache-2.0
// AddressMap: which device addresses this session may name. Whatever comes as an address from the client is
// looked up here before the runtime sees it. Belongs to the executor thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace tf::worker {

inline constexpr std::size_t kAddressRangesMax = 1u << 20;  // leases, allocations and globals of a session

class AddressMap {
 public:
  // kJoins: a span may run from this range into a neighbour of the same sort, as mappings of the client's own
  // making allow it. kEnds: what is granted separately stays separate, however close it lies.
  enum class Edge : std::uint8_t { kEnds, kJoins };
  struct Range {
    std::uint64_t bytes = 0;
    std::int32_t device = 0;
    Edge edge = Edge::kEnds;
  };

  // False when the range is empty, wraps, overlaps a known one, or there are too many.
  bool add(std::uint64_t address, std::uint64_t bytes, std::int32_t device, Edge edge = Edge::kEnds);
  bool remove(std::uint64_t address);

  // The range that holds the start of [address, address + bytes), all of which is the session's; null when it
  // is not: one range, or several that join. An empty span is looked
  // up as one byte, and may also stand at the end of a range.
  const Range* find(std::uint64_t address, std::uint64_t bytes) const;
  // The same for `depth` slices of `height` rows of `width` bytes. False also when the numbers wrap, and when
  // rows or slices overlap: so there are never more of them than the memory has bytes.
  bool holds_box(std::uint64_t address, std::uint64_t pitch, std::uint64_t slice, std::uint64_t width,
                 std::uint64_t height, std::uint64_t depth) const;

  std::size_t size() const { return ranges_.size(); }

 private:
  using Ranges = std::map<std::uint64_t, Range>;
  // `bytes` beyond the end of `range` lie in neighbours that join it.
  bool continues(Ranges::const_iterator range, std::uint64_t bytes) const;

  Ranges ranges_;
};

}  // namespace tf::worker
