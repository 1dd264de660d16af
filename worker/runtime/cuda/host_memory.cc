// SPDX-License-Identifier: Apache-2.0
// Remembers the flags of pinned and registered memory.
#include "worker/runtime/cuda/host_memory.h"

#include <cstdint>
#include <iterator>

namespace tf::cuda {
namespace {

std::size_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

void HostMemory::add(void* base, std::size_t bytes, unsigned flags) {
  const std::lock_guard lock(mutex_);
  ranges_[address_of(base)] = {bytes, flags};
}

void HostMemory::remove(void* base) {
  const std::lock_guard lock(mutex_);
  ranges_.erase(address_of(base));
}

void HostMemory::clear() {
  const std::lock_guard lock(mutex_);
  ranges_.clear();
}

bool HostMemory::flags(const void* pointer, unsigned& flags) const {
  const std::lock_guard lock(mutex_);
  auto range = ranges_.upper_bound(address_of(pointer));
  if (range == ranges_.begin()) return false;
  --range;
  if (address_of(pointer) - range->first >= range->second.bytes) return false;
  flags = range->second.flags;
  return true;
}

}  // namespace tf::cuda
