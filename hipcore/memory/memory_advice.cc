// SPDX-License-Identifier: Apache-2.0
// Stores advice as parts of allocations, and answers queries about a range.
#include "hipcore/memory/memory_advice.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "hipcore/memory/host_flags.h"
#include "transport/base/mutex.h"

namespace tf::hipcore {
namespace {

constexpr std::uint64_t kPageMask = ~(kAdvisedPageBytes - 1);

// The pages of the range that belong to the allocation.
std::uint64_t begin_of(const AdvisedRange& range) {
  return std::max(range.address & kPageMask, range.allocation);
}
std::uint64_t end_of(const AdvisedRange& range) {
  const std::uint64_t last = (range.address + range.bytes - 1) | ~kPageMask;
  return std::min(last, range.allocation + range.allocated_bytes - 1) + 1;
}

std::uint64_t bit_of(int device) { return std::uint64_t{1} << (device % kAdvisedDevicesMax); }

void put(void* data, int value) { std::memcpy(data, &value, sizeof value); }

}  // namespace

bool AdvisedRange::is_sound() const {
  return bytes != 0 && address >= allocation && address - allocation < allocated_bytes &&
         bytes <= allocated_bytes - (address - allocation);
}

namespace {

bool is_advice(hipMemoryAdvise advice) {
  return (advice >= hipMemAdviseSetReadMostly && advice <= hipMemAdviseUnsetAccessedBy) ||
         advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain;
}

bool is_managed(const std::optional<AdvisedMemory>& memory) {
  return memory && memory->managed && memory->range.is_sound();
}

}  // namespace

bool names_device(hipMemoryAdvise advice) {
  return advice != hipMemAdviseSetReadMostly && advice != hipMemAdviseUnsetReadMostly;
}

bool takes_attribute(hipMemRangeAttribute attribute, std::size_t data_bytes) {
  switch (attribute) {
    case hipMemRangeAttributeReadMostly:
    case hipMemRangeAttributePreferredLocation:
    case hipMemRangeAttributeLastPrefetchLocation:
    case hipMemRangeAttributeCoherencyMode: return data_bytes == sizeof(int);
    case hipMemRangeAttributeAccessedBy: return data_bytes != 0 && data_bytes % sizeof(int) == 0;
    default: return false;
  }
}

bool takes_attributes(void* const* data, const std::size_t* data_bytes,
                      const hipMemRangeAttribute* attributes, std::size_t count) {
  if (!data || !data_bytes || !attributes || count == 0) return false;
  for (std::size_t i = 0; i < count; ++i)
    if (!data[i] || !takes_attribute(attributes[i], data_bytes[i])) return false;
  return true;
}

// As in AMD's runtime: coherent by default, and if one of these flags asks for it.
hipMemRangeCoherencyMode coherency_of_host(unsigned flags) {
  constexpr unsigned kCoherent =
      hipHostMallocCoherent | hipHostMallocMapped | hipHostMallocNumaUser | kHostMallocUncached;
  return flags == 0 || (flags & kCoherent) != 0 ? hipMemRangeCoherencyModeFineGrain
                                                : hipMemRangeCoherencyModeCoarseGrain;
}

hipMemRangeCoherencyMode coherency_of_registered(unsigned flags) {
  return (flags & hipExtHostRegisterCoarseGrained) != 0 ? hipMemRangeCoherencyModeCoarseGrain
                                                        : hipMemRangeCoherencyModeFineGrain;
}

hipMemRangeCoherencyMode coherency_of_device(unsigned flags) {
  return flags == hipDeviceMallocDefault ? hipMemRangeCoherencyModeCoarseGrain
                                         : hipMemRangeCoherencyModeFineGrain;
}

void MemoryAdvice::apply(Advice& to, hipMemoryAdvise advice, int device) {
  const bool is_host = device == hipCpuDeviceId;
  switch (advice) {
    case hipMemAdviseSetReadMostly: to.read_mostly = true; break;
    case hipMemAdviseUnsetReadMostly: to.read_mostly = false; break;
    case hipMemAdviseSetPreferredLocation: to.preferred = device; break;
    case hipMemAdviseUnsetPreferredLocation: to.preferred = hipInvalidDeviceId; break;
    case hipMemAdviseSetAccessedBy:
      if (is_host) to.accessed_by_host = true;
      if (!is_host) to.accessed_by |= bit_of(device);
      break;
    case hipMemAdviseUnsetAccessedBy:
      if (is_host) to.accessed_by_host = false;
      if (!is_host) to.accessed_by &= ~bit_of(device);
      break;
    case hipMemAdviseSetCoarseGrain: to.coherency = hipMemRangeCoherencyModeCoarseGrain; break;
    case hipMemAdviseUnsetCoarseGrain: to.coherency = hipMemRangeCoherencyModeFineGrain; break;
  }
}

hipError_t MemoryAdvice::advise(const std::optional<AdvisedMemory>& memory, hipMemoryAdvise advice,
                                int device, int devices) {
  const bool exists = device == hipCpuDeviceId || (device >= 0 && device < devices);
  if (!exists && names_device(advice)) return hipErrorInvalidDevice;
  if (!is_managed(memory) || !is_advice(advice)) return hipErrorInvalidValue;
  return change(memory->range, [=](Advice& to) { apply(to, advice, device); });
}

hipError_t MemoryAdvice::prefetch(const std::optional<AdvisedMemory>& memory, int device) {
  if (!is_managed(memory)) return hipErrorInvalidValue;
  static_cast<void>(change(memory->range, [=](Advice& to) { to.prefetched = device; }));
  return hipSuccess;
}

hipError_t MemoryAdvice::set_coherency(const AdvisedRange& range, hipMemRangeCoherencyMode coherency) {
  return change(range, [=](Advice& to) { to.coherency = coherency; });
}

hipError_t MemoryAdvice::set_synchronous(std::uint64_t allocation, std::uint64_t allocated_bytes,
                                         bool synchronous) {
  const MutexLock lock(mutex_);
  if (!synchronous) {
    synchronous_.erase(allocation);
  } else if (synchronous_.size() < kAdvisedRangesMax || synchronous_.contains(allocation)) {
    synchronous_[allocation] = allocation + allocated_bytes;
  } else {
    return hipErrorOutOfMemory;
  }
  any_synchronous_.store(!synchronous_.empty(), std::memory_order_relaxed);
  return hipSuccess;
}

bool MemoryAdvice::find_synchronous(std::uint64_t address) const {
  const MutexLock lock(mutex_);
  const auto after = synchronous_.upper_bound(address);
  return after != synchronous_.begin() && address < std::prev(after)->second;
}

hipError_t MemoryAdvice::id_of(std::uint64_t allocation, std::uint32_t& id) {
  const MutexLock lock(mutex_);
  const auto known = ids_.find(allocation);
  if (known == ids_.end() && ids_.size() >= kIdsMax) return hipErrorOutOfMemory;
  id = known != ids_.end() ? known->second : ids_[allocation] = ++last_id_;
  any_id_.store(true, std::memory_order_relaxed);
  return hipSuccess;
}

template <typename Change>
hipError_t MemoryAdvice::change(const AdvisedRange& range, Change change) {
  const std::uint64_t begin = begin_of(range);
  const std::uint64_t end = end_of(range);
  const MutexLock lock(mutex_);
  split(begin);
  split(end);
  std::vector<std::uint64_t> gaps;  // without advice so far; each ends at the next part
  std::uint64_t at = begin;
  for (auto part = parts_.lower_bound(begin); part != parts_.end() && part->first < end; ++part) {
    if (at < part->first) gaps.push_back(at);
    at = part->second.end;
  }
  if (at < end) gaps.push_back(at);
  if (parts_.size() + gaps.size() > kAdvisedRangesMax) {
    join(begin, end);
    return hipErrorOutOfMemory;
  }
  for (const std::uint64_t gap : gaps) {
    const auto next = parts_.lower_bound(gap);
    parts_.emplace_hint(next, gap, Part{next == parts_.end() ? end : std::min(next->first, end), {}});
  }
  for (auto part = parts_.find(begin); part != parts_.end() && part->first < end; ++part)
    change(part->second.advice);
  join(begin, end);
  any_.store(!parts_.empty(), std::memory_order_relaxed);
  return hipSuccess;
}

// Cuts the parts at `at`, so that none reaches across it.
void MemoryAdvice::split(std::uint64_t at) {
  const auto next = parts_.lower_bound(at);
  if (next == parts_.begin()) return;
  Part& before = std::prev(next)->second;
  if (before.end <= at) return;
  parts_.emplace_hint(next, at, before);
  before.end = at;
}

// Removes the parts without any advice left, and joins neighbours with equal advice: those inside [begin,
// end), and those that touch it.
void MemoryAdvice::join(std::uint64_t begin, std::uint64_t end) {
  auto part = parts_.lower_bound(begin);
  if (part != parts_.begin()) --part;
  while (part != parts_.end() && part->first <= end) {
    if (part->second.advice == Advice{}) {
      part = parts_.erase(part);
      continue;
    }
    const auto next = std::next(part);
    const bool same =
        next != parts_.end() && part->second.end == next->first && part->second.advice == next->second.advice;
    if (!same) {
      part = next;
      continue;
    }
    part->second.end = next->second.end;
    parts_.erase(next);
  }
}

void MemoryAdvice::forget(std::uint64_t allocation, std::uint64_t allocated_bytes) {
  if (!any()) return;
  const MutexLock lock(mutex_);
  split(allocation);
  split(allocation + allocated_bytes);
  parts_.erase(parts_.lower_bound(allocation), parts_.lower_bound(allocation + allocated_bytes));
  synchronous_.erase(synchronous_.lower_bound(allocation),
                     synchronous_.lower_bound(allocation + allocated_bytes));
  ids_.erase(ids_.lower_bound(allocation), ids_.lower_bound(allocation + allocated_bytes));
  any_.store(!parts_.empty(), std::memory_order_relaxed);
  any_id_.store(!ids_.empty(), std::memory_order_relaxed);
  any_synchronous_.store(!synchronous_.empty(), std::memory_order_relaxed);
}

// The advice that holds for all of a range.
struct MemoryAdvice::Common {
  bool any = false;
  Advice advice;

  void add(Advice more, hipMemRangeCoherencyMode unadvised) {
    if (!more.coherency) more.coherency = unadvised;
    if (!std::exchange(any, true)) {
      advice = more;
      return;
    }
    advice.read_mostly = advice.read_mostly && more.read_mostly;
    advice.accessed_by_host = advice.accessed_by_host && more.accessed_by_host;
    advice.accessed_by &= more.accessed_by;
    if (advice.preferred != more.preferred) advice.preferred = hipInvalidDeviceId;
    if (advice.prefetched != more.prefetched) advice.prefetched = hipInvalidDeviceId;
    if (advice.coherency != more.coherency) advice.coherency = hipMemRangeCoherencyModeIndeterminate;
  }
};

MemoryAdvice::Common MemoryAdvice::common(const AdvisedMemory& memory) const {
  const std::uint64_t end = end_of(memory.range);
  std::uint64_t at = begin_of(memory.range);
  Common common;
  auto part = parts_.upper_bound(at);
  if (part != parts_.begin() && std::prev(part)->second.end > at) --part;
  for (; part != parts_.end() && part->first < end; ++part) {
    if (at < part->first) common.add({}, memory.coherency);
    common.add(part->second.advice, memory.coherency);
    at = part->second.end;
  }
  if (at < end) common.add({}, memory.coherency);
  return common;
}

hipError_t MemoryAdvice::get(const std::optional<AdvisedMemory>& memory, hipMemRangeAttribute attribute,
                             void* data, std::size_t data_bytes) const {
  if (!data || !takes_attribute(attribute, data_bytes)) return hipErrorInvalidValue;
  const bool has_coherency = memory && memory->range.is_sound();
  const bool has = attribute == hipMemRangeAttributeCoherencyMode ? has_coherency : is_managed(memory);
  if (!has) return hipErrorInvalidValue;
  answer(*memory, attribute, data, data_bytes);
  return hipSuccess;
}

hipError_t MemoryAdvice::get(const std::optional<AdvisedMemory>& memory,
                             const hipMemRangeAttribute* attributes, void* const* data,
                             const std::size_t* data_bytes, std::size_t count) const {
  if (!takes_attributes(data, data_bytes, attributes, count) || !is_managed(memory))
    return hipErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i) answer(*memory, attributes[i], data[i], data_bytes[i]);
  return hipSuccess;
}

void MemoryAdvice::answer(const AdvisedMemory& memory, hipMemRangeAttribute attribute, void* data,
                          std::size_t data_bytes) const {
  const MutexLock lock(mutex_);
  const Advice advice = common(memory).advice;
  switch (attribute) {
    case hipMemRangeAttributeReadMostly: return put(data, advice.read_mostly ? 1 : 0);
    case hipMemRangeAttributePreferredLocation: return put(data, advice.preferred);
    case hipMemRangeAttributeLastPrefetchLocation: return put(data, advice.prefetched);
    case hipMemRangeAttributeCoherencyMode: return put(data, advice.coherency.value_or(memory.coherency));
    case hipMemRangeAttributeAccessedBy: break;
  }
  // Devices in order, then the host, then nobody; as many as there is room for.
  std::vector<int> devices;
  for (int device = 0; device < kAdvisedDevicesMax; ++device)
    if ((advice.accessed_by & bit_of(device)) != 0) devices.push_back(device);
  if (advice.accessed_by_host) devices.push_back(hipCpuDeviceId);
  auto* const out = static_cast<char*>(data);
  for (std::size_t entry = 0; entry < data_bytes / sizeof(int); ++entry)
    put(out + entry * sizeof(int), entry < devices.size() ? devices[entry] : hipInvalidDeviceId);
}

}  // namespace tf::hipcore
