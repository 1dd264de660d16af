// SPDX-License-Identifier: Apache-2.0
// Adds, removes and looks up the session's device addresses.
#include "worker/base/address_map.h"

#include <iterator>
#include <limits>

#include "worker/base/ranges.h"

namespace tf::worker {
namespace {

// sum += (count - 1) * step without wrapping. REQUIRES: count > 0
bool advance(std::uint64_t count, std::uint64_t step, std::uint64_t& sum) {
  std::uint64_t distance = 0;
  return !__builtin_mul_overflow(count - 1, step, &distance) && !__builtin_add_overflow(sum, distance, &sum);
}

}  // namespace

bool AddressMap::add(std::uint64_t address, std::uint64_t bytes, std::int32_t device, Edge edge) {
  if (bytes == 0 || bytes > std::numeric_limits<std::uint64_t>::max() - address) return false;
  if (ranges_.size() >= kAddressRangesMax) return false;
  if (overlaps(ranges_, address, bytes)) return false;
  ranges_.emplace(address, Range{bytes, device, edge});
  return true;
}

bool AddressMap::remove(std::uint64_t address) { return ranges_.erase(address) != 0; }

const AddressMap::Range* AddressMap::find(std::uint64_t address, std::uint64_t bytes) const {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  auto candidate = std::prev(after);
  const std::uint64_t offset = address - candidate->first;
  if (offset > candidate->second.bytes) return nullptr;
  const std::uint64_t here = candidate->second.bytes - offset;
  return bytes <= here || continues(candidate, bytes - here) ? &candidate->second : nullptr;
}

bool AddressMap::continues(Ranges::const_iterator range, std::uint64_t bytes) const {
  while (range->second.edge == Edge::kJoins) {
    const std::uint64_t end = range->first + range->second.bytes;
    if (++range == ranges_.end() || range->first != end || range->second.edge != Edge::kJoins) return false;
    if (bytes <= range->second.bytes) return true;
    bytes -= range->second.bytes;
  }
  return false;
}

bool AddressMap::holds_box(std::uint64_t address, std::uint64_t pitch, std::uint64_t slice,
                           std::uint64_t width, std::uint64_t height, std::uint64_t depth) const {
  if (width == 0 || height == 0 || depth == 0) return true;
  std::uint64_t extent = width;
  if ((height > 1 && pitch < width) || !advance(height, pitch, extent)) return false;
  if ((depth > 1 && slice < extent) || !advance(depth, slice, extent)) return false;
  return find(address, extent) != nullptr;
}

}  // namespace tf::worker
