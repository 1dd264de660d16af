// SPDX-License-Identifier: Apache-2.0
// The process-wide pool of OS threads that help streams run grids. Any thread may call help().
#pragma once

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/kernel/block_runner.h"

#include <atomic>
#include <cstdint>
#include <list>
#include <thread>
#include <vector>

namespace tf::cpu {

inline constexpr unsigned kMaxPoolThreads = 64;

// A grid whose blocks are handed out in pieces. Lives on the stack of the thread that launched it.
class GridJob {
 public:
  explicit GridJob(RunningGrid& grid) : grid_(grid) {}

  // Takes and runs blocks until none are left or `enough` says stop.
  template <typename Enough>
  void work(BlockRunner& runner, std::uint64_t at_once, Enough enough);
  bool exhausted() const {
    // relaxed: only a hint; taking a piece decides.
    return next_.load(std::memory_order_relaxed) >= grid_.blocks() || grid_.failed();
  }
  RunningGrid& grid() { return grid_; }

 private:
  friend class GridPool;
  RunningGrid& grid_;
  // relaxed: it only hands out numbers; results are published by the pool's mutex.
  std::atomic<std::uint64_t> next_{0};
  std::uint32_t helpers_ = 0;  // guarded by the pool's mutex
};

class GridPool {
 public:
  explicit GridPool(unsigned threads) : size_(threads) {}
  GridPool(const GridPool&) = delete;
  GridPool& operator=(const GridPool&) = delete;

  // The process's pool, made at first use and never destroyed: streams may run until the very end.
  static GridPool& process();

  unsigned size() const { return size_; }
  // Runs the rest of the job on the pool's threads and the caller; returns when every block is done.
  void help(GridJob& job, BlockRunner& runner);

 private:
  void serve();
  void start_threads() TF_REQUIRES(mutex_);

  const unsigned size_;
  Mutex mutex_;  // also of GridJob::helpers_
  CondVar wanted_;
  CondVar left_;
  std::list<GridJob*> jobs_ TF_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_ TF_GUARDED_BY(mutex_);
};

template <typename Enough>
void GridJob::work(BlockRunner& runner, std::uint64_t at_once, Enough enough) {
  BlockRunner::Turn turn(runner, grid_);
  while (!grid_.failed()) {
    const std::uint64_t first = next_.fetch_add(at_once, std::memory_order_relaxed);
    if (first >= grid_.blocks()) return;
    const std::uint64_t end = first + at_once < grid_.blocks() ? first + at_once : grid_.blocks();
    for (std::uint64_t block = first; block < end && !grid_.failed(); ++block) turn.run_block(block);
    if (enough()) return;
  }
}

}  // namespace tf::cpu
