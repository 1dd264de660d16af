// SPDX-License-Identifier: Apache-2.0
#include "proxy/memory/host_memory.h"

#include <sys/mman.h>

namespace tf::proxy {
namespace {

std::uint64_t mapped_bytes(std::uint64_t bytes) {
  return (bytes + kHostPageBytes - 1) & ~(kHostPageBytes - 1);
}

// Pages of this process alone.
hipError_t map_private(std::uint64_t bytes, std::uint64_t& address) {
  void* got =
      ::mmap(nullptr, mapped_bytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return hipErrorOutOfMemory;
  address = reinterpret_cast<std::uint64_t>(got);
  return hipSuccess;
}

}  // namespace

HostMemory::~HostMemory() {
  for (const auto& [base, range] : ranges_) {
    const bool own_pages = range.kind != HostRange::Kind::kRegistered && !range.reachable;
    if (own_pages) ::munmap(reinterpret_cast<void*>(base), mapped_bytes(range.bytes));
  }
}

hipError_t HostMemory::allocate(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags,
                                void*& pointer) {
  if (mapped_bytes(bytes) < bytes) return hipErrorOutOfMemory;
  const bool managed = kind == HostRange::Kind::kManaged;
  HostRange range{0, bytes, flags, device, kind, false};
  // Of a mirror only managed memory can be part: the program says when it uses that, but not when it uses
  // pinned memory.
  const bool from_window = managed || window_.access() == protocol::HostAccess::kShared;
  hipError_t error = from_window ? window_.allocate(bytes, range.base) : hipErrorNotSupported;
  range.reachable = error == hipSuccess;
  if (error != hipSuccess && !managed) error = map_private(bytes, range.base);
  if (error != hipSuccess) return error;
  std::lock_guard lock(mutex_);
  ranges_[range.base] = range;
  pointer = reinterpret_cast<void*>(range.base);
  return hipSuccess;
}

hipError_t HostMemory::release(void* pointer) {
  HostRange range;
  {
    std::lock_guard lock(mutex_);
    auto found = ranges_.find(reinterpret_cast<std::uint64_t>(pointer));
    if (found == ranges_.end() || found->second.kind == HostRange::Kind::kRegistered)
      return hipErrorInvalidValue;
    range = found->second;
    ranges_.erase(found);
  }
  if (range.reachable)
    window_.release(range.base);
  else
    ::munmap(pointer, mapped_bytes(range.bytes));
  return hipSuccess;
}

hipError_t HostMemory::add(int device, void* pointer, std::uint64_t bytes, unsigned flags) {
  std::lock_guard lock(mutex_);
  auto base = reinterpret_cast<std::uint64_t>(pointer);
  if (base + bytes < base) return hipErrorInvalidValue;
  auto next = ranges_.lower_bound(base);
  bool overlaps = next != ranges_.end() && next->first < base + bytes;
  if (overlaps || find_locked(base)) return hipErrorHostMemoryAlreadyRegistered;
  ranges_[base] = HostRange{base, bytes, flags, device, HostRange::Kind::kRegistered, false};
  return hipSuccess;
}

hipError_t HostMemory::remove(void* pointer) {
  std::lock_guard lock(mutex_);
  auto found = ranges_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == ranges_.end() || found->second.kind != HostRange::Kind::kRegistered)
    return hipErrorHostMemoryNotRegistered;
  ranges_.erase(found);
  return hipSuccess;
}

std::optional<HostRange> HostMemory::find_locked(std::uint64_t address) const {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return std::nullopt;
  const HostRange& range = std::prev(next)->second;
  if (address - range.base >= range.bytes) return std::nullopt;
  return range;
}

std::optional<HostRange> HostMemory::find(const void* pointer) const {
  std::lock_guard lock(mutex_);
  return find_locked(reinterpret_cast<std::uint64_t>(pointer));
}

bool HostMemory::contains(const void* pointer, std::uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  auto address = reinterpret_cast<std::uint64_t>(pointer);
  auto found = find_locked(address);
  return found && bytes <= found->bytes - (address - found->base);
}

bool HostMemory::reaches(std::uint64_t address, std::uint64_t bytes) const {
  if (!window_.inside(address)) return false;
  std::lock_guard lock(mutex_);
  auto found = find_locked(address);
  return found && found->reachable && bytes <= found->bytes - (address - found->base);
}

bool HostMemory::is_managed(std::uint64_t address) const {
  if (!window_.inside(address)) return false;
  std::lock_guard lock(mutex_);
  auto found = find_locked(address);
  return found && found->kind == HostRange::Kind::kManaged;
}

}  // namespace tf::proxy
