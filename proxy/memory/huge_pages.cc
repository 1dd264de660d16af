// SPDX-License-Identifier: Apache-2.0
// Requests large pages for shared memory files.
#include "proxy/memory/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE; newer than the headers of Debian 12

}  // namespace

void HugePages::use(std::uint64_t address, std::uint64_t bytes) {
  if (bytes < kHugeCopyBytesMin || hopeless_.load(std::memory_order_relaxed)) return;
  const std::uint64_t begin = (address + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  const std::uint64_t end = (address + bytes) / kHugePageBytes * kHugePageBytes;
  if (!mutex_.try_lock()) return;  // another copy is asking, which takes a while; this one does without
  const MutexLock lock(mutex_, std::adopt_lock);
  for (std::uint64_t unit = first_not_asked(begin); unit < end; unit = first_not_asked(unit)) {
    ask(unit);
    note_asked(unit, unit + kHugePageBytes);
    if (hopeless_.load(std::memory_order_relaxed)) return;
  }
}

void HugePages::ask(std::uint64_t unit) {
  void* const memory = reinterpret_cast<void*>(unit);
  // A unit without any page is not collapsed; this keeps its content, even if another thread is writing it.
  std::atomic_ref(*static_cast<std::uint8_t*>(memory)).fetch_or(0, std::memory_order_relaxed);
  if (::madvise(memory, kHugePageBytes, kCollapse) == 0) {
    refusals_ = 0;
    made_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  // EINVAL: a kernel that does not know it, or memory files that may have none.
  if (errno == EINVAL || ++refusals_ >= kHugeRefusalsMax) hopeless_.store(true, std::memory_order_relaxed);
}

std::uint64_t HugePages::first_not_asked(std::uint64_t begin) const {
  const auto next = asked_.upper_bound(begin);
  if (next == asked_.begin()) return begin;
  return std::max(begin, std::prev(next)->second);
}

void HugePages::note_asked(std::uint64_t begin, std::uint64_t end) {
  auto place = asked_.insert_or_assign(begin, end).first;
  if (const auto next = std::next(place); next != asked_.end() && next->first == end) {
    place->second = next->second;
    asked_.erase(next);
  }
  if (place == asked_.begin()) return;
  if (const auto before = std::prev(place); before->second == begin) {
    before->second = place->second;
    asked_.erase(place);
  }
}

void HugePages::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  const MutexLock lock(mutex_);
  auto range = asked_.upper_bound(address);
  if (range != asked_.begin()) --range;
  while (range != asked_.end() && range->first < end) {
    const auto [first, last] = *range;
    if (last <= address) {
      ++range;
      continue;
    }
    range = asked_.erase(range);
    if (first < address) asked_.emplace(first, address);
    if (last > end) range = asked_.emplace(end, last).first;
  }
}

}  // namespace tf::proxy
