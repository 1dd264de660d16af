// SPDX-License-Identifier: Apache-2.0
// Allocates device memory from leases, and finds what holds an address.
#include "proxy/memory/device_memory.h"

#include <algorithm>

#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

bool inside(const protocol::AddressWindow& window, const Lease& lease) {
  return window.bytes == 0 || window.contains(lease.address, lease.bytes);
}

}  // namespace

DeviceMemory::DeviceMemory(const protocol::WorkerSnapshot& snapshot, LeaseSource& source) : source_(source) {
  for (const protocol::DeviceSnapshot& from : snapshot.devices) {
    Device device;
    device.total_bytes = from.total_memory;
    device.granularity_bytes = std::max<std::uint64_t>(from.lease_granularity_bytes, 1);
    device.window = from.window;
    devices_.push_back(std::move(device));
  }
}

hipError_t DeviceMemory::allocate(int device, std::uint64_t bytes, std::uint64_t& address) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    {
      const MutexLock lock(mutex_);
      if (device < 0 || static_cast<std::size_t>(device) >= devices_.size()) return hipErrorInvalidDevice;
      Device& of = devices_[static_cast<std::size_t>(device)];
      if (bytes > of.total_bytes) return hipErrorOutOfMemory;
      if (auto block = of.ranges.allocate(bytes)) {
        address = block->address;
        return hipSuccess;
      }
    }
    // Another thread may use up the new lease first; then ask again.
    if (hipError_t error = grow(device, bytes); error != hipSuccess) return error;
  }
  return hipErrorOutOfMemory;
}

hipError_t DeviceMemory::lease_once(int device, std::uint64_t bytes) {
  Lease lease;
  if (hipError_t error = source_.lease(device, bytes, hipDeviceMallocDefault, lease); error != hipSuccess)
    return error;
  {
    const MutexLock lock(mutex_);
    Device& of = devices_[static_cast<std::size_t>(device)];
    // A lease of another device there would make addresses ambiguous.
    const bool sane = lease.bytes >= bytes && inside(of.window, lease) &&
                      !overlaps_range_locked(lease.address, lease.bytes);
    if (sane && of.ranges.add_range(lease.address, lease.bytes)) return hipSuccess;
  }
  source_.return_lease(device, lease.address);
  return hipErrorUnknown;
}

hipError_t DeviceMemory::allocate_alone(int device, std::uint64_t bytes, unsigned flags,
                                        std::uint64_t& address) {
  {
    const MutexLock lock(mutex_);
    if (device < 0 || static_cast<std::size_t>(device) >= devices_.size()) return hipErrorInvalidDevice;
    if (bytes > devices_[static_cast<std::size_t>(device)].total_bytes) return hipErrorOutOfMemory;
  }
  static_cast<void>(return_done_with(device));
  const hipError_t error = lease_alone(device, bytes, flags, address);
  if (error != hipErrorOutOfMemory) return error;
  give_back_unused(device);
  return lease_alone(device, bytes, flags, address);
}

hipError_t DeviceMemory::lease_alone(int device, std::uint64_t bytes, unsigned flags,
                                     std::uint64_t& address) {
  Lease lease;
  if (hipError_t error = source_.lease(device, whole_units(device, bytes), flags, lease); error != hipSuccess)
    return error;
  {
    const MutexLock lock(mutex_);
    Device& of = devices_[static_cast<std::size_t>(device)];
    const bool sane = lease.bytes >= bytes && !overlaps_range_locked(lease.address, lease.bytes) &&
                      of.ranges.add_range(lease.address, lease.bytes) &&
                      of.ranges.allocate_range(lease.address, bytes);
    if (sane) {
      of.alone.insert(lease.address);
      address = lease.address;
      return hipSuccess;
    }
  }
  source_.return_lease(device, lease.address);
  return hipErrorUnknown;
}

std::uint64_t DeviceMemory::whole_units(int device, std::uint64_t bytes) const {
  const MutexLock lock(mutex_);
  const std::uint64_t unit =
      std::max(devices_[static_cast<std::size_t>(device)].granularity_bytes, kAllocationAlignmentBytes);
  return (bytes + unit - 1) / unit * unit;
}

// Checks ranges of all devices, at either end; RangeAllocator does the rest.
bool DeviceMemory::overlaps_range_locked(std::uint64_t address, std::uint64_t bytes) const {
  return std::any_of(devices_.begin(), devices_.end(), [&](const Device& device) {
    return device.ranges.range_of(address) || device.ranges.range_of(address + bytes - 1);
  });
}

hipError_t DeviceMemory::grow(int device, std::uint64_t bytes) {
  const std::uint64_t exact = whole_units(device, bytes);
  std::uint64_t slab = 0;
  {
    const MutexLock lock(mutex_);
    const Device& of = devices_[static_cast<std::size_t>(device)];
    slab = exact >= kOwnLeaseBytes ? exact : std::max(exact, of.next_slab_bytes);
  }
  hipError_t error = lease_once(device, slab);
  if (error == hipSuccess) {
    const MutexLock lock(mutex_);
    Device& of = devices_[static_cast<std::size_t>(device)];
    if (slab == of.next_slab_bytes) of.next_slab_bytes = std::min(slab * 2, kLargestSlabBytes);
    return hipSuccess;
  }
  if (error != hipErrorOutOfMemory) return error;
  if (slab != exact && lease_once(device, exact) == hipSuccess) return hipSuccess;
  // Uses memory that only waits for its stream, and returns unused leases, before giving up.
  give_back_unused(device);
  return lease_once(device, exact);
}

bool DeviceMemory::give_back_unused(int device) {
  bool waiting = false;
  {
    const MutexLock lock(mutex_);
    waiting = !devices_[static_cast<std::size_t>(device)].stream_blocks.empty();
  }
  if (waiting && source_.drain(device) == hipSuccess) device_idle(device);
  return return_unused(device);
}

bool DeviceMemory::return_done_with(int device) {
  std::vector<std::uint64_t> leases;
  {
    const MutexLock lock(mutex_);
    leases.swap(devices_[static_cast<std::size_t>(device)].done_with);
  }
  for (const std::uint64_t address : leases) source_.return_lease(device, address);
  return !leases.empty();
}

bool DeviceMemory::return_unused(int device) {
  std::vector<std::uint64_t> unused;
  {
    const MutexLock lock(mutex_);
    Device& of = devices_[static_cast<std::size_t>(device)];
    unused = of.ranges.unused_ranges();
    for (std::uint64_t address : unused) of.ranges.remove_range(address);
  }
  for (std::uint64_t address : unused) source_.return_lease(device, address);
  return return_done_with(device) || !unused.empty();
}

hipError_t DeviceMemory::release(std::uint64_t address) {
  int give_back = -1;
  std::uint64_t lease = 0;
  {
    const MutexLock lock(mutex_);
    bool found = false;
    for (std::size_t i = 0; i < devices_.size() && !found; ++i) {
      Device& of = devices_[i];
      auto block = of.ranges.release(address);
      if (!block) continue;
      found = true;
      std::erase_if(of.stream_blocks, [&](const StreamBlock& kept) { return kept.address == address; });
      count_waiting_locked();
      auto range = of.ranges.range_of(address);
      const bool own = range && ((range->second >= kOwnLeaseBytes && block->reserved >= range->second / 2) ||
                                 of.alone.contains(range->first));
      if (own && of.ranges.remove_range(range->first)) {
        of.alone.erase(range->first);
        give_back = static_cast<int>(i);
        lease = range->first;
      }
    }
    if (!found) return hipErrorInvalidValue;
    blocks_gone();
  }
  if (give_back >= 0) source_.return_lease(give_back, lease);
  return hipSuccess;
}

hipError_t DeviceMemory::allocate_on_stream(int device, std::uint64_t stream, std::uint64_t bytes,
                                            std::uint64_t& address) {
  {
    const MutexLock lock(mutex_);
    if (device < 0 || static_cast<std::size_t>(device) >= devices_.size()) return hipErrorInvalidDevice;
    Device& of = devices_[static_cast<std::size_t>(device)];
    auto& blocks = of.stream_blocks;
    auto fits = std::find_if(blocks.begin(), blocks.end(), [&](const StreamBlock& kept) {
      return kept.stream == stream && kept.block.bytes == bytes && !of.alone.contains(kept.address);
    });
    if (fits != blocks.end()) {
      address = fits->address;
      blocks.erase(fits);
      count_waiting_locked();
      return hipSuccess;
    }
  }
  return allocate(device, bytes, address);
}

hipError_t DeviceMemory::release_on_stream(std::uint64_t address, std::uint64_t stream) {
  const MutexLock lock(mutex_);
  for (Device& of : devices_) {
    auto block = of.ranges.find(address);
    if (!block || block->address != address) continue;
    bool twice = std::any_of(of.stream_blocks.begin(), of.stream_blocks.end(),
                             [&](const StreamBlock& kept) { return kept.address == address; });
    if (twice) return hipErrorInvalidValue;
    if (of.stream_blocks.size() >= kStreamBlocksMax) return hipErrorOutOfMemory;
    of.stream_blocks.push_back({address, stream, *block});
    count_waiting_locked();
    return hipSuccess;
  }
  return hipErrorInvalidValue;
}

// A lease with flags has no other use. It is returned later: this may run while an answer is taken.
void DeviceMemory::release_waiting(Device& of, std::uint64_t address) {
  of.ranges.release(address);
  if (of.alone.erase(address) != 0 && of.ranges.remove_range(address)) of.done_with.push_back(address);
}

void DeviceMemory::count_waiting_locked() {
  std::size_t blocks = 0;
  for (const Device& of : devices_) blocks += of.stream_blocks.size();
  waiting_blocks_.store(blocks, std::memory_order_release);  // pairs with none_waiting()
}

void DeviceMemory::stream_idle(int device, std::uint64_t stream) {
  if (none_waiting()) return;
  const MutexLock lock(mutex_);
  if (device < 0 || static_cast<std::size_t>(device) >= devices_.size()) return;
  Device& of = devices_[static_cast<std::size_t>(device)];
  std::erase_if(of.stream_blocks, [&](const StreamBlock& kept) {
    if (kept.stream != stream) return false;
    release_waiting(of, kept.address);
    return true;
  });
  blocks_gone();
  count_waiting_locked();
}

void DeviceMemory::device_idle(int device) {
  if (none_waiting()) return;
  const MutexLock lock(mutex_);
  if (device < 0 || static_cast<std::size_t>(device) >= devices_.size()) return;
  Device& of = devices_[static_cast<std::size_t>(device)];
  for (const StreamBlock& kept : of.stream_blocks) release_waiting(of, kept.address);
  of.stream_blocks.clear();
  blocks_gone();
  count_waiting_locked();
}

std::vector<std::uint64_t> DeviceMemory::blocks(int device) const {
  const MutexLock lock(mutex_);
  const Device& of = devices_[static_cast<std::size_t>(device)];
  std::vector<std::uint64_t> found = of.ranges.blocks();
  for (const StreamBlock& freed : of.stream_blocks) std::erase(found, freed.address);
  return found;
}

std::optional<DevicePointer> DeviceMemory::find_block_locked(std::uint64_t address) const {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (auto block = devices_[i].ranges.find(address))
      return DevicePointer{static_cast<int>(i), block->address, block->bytes};
  }
  return std::nullopt;
}

std::optional<DevicePointer> DeviceMemory::find_block(std::uint64_t address) const {
  const MutexLock lock(mutex_);
  return find_block_locked(address);
}

std::optional<DevicePointer> DeviceMemory::find_locked(std::uint64_t address) const {
  if (auto block = find_block_locked(address)) return block;
  for (const auto* others : {&variables_, &mappings_}) {
    auto next = others->upper_bound(address);
    if (next == others->begin()) continue;
    const DevicePointer& candidate = std::prev(next)->second;
    if (address - candidate.base < candidate.bytes) return candidate;
  }
  return std::nullopt;
}

// The `bytes` after the end of the mapping lie in mappings that follow it without a gap.
bool DeviceMemory::continues_locked(std::uint64_t mapping, std::uint64_t bytes) const {
  auto range = mappings_.find(mapping);
  while (range != mappings_.end()) {
    std::uint64_t end = range->first + range->second.bytes;
    if (++range == mappings_.end() || range->first != end) return false;
    if (bytes <= range->second.bytes) return true;
    bytes -= range->second.bytes;
  }
  return false;
}

// The windows and leases with flags are reserved in this process: no memory of the program lies there.
bool DeviceMemory::is_reserved_locked(std::uint64_t address) const {
  return std::any_of(devices_.begin(), devices_.end(), [address](const Device& device) {
    if (address - device.window.base < device.window.bytes) return true;
    if (device.alone.empty()) return false;  // most programs: no lookup for each copy
    const auto range = device.ranges.range_of(address);
    return range && device.alone.contains(range->first);
  });
}

DeviceMemory::Place DeviceMemory::place_of(std::uint64_t address, std::uint64_t bytes) const {
  const MutexLock lock(mutex_);
  const auto block = find_block_locked(address);
  const auto found = block ? block : find_locked(address);
  if (!found) return is_reserved_locked(address) ? Place::kBeyond : Place::kNone;
  const std::uint64_t here = found->bytes - (address - found->base);
  if (bytes > here && !continues_locked(found->base, bytes - here)) return Place::kBeyond;
  return block ? Place::kLease : Place::kOther;
}

std::optional<DevicePointer> DeviceMemory::find(std::uint64_t address) const {
  const MutexLock lock(mutex_);
  return find_locked(address);
}

bool DeviceMemory::find_whole(std::uint64_t address, std::uint64_t bytes) const {
  if (bytes == 0) return true;
  const MutexLock lock(mutex_);
  const auto block = find_block_locked(address);
  if (block && bytes <= block->bytes - (address - block->base)) {
    thread_state().known_range = {block->base, block->base + block->bytes,
                                  epoch_.load(std::memory_order_relaxed)};  // written under the mutex
    return true;
  }
  auto found = block ? block : find_locked(address);
  if (!found) return false;
  std::uint64_t here = found->bytes - (address - found->base);
  return bytes <= here || continues_locked(found->base, bytes - here);
}

void DeviceMemory::add_variable(int device, std::uint64_t address, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  variables_[address] = DevicePointer{device, address, bytes};
}

void DeviceMemory::remove_variable(std::uint64_t address) {
  const MutexLock lock(mutex_);
  variables_.erase(address);
}

void DeviceMemory::add_mapping(int device, std::uint64_t address, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  mappings_[address] = DevicePointer{device, address, bytes};
}

bool DeviceMemory::in_window(int device, std::uint64_t address, std::uint64_t bytes) const {
  const MutexLock lock(mutex_);
  return devices_[static_cast<std::size_t>(device)].window.contains(address, bytes);
}

bool DeviceMemory::add_foreign(int device, std::uint64_t address, std::uint64_t bytes, bool outside) {
  const MutexLock lock(mutex_);
  const protocol::AddressWindow& window = devices_[static_cast<std::size_t>(device)].window;
  if (bytes == 0 || (!outside && !inside(window, {address, bytes}))) return false;
  if (overlaps_range_locked(address, bytes)) return false;
  return mappings_.emplace(address, DevicePointer{device, address, bytes}).second;
}

bool DeviceMemory::remove_mapping(std::uint64_t address) {
  const MutexLock lock(mutex_);
  return mappings_.erase(address) != 0;
}

void DeviceMemory::book(int device, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  devices_[static_cast<std::size_t>(device)].booked_bytes += bytes;
}

void DeviceMemory::unbook(int device, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  devices_[static_cast<std::size_t>(device)].booked_bytes -= bytes;
}

hipError_t DeviceMemory::info(int device, std::uint64_t& free_bytes, std::uint64_t& total_bytes) const {
  std::uint64_t ours = 0;
  if (const hipError_t error = source_.find_free(device, ours)) return error;
  const MutexLock lock(mutex_);
  const Device& of = devices_[static_cast<std::size_t>(device)];
  const std::uint64_t used = of.ranges.allocated_bytes() + of.booked_bytes;
  total_bytes = of.total_bytes;
  ours = std::min(ours, total_bytes);
  free_bytes = ours - std::min(used, ours);
  return hipSuccess;
}

}  // namespace tf::proxy
