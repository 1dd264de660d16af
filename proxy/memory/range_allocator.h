// SPDX-License-Identifier: Apache-2.0
// RangeAllocator: cuts blocks from address ranges. It never touches the memory.
//
// Ranges (leases) are added and removed; a block never spans two of them. Free neighbours merge. Best fit,
// lowest address first. Not thread-safe: DeviceMemory holds the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tf::proxy {

inline constexpr std::uint64_t kAllocationAlignmentBytes = 256;

struct Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;     // as asked for
  std::uint64_t reserved = 0;  // what it occupies
};

class RangeAllocator {
 public:
  // False: empty, misaligned, wraps around, or overlaps an existing range.
  bool add_range(std::uint64_t address, std::uint64_t bytes);
  // Removes a range that has no blocks in it. False: unknown or in use.
  bool remove_range(std::uint64_t address);

  // Nothing: no free run is large enough. REQUIRES: bytes > 0
  std::optional<Block> allocate(std::uint64_t bytes);
  // The whole range that starts at `address`, of which `bytes` were asked for. Nothing: there is no such
  // range, a block is in it, or it is smaller.
  std::optional<Block> allocate_range(std::uint64_t address, std::uint64_t bytes);
  // Frees the block that starts at `address`. Nothing: there is no such block.
  std::optional<Block> release(std::uint64_t address);

  // The block that contains `address` (anywhere inside what was asked for).
  std::optional<Block> find(std::uint64_t address) const;
  // The range that contains `address`: {base, bytes}.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> range_of(std::uint64_t address) const;
  std::vector<std::uint64_t> unused_ranges() const;
  // Where blocks start.
  std::vector<std::uint64_t> blocks() const;

  std::uint64_t allocated_bytes() const { return allocated_bytes_; }

 private:
  struct Range {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
  };
  std::map<std::uint64_t, Range>::iterator range_iterator(std::uint64_t address);
  Block take(std::map<std::uint64_t, std::uint64_t>::iterator run, std::uint64_t bytes,
             std::uint64_t reserved);
  void insert_free(std::uint64_t address, std::uint64_t bytes);
  void erase_free(std::map<std::uint64_t, std::uint64_t>::iterator run);

  std::map<std::uint64_t, Range> ranges_;
  std::map<std::uint64_t, std::uint64_t> free_;                     // address -> bytes
  std::set<std::pair<std::uint64_t, std::uint64_t>> free_by_size_;  // {bytes, address}
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t allocated_bytes_ = 0;
};

}  // namespace tf::proxy
