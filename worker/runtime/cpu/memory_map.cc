// SPDX-License-Identifier: Apache-2.0
// All memory ranges that the runtime knows, by address.
#include "worker/runtime/cpu/memory_map.h"

#include <sys/mman.h>

#include <iterator>

#include "transport/base/mutex.h"

namespace tf::cpu {

bool MemoryMap::add(const Allocation& allocation) {
  const MutexLock lock(mutex_);
  if (ranges_.size() >= kMaxAllocations) return false;
  const auto next = ranges_.lower_bound(allocation.base);
  if (next != ranges_.end() && next->first - allocation.base < allocation.bytes) return false;
  if (next != ranges_.begin()) {
    const Allocation& previous = std::prev(next)->second;
    if (allocation.base - previous.base < previous.bytes) return false;
  }
  ranges_.emplace_hint(next, allocation.base, allocation);
  return true;
}

std::optional<Allocation> MemoryMap::remove(const void* base) {
  const MutexLock lock(mutex_);
  const auto found = ranges_.find(address_of(base));
  if (found == ranges_.end()) return std::nullopt;
  const Allocation removed = found->second;
  ranges_.erase(found);
  removals_.fetch_add(1, std::memory_order_release);
  return removed;
}

void MemoryMap::set_descriptor(const void* base, int descriptor) {
  const MutexLock lock(mutex_);
  const auto found = ranges_.find(address_of(base));
  if (found != ranges_.end()) found->second.descriptor = descriptor;
}

std::optional<Allocation> MemoryMap::find(const void* address) const {
  const SharedLock lock(mutex_);
  const auto range = holder(address_of(address));
  return range == ranges_.end() ? std::nullopt : std::optional(range->second);
}

MemoryMap::Ranges::const_iterator MemoryMap::holder(std::uintptr_t address) const {
  const auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return ranges_.end();
  const auto candidate = std::prev(next);
  return address - candidate->second.base < candidate->second.bytes ? candidate : ranges_.end();
}

bool MemoryMap::holds(const void* address, std::size_t bytes) const {
  const SharedLock lock(mutex_);
  const auto range = holder(address_of(address));
  return range != ranges_.end() && reaches(range, address_of(address), bytes);
}

bool MemoryMap::holds(const void* address, std::size_t bytes, KnownRange& known) const {
  const std::uintptr_t at = address_of(address);
  const bool is_current = known.removals == removals_.load(std::memory_order_acquire);
  if (is_current && at >= known.begin && at <= known.end && bytes <= known.end - at) return true;
  const SharedLock lock(mutex_);
  const auto range = holder(at);
  if (range == ranges_.end()) return false;
  const Allocation& allocation = range->second;
  known = {allocation.base, allocation.base + allocation.bytes, removals_.load(std::memory_order_relaxed)};
  return reaches(range, at, bytes);
}

bool MemoryMap::covers(const void* address, std::size_t bytes) const {
  const SharedLock lock(mutex_);
  const std::uintptr_t at = address_of(address);
  const auto range = holder(at);
  return range != ranges_.end() ? reaches(range, at, bytes) : !is_padding(at);  // unknown: the program's own
}

// Behind an allocation that does not fill its last page.
bool MemoryMap::is_padding(std::uintptr_t at) const {
  const auto next = ranges_.upper_bound(at);
  if (next == ranges_.begin()) return false;
  const Allocation& before = std::prev(next)->second;
  return at - before.base < before.mapped_bytes;
}

// Adjacent ranges of hipMemMap may be used as one.
bool MemoryMap::reaches(Ranges::const_iterator range, std::uintptr_t at, std::size_t bytes) const {
  std::size_t left = bytes;
  while (range != ranges_.end() && at >= range->second.base) {
    const std::size_t here = range->second.bytes - (at - range->second.base);
    if (left <= here) return true;
    if (range->second.kind != MemoryKind::kMapped) return false;
    left -= here;
    at += here;
    ++range;
    if (range != ranges_.end() && range->second.kind != MemoryKind::kMapped) return false;
  }
  return false;
}

std::vector<Allocation> MemoryMap::remove_all(int device, MemoryKind kind) {
  const MutexLock lock(mutex_);
  removals_.fetch_add(1, std::memory_order_release);
  std::vector<Allocation> removed;
  for (auto range = ranges_.begin(); range != ranges_.end();) {
    const Allocation& found = range->second;
    const bool match = found.device == device && found.kind == kind && !found.is_variable;
    if (match) removed.push_back(range->second);
    range = match ? ranges_.erase(range) : std::next(range);
  }
  return removed;
}

void* map_pages(std::size_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  // Otherwise page faults limit large copies. A kernel without huge pages refuses, which is fine.
  if (bytes >= kHugePage_bytes) static_cast<void>(::madvise(base, bytes, MADV_HUGEPAGE));
  return base;
}

void unmap_pages(void* base, std::size_t bytes) { ::munmap(base, bytes); }

}  // namespace tf::cpu
