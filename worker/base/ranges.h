// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses that do not overlap each other, in a std::map by their first address. Its values are
// the ranges' sizes, or have them as `bytes`.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace tf::worker {

// Whether one of the ranges overlaps [address, address + bytes).
template <typename Value>
bool overlaps(const std::map<std::uint64_t, Value>& ranges, std::uint64_t address, std::uint64_t bytes) {
  const auto next = ranges.lower_bound(address);
  if (next != ranges.end() && next->first - address < bytes) return true;
  if (next == ranges.begin()) return false;
  const auto before = std::prev(next);
  if constexpr (requires { before->second.bytes; })
    return address - before->first < before->second.bytes;
  else
    return address - before->first < before->second;
}

}  // namespace tf::worker
