// SPDX-License-Identifier: Apache-2.0
#include "proxy/memory/host_memory.h"

#include <sys/mman.h>

namespace tf::proxy {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

std::uint64_t mapped_bytes(std::uint64_t bytes) { return (bytes + kPageBytes - 1) & ~(kPageBytes - 1); }

}  // namespace

HostMemory::~HostMemory() {
  for (const auto& [base, range] : ranges_) {
    if (!range.registered) ::munmap(reinterpret_cast<void*>(base), mapped_bytes(range.bytes));
  }
}

hipError_t HostMemory::allocate(int device, std::uint64_t bytes, unsigned flags, void*& pointer) {
  std::uint64_t mapped = mapped_bytes(bytes);
  if (mapped < bytes) return hipErrorOutOfMemory;
  void* got = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return hipErrorOutOfMemory;
  std::lock_guard lock(mutex_);
  auto base = reinterpret_cast<std::uint64_t>(got);
  ranges_[base] = HostRange{base, bytes, flags, device, false};
  pointer = got;
  return hipSuccess;
}

hipError_t HostMemory::release(void* pointer) {
  std::lock_guard lock(mutex_);
  auto found = ranges_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == ranges_.end() || found->second.registered) return hipErrorInvalidValue;
  ::munmap(pointer, mapped_bytes(found->second.bytes));
  ranges_.erase(found);
  return hipSuccess;
}

hipError_t HostMemory::add(int device, void* pointer, std::uint64_t bytes, unsigned flags) {
  std::lock_guard lock(mutex_);
  auto base = reinterpret_cast<std::uint64_t>(pointer);
  if (base + bytes < base) return hipErrorInvalidValue;
  auto next = ranges_.lower_bound(base);
  bool overlaps = next != ranges_.end() && next->first < base + bytes;
  if (overlaps || find_locked(base)) return hipErrorHostMemoryAlreadyRegistered;
  ranges_[base] = HostRange{base, bytes, flags, device, true};
  return hipSuccess;
}

hipError_t HostMemory::remove(void* pointer) {
  std::lock_guard lock(mutex_);
  auto found = ranges_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == ranges_.end() || !found->second.registered) return hipErrorHostMemoryNotRegistered;
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

}  // namespace tf::proxy
