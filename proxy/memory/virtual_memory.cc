// SPDX-License-Identifier: Apache-2.0
// Reservations, physical memory and mappings of the program.
#include "proxy/memory/virtual_memory.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "hipcore/wire/extent.h"

namespace tf::proxy {
namespace {

// Whether something of `ranges` lies in [address, address + bytes). `bytes_of` says how long an entry is.
template <typename Ranges, typename BytesOf>
bool overlaps(const Ranges& ranges, std::uint64_t address, std::uint64_t bytes, BytesOf bytes_of) {
  auto next = ranges.lower_bound(address);
  if (next != ranges.end() && next->first - address < bytes) return true;
  if (next == ranges.begin()) return false;
  auto before = std::prev(next);
  return address - before->first < bytes_of(before->second);
}

}  // namespace

void VirtualMemoryMap::open(const protocol::AddressWindow& window, std::uint64_t unit) {
  if (unit == 0) return;
  window_ = window;
  unit_ = unit;
}

bool VirtualMemoryMap::is_free(std::uint64_t address, std::uint64_t bytes) const {
  if (address < window_.base || address - window_.base > window_.bytes) return false;
  if (bytes > window_.bytes - (address - window_.base)) return false;
  return !overlaps(reservations_, address, bytes, [](std::uint64_t length) { return length; });
}

// The lowest address that fits.
std::optional<std::uint64_t> VirtualMemoryMap::find_gap(std::uint64_t bytes, std::uint64_t alignment) const {
  auto aligned = [alignment](std::uint64_t address) { return (address + alignment - 1) & ~(alignment - 1); };
  std::uint64_t candidate = aligned(window_.base);
  for (const auto& [address, length] : reservations_) {
    if (candidate <= address && address - candidate >= bytes) break;
    candidate = std::max(candidate, aligned(address + length));
  }
  if (!is_free(candidate, bytes)) return std::nullopt;
  return candidate;
}

hipError_t VirtualMemoryMap::reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wish,
                                     std::uint64_t& address) {
  if (alignment == 0) alignment = unit_;
  if (bytes == 0 || !whole_units(bytes)) return hipErrorInvalidValue;
  if (!std::has_single_bit(alignment) || alignment > kReservationAlignmentMax) return hipErrorInvalidValue;
  alignment = std::max(alignment, unit_);
  if (reservations_.size() >= kReservationsMax) return hipErrorOutOfMemory;
  if (wish != 0 && wish % alignment == 0 && is_free(wish, bytes)) {
    address = wish;
  } else {
    auto gap = find_gap(bytes, alignment);
    if (!gap) return hipErrorOutOfMemory;
    address = *gap;
  }
  reservations_.emplace(address, bytes);
  return hipSuccess;
}

hipError_t VirtualMemoryMap::unreserve(std::uint64_t address, std::uint64_t bytes) {
  auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != bytes || overlaps_mapping(address, bytes))
    return hipErrorInvalidValue;
  reservations_.erase(found);
  return hipSuccess;
}

bool VirtualMemoryMap::is_reserved(std::uint64_t address, std::uint64_t bytes) const {
  auto range = reservations_.upper_bound(address);
  if (range == reservations_.begin()) return false;
  --range;
  std::uint64_t offset = address - range->first;
  return offset < range->second && bytes <= range->second - offset;
}

bool VirtualMemoryMap::overlaps_mapping(std::uint64_t address, std::uint64_t bytes) const {
  return overlaps(mappings_, address, bytes, [](const Mapping& mapping) { return mapping.bytes; });
}

const PhysicalMemory* VirtualMemoryMap::find(std::uint64_t handle) const {
  auto found = memory_.find(handle);
  return found == memory_.end() || found->second.references == 0 ? nullptr : &found->second;
}

std::map<std::uint64_t, VirtualMemoryMap::Mapping>::const_iterator VirtualMemoryMap::mapping_at(
    std::uint64_t address) const {
  auto mapping = mappings_.upper_bound(address);
  if (mapping == mappings_.begin()) return mappings_.end();
  --mapping;
  return address - mapping->first < mapping->second.bytes ? mapping : mappings_.end();
}

hipError_t VirtualMemoryMap::retain(std::uint64_t address, std::uint64_t& handle) {
  auto mapping = mapping_at(address);
  if (mapping == mappings_.end()) return hipErrorInvalidValue;
  handle = mapping->second.handle;
  ++memory_.at(handle).references;
  return hipSuccess;
}

void VirtualMemoryMap::let_go(Memory::iterator memory, Memory& gone) {
  if (memory->second.references == 0 && memory->second.mappings == 0) gone.insert(memory_.extract(memory));
}

hipError_t VirtualMemoryMap::release(std::uint64_t handle, Memory& gone) {
  auto found = memory_.find(handle);
  if (found == memory_.end() || found->second.references == 0) return hipErrorInvalidValue;
  --found->second.references;
  let_go(found, gone);
  return hipSuccess;
}

protocol::AddressWindow VirtualMemoryMap::range_of(std::uint64_t address) const {
  const auto next = reservations_.upper_bound(address);
  if (next == reservations_.begin()) return {};
  return {std::prev(next)->first, std::prev(next)->second};
}

hipError_t VirtualMemoryMap::check_map(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset,
                                       std::uint64_t handle) const {
  const PhysicalMemory* memory = find(handle);
  if (memory == nullptr || bytes == 0) return hipErrorInvalidValue;
  if (!whole_units(bytes) || !whole_units(offset) || !whole_units(address)) return hipErrorInvalidValue;
  if (offset > memory->bytes || bytes > memory->bytes - offset) return hipErrorInvalidValue;
  bool free = is_reserved(address, bytes) && !overlaps_mapping(address, bytes);
  return free ? hipSuccess : hipErrorInvalidValue;
}

void VirtualMemoryMap::mapped(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle) {
  mappings_.emplace(address, Mapping{bytes, handle});
  ++memory_.at(handle).mappings;
}

bool VirtualMemoryMap::is_mapped(std::uint64_t address, std::uint64_t bytes) const {
  return protocol::is_tiled(mappings_, address, bytes);
}

std::vector<std::uint64_t> VirtualMemoryMap::unmapped(std::uint64_t address, std::uint64_t bytes,
                                                      Memory& gone) {
  std::vector<std::uint64_t> addresses;
  for (auto mapping = mappings_.find(address);
       mapping != mappings_.end() && mapping->first - address < bytes;) {
    addresses.push_back(mapping->first);
    auto memory = memory_.find(mapping->second.handle);
    --memory->second.mappings;
    let_go(memory, gone);
    mapping = mappings_.erase(mapping);
  }
  return addresses;
}

}  // namespace tf::proxy
