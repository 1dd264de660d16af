// SPDX-License-Identifier: Apache-2.0
// Pool of helping threads; see grid_pool.h.
#include "worker/runtime/cpu/kernel/grid_pool.h"

#include <algorithm>
#include <chrono>

#include "transport/base/mutex.h"
#include "transport/base/processor.h"
#include "worker/runtime/cpu/kernel/slices.h"
#include "worker/runtime/cpu/kernel/turns.h"

namespace tf::cpu {
namespace {

constexpr std::uint64_t kPiecesPerThread = 8;  // small enough to even out, large enough not to be counted

std::uint64_t piece(const RunningGrid& grid, unsigned threads) {
  return std::max<std::uint64_t>(1, grid.blocks() / (std::uint64_t{threads + 1} * kPiecesPerThread));
}

// How long the calling thread has worked on a job.
class Working {
 public:
  Slices::Time time() const { return Clock::now() - start_; }
  // Called after each piece. False: the thread takes another one.
  bool operator()() const {
    Slices::own().running_for(time());
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
};

// More threads than these would only wait for each other in the middle of their blocks.
unsigned processors() {
  const unsigned usable = usable_processors();
  const Turns* const turns = Turns::of_process();
  return turns == nullptr ? usable : std::min(usable, turns->seats());
}

}  // namespace

GridPool& GridPool::process() {
  static GridPool* const pool = [] {
    // Handed to the process, for its whole life. One thread less: the one that launches works, too.
    return new GridPool(std::min(processors() - 1, kMaxPoolThreads));
  }();
  return *pool;
}

void GridPool::start_threads() {
  while (threads_.size() < size_) threads_.emplace_back([this] { serve(); });
}

void GridPool::help(GridJob& job, BlockRunner& runner) {
  const Working working;
  if (size_ == 0) return job.work(runner, 1, working);
  if (Turns* const turns = Turns::of_process()) turns->want(size_ + 1);
  {
    const MutexLock lock(mutex_);
    start_threads();
    jobs_.push_back(&job);
  }
  wanted_.notify_all();
  job.work(runner, piece(job.grid(), size_), working);
  runner.rest();
  const MutexLock lock(mutex_);
  jobs_.remove(&job);  // no helper joins any more
  left_.wait(mutex_, [&job] { return job.helpers_ == 0; });
}

void GridPool::serve() {
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
    const Working working;
    job.work(runner, piece(job.grid(), size_), working);
    runner.rest();
    Slices::own().rests_after(working.time());
    lock.lock();
    if (--job.helpers_ == 0) left_.notify_all();
  }
}

}  // namespace tf::cpu
