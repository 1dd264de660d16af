// SPDX-License-Identifier: Apache-2.0
// Allocates, registers and finds host memory.
#include "proxy/memory/host_memory.h"

#include <sys/mman.h>

#include "proxy/memory/shared_file.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

std::uint64_t mapped_bytes(std::uint64_t bytes) {
  return (bytes + kHostPageBytes - 1) & ~(kHostPageBytes - 1);
}

// Maps private pages of this process.
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
    const bool own_pages = range.owned() && !range.reachable;
    if (own_pages) ::munmap(reinterpret_cast<void*>(base), mapped_bytes(range.bytes));
  }
}

hipError_t HostMemory::allocate(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags,
                                void*& pointer) {
  if (mapped_bytes(bytes) < bytes) return hipErrorOutOfMemory;
  const bool managed = kind == HostRange::Kind::kManaged;
  HostRange range{0, bytes, flags, device, kind, false, 0};
  // A mirror can hold only managed memory: the program says when it uses that, but not when it uses pinned
  // memory.
  const bool from_window = managed || window_.access() == protocol::HostAccess::kShared;
  hipError_t error = from_window ? window_.allocate(bytes, range.base) : hipErrorNotSupported;
  range.reachable = error == hipSuccess;
  if (error != hipSuccess && !managed) error = map_private(bytes, range.base);
  if (error != hipSuccess) return error;
  const MutexLock lock(mutex_);
  ranges_[range.base] = range;
  pointer = reinterpret_cast<void*>(range.base);
  return hipSuccess;
}

hipError_t HostMemory::release(void* pointer) {
  HostRange range;
  {
    const MutexLock lock(mutex_);
    auto found = ranges_.find(reinterpret_cast<std::uint64_t>(pointer));
    if (found == ranges_.end() || !found->second.owned()) return hipErrorInvalidValue;
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
  auto base = reinterpret_cast<std::uint64_t>(pointer);
  if (base + bytes < base) return hipErrorInvalidValue;
  const HostRange range{base, bytes, flags, device, HostRange::Kind::kRegistered, false, 0};
  {
    const MutexLock lock(mutex_);
    auto next = ranges_.lower_bound(base);
    bool overlaps = next != ranges_.end() && next->first < base + bytes;
    if (overlaps || find_locked(base)) return hipErrorHostMemoryAlreadyRegistered;
    ranges_[base] = range;
  }
  if (window_.access() == protocol::HostAccess::kShared) share(range);
  return hipSuccess;
}

// Maps the pages into the window, if they can be shared: whole pages around the range.
void HostMemory::share(const HostRange& range) {
  const std::uint64_t first = range.base & ~(kHostPageBytes - 1);
  const std::uint64_t bytes = mapped_bytes(range.base + range.bytes - first);
  if (bytes == 0) return;
  const auto shared = find_shared_file(first, bytes);
  std::uint64_t pages = 0;
  if (!shared || window_.map_file(shared->file.get(), shared->offset, bytes, pages) != hipSuccess) return;
  HostRange alias = range;
  alias.base = pages + (range.base - first);
  alias.kind = HostRange::Kind::kAlias;
  alias.reachable = true;
  alias.other = range.base;
  {
    const MutexLock lock(mutex_);
    auto found = ranges_.find(range.base);
    const bool still = found != ranges_.end() && found->second.kind == HostRange::Kind::kRegistered &&
                       found->second.bytes == range.bytes && found->second.other == 0;
    if (still) {
      found->second.other = alias.base;
      ranges_[alias.base] = alias;
      has_aliases_.store(true, std::memory_order_relaxed);
      return;
    }
  }
  window_.unmap_file(pages);  // another thread has removed the range
}

hipError_t HostMemory::remove(void* pointer) {
  std::uint64_t alias = 0;
  {
    const MutexLock lock(mutex_);
    auto found = ranges_.find(reinterpret_cast<std::uint64_t>(pointer));
    if (found == ranges_.end() || found->second.kind != HostRange::Kind::kRegistered)
      return hipErrorHostMemoryNotRegistered;
    alias = found->second.other;
    ranges_.erase(found);
    ranges_.erase(alias);
  }
  if (alias != 0) window_.unmap_file(alias & ~(kHostPageBytes - 1));
  return hipSuccess;
}

std::uint64_t HostMemory::seen_by_devices(std::uint64_t address, std::uint64_t bytes) const {
  if (!has_aliases_.load(std::memory_order_relaxed)) return address;
  const MutexLock lock(mutex_);
  const auto found = find_locked(address);
  const bool shared = found && found->kind == HostRange::Kind::kRegistered && found->other != 0 &&
                      bytes <= found->bytes - (address - found->base);
  return shared ? found->other + (address - found->base) : address;
}

std::optional<HostRange> HostMemory::find_locked(std::uint64_t address) const {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return std::nullopt;
  const HostRange& range = std::prev(next)->second;
  if (address - range.base >= range.bytes) return std::nullopt;
  return range;
}

std::optional<HostRange> HostMemory::find(const void* pointer) const {
  const MutexLock lock(mutex_);
  return find_locked(reinterpret_cast<std::uint64_t>(pointer));
}

bool HostMemory::contains(const void* pointer, std::uint64_t bytes) const {
  const MutexLock lock(mutex_);
  auto address = reinterpret_cast<std::uint64_t>(pointer);
  auto found = find_locked(address);
  return found && bytes <= found->bytes - (address - found->base);
}

HostMemory::Reach HostMemory::reach_of(std::uint64_t address, std::uint64_t bytes) const {
  if (!window_.inside(address)) return Reach::kNone;
  const MutexLock lock(mutex_);
  auto found = find_locked(address);
  if (!found || !found->reachable) return Reach::kNone;
  return bytes <= found->bytes - (address - found->base) ? Reach::kWhole : Reach::kBeyond;
}

}  // namespace tf::proxy
