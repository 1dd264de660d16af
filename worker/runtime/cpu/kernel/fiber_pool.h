// SPDX-License-Identifier: Apache-2.0
// A process's stacks for HIP threads that wait: lent to threads that run a grid, returned to the system when
// idle.
//
// Any thread may call anything. Two limits apply. Threads that launch (a stream's, or one for each block of a
// cooperative grid) hold at most kLaunchSlabs at once, all together. A launch waits for its whole share
// before it takes any, so nobody holds what another waits for. The helpers of GridPool need no share: there
// are at most kMaxPoolThreads of them.
#pragma once

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/kernel/fiber.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace tf::cpu {

inline constexpr std::uint32_t kFibersPerSlab = 64;
// 16 blocks of 1024 threads; the largest cooperative grid.
inline constexpr std::uint32_t kLaunchSlabs = sanitizer::kMostFibers / kFibersPerSlab;
inline constexpr std::uint32_t kMappingsPerSlab = 2;  // the stacks, and a page below them without access
inline constexpr std::chrono::milliseconds kIdleSlab{250};  // then it goes back to the system

constexpr std::uint32_t slabs_for(std::uint32_t threads) {
  return (threads + kFibersPerSlab - 1) / kFibersPerSlab;
}

// Fibers whose stacks share one mapping.
class FiberSlab {
 public:
  // Null if the system has no memory for it.
  static std::unique_ptr<FiberSlab> make(std::uint32_t fibers = kFibersPerSlab);
  ~FiberSlab();
  FiberSlab(const FiberSlab&) = delete;
  FiberSlab& operator=(const FiberSlab&) = delete;

  std::deque<Fiber>& fibers() { return fibers_; }

 private:
  FiberSlab(std::byte* mapping, std::size_t bytes, std::uint32_t fibers);

  std::byte* const mapping_;
  const std::size_t bytes_;
  std::deque<Fiber> fibers_;  // addresses are stable
};

class FiberPool {
 public:
  using Slabs = std::vector<std::unique_ptr<FiberSlab>>;
  struct Counts {
    std::size_t mapped = 0;  // slabs
    std::size_t idle = 0;    // of them in nobody's use
    std::size_t waited = 0;  // launches that had to wait for their share so far
  };

  // The slabs that a launch may use at once. Waits for them, first come, first served.
  class Share {
   public:
    Share(FiberPool& pool, std::uint32_t slabs);  // REQUIRES: at most kLaunchSlabs
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    FiberPool& pool_;
    const std::uint32_t slabs_;
  };

  // The process's pool, never destroyed: streams may run until the very end.
  static FiberPool& process();

  // Null if the system has no memory for another.
  std::unique_ptr<FiberSlab> take();
  // Takes all of `slabs`; their fibers are suspended in their bodies' loop. A thread of the pool unmaps slabs
  // that nobody used for kIdleSlab, and ends when none is idle.
  void give(Slabs& slabs);
  Counts counts();

 private:
  using Clock = std::chrono::steady_clock;
  struct Idle {
    std::unique_ptr<FiberSlab> slab;
    Clock::time_point since;
  };

  void trim() TF_REQUIRES(mutex_);
  void keep_trimming();

  Mutex mutex_;
  CondVar returned_;
  std::deque<Idle> idle_ TF_GUARDED_BY(mutex_);  // the longest idle first
  bool trimming_ TF_GUARDED_BY(mutex_) = false;  // its thread is running
  std::size_t mapped_ TF_GUARDED_BY(mutex_) = 0;
  std::size_t waited_ TF_GUARDED_BY(mutex_) = 0;
  std::uint32_t shared_out_ TF_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_ticket_ TF_GUARDED_BY(mutex_) = 0;  // of the next request for a share
  std::uint64_t served_ TF_GUARDED_BY(mutex_) = 0;       // tickets below this have theirs
};

}  // namespace tf::cpu
