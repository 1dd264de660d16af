// SPDX-License-Identifier: Apache-2.0
// HugePages: large pages behind the memory files that this process shares with the worker.
//
// A large copy pays for every page that the processor has to look up, and systems as they come give memory
// files small ones (shmem_enabled is "never"). MADV_COLLAPSE (madvise(2), since Linux 6.1) turns 2 MiB of
// them into one, whatever that setting says. It is asked for at the first large copy over each such unit:
// memory that is touched anyway gets committed, no other, and a unit costs about what touching its small
// pages would. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

namespace tf::proxy {

inline constexpr std::uint64_t kHugePageBytes = 2ull << 20;
// Smaller copies are left alone: most of theirs would be at the edges of a unit.
inline constexpr std::uint64_t kHugeCopyBytesMin = 2 * kHugePageBytes;
// So many refusals in succession (no memory in one piece), and nobody asks any more.
inline constexpr unsigned kHugeRefusalsMax = 8;

class HugePages {
 public:
  HugePages() = default;
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;

  // All of [address, address + bytes) is about to be copied. REQUIRES: shared mappings of ours, whose files'
  // offsets differ from the addresses by whole units.
  void use(std::uint64_t address, std::uint64_t bytes);
  // What was mapped there is gone.
  void forget(std::uint64_t address, std::uint64_t bytes);
  // Units that are one page now.
  std::uint64_t made() const { return made_.load(std::memory_order_relaxed); }

 private:
  void ask(std::uint64_t unit);
  void note_asked(std::uint64_t begin, std::uint64_t end);
  std::uint64_t first_not_asked(std::uint64_t begin) const;

  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> asked_;  // begin -> end, apart from each other; under mutex_
  unsigned refusals_ = 0;                         // in succession; under mutex_
  std::atomic<bool> hopeless_{false};             // relaxed: whoever is late asks once more
  std::atomic<std::uint64_t> made_{0};
};

}  // namespace tf::proxy
