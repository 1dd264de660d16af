// SPDX-License-Identifier: Apache-2.0
// Remembers the flags of pinned and registered memory.
#include "worker/runtime/cuda/host_memory.h"

#include <cstdint>
#include <iterator>

namespace tf::cuda {
namespace {

std::size_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

void HostMemory::add(void* base, std::size_t bytes, unsigned flags, hipMemRangeCoherencyMode coherency) {
  const std::lock_guard lock(mutex_);
  ranges_[address_of(base)] = {bytes, flags, coherency};
}

void HostMemory::remove(void* base) {
  const std::lock_guard lock(mutex_);
  ranges_.erase(address_of(base));
}

void HostMemory::clear() {
  const std::lock_guard lock(mutex_);
  ranges_.clear();
}

HostMemory::Ranges::const_iterator HostMemory::holder(std::size_t address) const {
  auto range = ranges_.upper_bound(address);
  if (range == ranges_.begin()) return ranges_.end();
  --range;
  return address - range->first < range->second.bytes ? range : ranges_.end();
}

bool HostMemory::flags(const void* pointer, unsigned& flags) const {
  const std::lock_guard lock(mutex_);
  const auto range = holder(address_of(pointer));
  if (range == ranges_.end()) return false;
  flags = range->second.flags;
  return true;
}

std::optional<hipcore::AdvisedMemory> HostMemory::advised(const void* pointer, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto range = holder(address_of(pointer));
  if (range == ranges_.end()) return std::nullopt;
  return hipcore::AdvisedMemory{
      {range->first, range->second.bytes, address_of(pointer), bytes}, range->second.coherency, false};
}

}  // namespace tf::cuda
