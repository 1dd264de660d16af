// SPDX-License-Identifier: Apache-2.0
// Remembers the flags of pinned and registered memory.
#include "worker/runtime/cuda/host_memory.h"

#include <iterator>

#include "hipcore/graph/box.h"
#include "transport/base/mutex.h"

namespace tf::cuda {

using graph::address_of;

void HostMemory::add(void* base, const Range& range) {
  const MutexLock lock(mutex_);
  ranges_[address_of(base)] = range;
}

void HostMemory::remove(void* base) {
  const MutexLock lock(mutex_);
  ranges_.erase(address_of(base));
}

void HostMemory::remove_all(int device) {
  const MutexLock lock(mutex_);
  std::erase_if(ranges_, [=](const auto& entry) { return entry.second.device == device; });
}

HostMemory::Ranges::const_iterator HostMemory::holder(std::size_t address) const {
  auto range = ranges_.upper_bound(address);
  if (range == ranges_.begin()) return ranges_.end();
  --range;
  return address - range->first < range->second.bytes ? range : ranges_.end();
}

bool HostMemory::flags(const void* pointer, unsigned& flags) const {
  const MutexLock lock(mutex_);
  const auto range = holder(address_of(pointer));
  if (range == ranges_.end()) return false;
  flags = range->second.flags;
  return true;
}

std::optional<hipcore::AdvisedMemory> HostMemory::advised(const void* pointer, std::size_t bytes) const {
  const MutexLock lock(mutex_);
  const auto range = holder(address_of(pointer));
  if (range == ranges_.end()) return std::nullopt;
  return hipcore::AdvisedMemory{
      {range->first, range->second.bytes, address_of(pointer), bytes}, range->second.coherency, false};
}

}  // namespace tf::cuda
