// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cpu/memory_map.h"

#include <sys/mman.h>

#include <iterator>
#include <mutex>

namespace tf::cpu {
namespace {

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

bool MemoryMap::add(const Allocation& allocation) {
  const std::unique_lock lock(mutex_);
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
  const std::unique_lock lock(mutex_);
  const auto found = ranges_.find(address_of(base));
  if (found == ranges_.end()) return std::nullopt;
  const Allocation removed = found->second;
  ranges_.erase(found);
  return removed;
}

void MemoryMap::set_descriptor(const void* base, int descriptor) {
  const std::unique_lock lock(mutex_);
  const auto found = ranges_.find(address_of(base));
  if (found != ranges_.end()) found->second.descriptor = descriptor;
}

std::optional<Allocation> MemoryMap::find(const void* address) const {
  const std::shared_lock lock(mutex_);
  auto next = ranges_.upper_bound(address_of(address));
  if (next == ranges_.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(next)->second;
  if (address_of(address) - candidate.base >= candidate.bytes) return std::nullopt;
  return candidate;
}

bool MemoryMap::covers(const void* address, std::size_t bytes) const {
  const std::shared_lock lock(mutex_);
  std::uintptr_t at = address_of(address);
  auto range = ranges_.upper_bound(at);
  if (range == ranges_.begin()) return true;
  --range;
  if (at - range->second.base >= range->second.bytes) return true;  // unknown memory: the program's own
  std::size_t left = bytes;
  // Mapped ranges may stand side by side and be used as one.
  while (range != ranges_.end() && at >= range->second.base) {
    const std::size_t here = range->second.bytes - (at - range->second.base);
    if (left <= here) return true;
    left -= here;
    at += here;
    ++range;
  }
  return false;
}

std::vector<Allocation> MemoryMap::remove_all(int device, MemoryKind kind) {
  const std::unique_lock lock(mutex_);
  std::vector<Allocation> removed;
  for (auto range = ranges_.begin(); range != ranges_.end();) {
    const bool match = range->second.device == device && range->second.kind == kind;
    if (match) removed.push_back(range->second);
    range = match ? ranges_.erase(range) : std::next(range);
  }
  return removed;
}

void* map_pages(std::size_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  // Large copies are bound by page faults otherwise. A kernel without huge pages refuses, which is fine.
  if (bytes >= kHugePage_bytes) static_cast<void>(::madvise(base, bytes, MADV_HUGEPAGE));
  return base;
}

void unmap_pages(void* base, std::size_t bytes) { ::munmap(base, bytes); }

}  // namespace tf::cpu
