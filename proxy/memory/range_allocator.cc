// SPDX-License-Identifier: Apache-2.0
// Best-fit allocation in address ranges.
#include "proxy/memory/range_allocator.h"

namespace tf::proxy {
namespace {

std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + kAllocationAlignmentBytes - 1) & ~(kAllocationAlignmentBytes - 1);
}

}  // namespace

bool RangeAllocator::add_range(std::uint64_t address, std::uint64_t bytes) {
  if (address == 0 || bytes == 0 || address % kAllocationAlignmentBytes != 0 || address + bytes < address)
    return false;
  auto next = ranges_.lower_bound(address);
  if (next != ranges_.end() && next->first < address + bytes) return false;
  if (next != ranges_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second.bytes > address) return false;
  }
  ranges_.emplace(address, Range{bytes, 0});
  insert_free(address, bytes);
  return true;
}

bool RangeAllocator::remove_range(std::uint64_t address) {
  auto range = ranges_.find(address);
  if (range == ranges_.end() || range->second.blocks != 0) return false;
  erase_free(free_.find(address));  // an unused range is one free run
  ranges_.erase(range);
  return true;
}

std::optional<Block> RangeAllocator::allocate(std::uint64_t bytes) {
  std::uint64_t reserved = round_up(bytes);
  if (reserved < bytes) return std::nullopt;
  auto fit = free_by_size_.lower_bound({reserved, 0});
  if (fit == free_by_size_.end()) return std::nullopt;
  return take(free_.find(fit->second), bytes, reserved);
}

std::optional<Block> RangeAllocator::allocate_range(std::uint64_t address, std::uint64_t bytes) {
  const auto range = ranges_.find(address);
  if (range == ranges_.end() || range->second.blocks != 0 || bytes > range->second.bytes) return std::nullopt;
  return take(free_.find(address), bytes, range->second.bytes);  // an unused range is one free run
}

// REQUIRES: reserved <= the run's bytes
Block RangeAllocator::take(std::map<std::uint64_t, std::uint64_t>::iterator run, std::uint64_t bytes,
                           std::uint64_t reserved) {
  const auto [address, run_bytes] = *run;
  erase_free(run);
  if (run_bytes > reserved) insert_free(address + reserved, run_bytes - reserved);
  const Block block{address, bytes, reserved};
  blocks_.emplace(address, block);
  range_iterator(address)->second.blocks++;
  allocated_bytes_ += reserved;
  return block;
}

std::optional<Block> RangeAllocator::release(std::uint64_t address) {
  auto found = blocks_.find(address);
  if (found == blocks_.end()) return std::nullopt;
  Block block = found->second;
  blocks_.erase(found);
  allocated_bytes_ -= block.reserved;
  auto range = range_iterator(address);
  range->second.blocks--;
  std::uint64_t start = block.address;
  std::uint64_t bytes = block.reserved;
  auto next = free_.lower_bound(start);
  if (next != free_.end() && next->first == start + bytes &&
      next->first < range->first + range->second.bytes) {
    bytes += next->second;
    erase_free(next);
  }
  auto after = free_.lower_bound(start);
  if (after != free_.begin()) {
    auto previous = std::prev(after);
    if (previous->first + previous->second == start && previous->first >= range->first) {
      start = previous->first;
      bytes += previous->second;
      erase_free(previous);
    }
  }
  insert_free(start, bytes);
  return block;
}

std::optional<Block> RangeAllocator::find(std::uint64_t address) const {
  auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return std::nullopt;
  const Block& block = std::prev(next)->second;
  if (address - block.address >= block.bytes) return std::nullopt;
  return block;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> RangeAllocator::range_of(std::uint64_t address) const {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return std::nullopt;
  auto range = std::prev(next);
  if (address - range->first >= range->second.bytes) return std::nullopt;
  return std::pair(range->first, range->second.bytes);
}

std::vector<std::uint64_t> RangeAllocator::unused_ranges() const {
  std::vector<std::uint64_t> unused;
  for (const auto& [address, range] : ranges_) {
    if (range.blocks == 0) unused.push_back(address);
  }
  return unused;
}

std::vector<std::uint64_t> RangeAllocator::blocks() const {
  std::vector<std::uint64_t> starts;
  for (const auto& [address, block] : blocks_) starts.push_back(address);
  return starts;
}

std::map<std::uint64_t, RangeAllocator::Range>::iterator RangeAllocator::range_iterator(
    std::uint64_t address) {
  return std::prev(ranges_.upper_bound(address));
}

void RangeAllocator::insert_free(std::uint64_t address, std::uint64_t bytes) {
  free_.emplace(address, bytes);
  free_by_size_.emplace(bytes, address);
}

void RangeAllocator::erase_free(std::map<std::uint64_t, std::uint64_t>::iterator run) {
  free_by_size_.erase({run->second, run->first});
  free_.erase(run);
}

}  // namespace tf::proxy
