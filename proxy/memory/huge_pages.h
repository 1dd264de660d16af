// SPDX-License-Identifier: Apache-2.0
// HugePages: large pages for the memory files that this process shares with the worker.
//
// A large copy pays for every page that the processor looks up, and by default memory files have small pages
// (shmem_enabled is "never"). MADV_COLLAPSE (madvise(2), since Linux 6.1) turns 2 MiB of them into one page,
// whatever that setting says. We request it at the first large copy over each such unit. Only memory that is
// touched anyway gets committed, and a unit costs about as much as touching its small pages. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>

#include "transport/base/mutex.h"

namespace tf::proxy {

inline constexpr std::uint64_t kHugePageBytes = 2ull << 20;
// Smaller copies are left alone: most of their bytes lie at the edges of a unit.
inline constexpr std::uint64_t kHugeCopyBytesMin = 2 * kHugePageBytes;
// After this many refusals in a row (no contiguous memory) we stop asking.
inline constexpr unsigned kHugeRefusalsMax = 8;

class HugePages {
 public:
  HugePages() = default;
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;

  // [address, address + bytes) is about to be copied. REQUIRES: our shared mappings, whose file offsets
  // differ from the addresses by whole units.
  void use(std::uint64_t address, std::uint64_t bytes);
  // The mapping there is gone.
  void forget(std::uint64_t address, std::uint64_t bytes);
  // The number of units that are one page now.
  std::uint64_t made() const { return made_.load(std::memory_order_relaxed); }

 private:
  void ask(std::uint64_t unit) TF_REQUIRES(mutex_);
  void note_asked(std::uint64_t begin, std::uint64_t end) TF_REQUIRES(mutex_);
  std::uint64_t first_not_asked(std::uint64_t begin) const TF_REQUIRES(mutex_);

  Mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> asked_ TF_GUARDED_BY(mutex_);  // begin -> end, disjoint
  unsigned refusals_ TF_GUARDED_BY(mutex_) = 0;                         // in a row
  std::atomic<bool> hopeless_{false};  // relaxed: a late thread asks once more
  std::atomic<std::uint64_t> made_{0};
};

}  // namespace tf::proxy
