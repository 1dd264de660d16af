// SPDX-License-Identifier: Apache-2.0
// Pool of helping threads; see grid_pool.h.
#include "worker/runtime/cpu/kernel/grid_pool.h"
#include "worker/runtime/cpu/kernel/long_slice.h"

#include <algorithm>

#include "transport/base/mutex.h"

namespace tf::cpu {
namespace {

constexpr std::uint64_t kPiecesPerThread = 8;  // small enough to even out, large enough not to be counted

std::uint64_t piece(const RunningGrid& grid, unsigned threads) {
  return std::max<std::uint64_t>(1, grid.blocks() / (std::uint64_t{threads + 1} * kPiecesPerThread));
}

bool never() { return false; }

}  // namespace

GridPool& GridPool::process() {
  static GridPool* const pool = [] {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    return new GridPool(std::min(cores - 1, kMaxPoolThreads));  // handed to the process, for its whole life
  }();
  return *pool;
}

void GridPool::start_threads() {
  while (threads_.size() < size_) threads_.emplace_back([this] { serve(); });
}

void GridPool::help(GridJob& job, BlockRunner& runner) {
  if (size_ == 0) return job.work(runner, 1, never);
  {
    const MutexLock lock(mutex_);
    start_threads();
    jobs_.push_back(&job);
  }
  wanted_.notify_all();
  job.work(runner, piece(job.grid(), size_), never);
  runner.rest();
  const MutexLock lock(mutex_);
  jobs_.remove(&job);  // no helper joins any more
  left_.wait(mutex_, [&job] { return job.helpers_ == 0; });
}

void GridPool::serve() {
  take_long_slices();
  BlockRunner runner;
  UniqueLock lock(mutex_);
  for (;;) {
    const auto useful = [](const GridJob* job) { return !job->exhausted(); };
    auto found = jobs_.end();
    wanted_.wait(mutex_, [&]() TF_REQUIRES(mutex_) {
      found = std::find_if(jobs_.begin(), jobs_.end(), useful);
      return found != jobs_.end();
    });
    GridJob& job = **found;
    ++job.helpers_;
    lock.unlock();
    job.work(runner, piece(job.grid(), size_), never);
    runner.rest();
    lock.lock();
    if (--job.helpers_ == 0) left_.notify_all();
  }
}

}  // namespace tf::cpu
