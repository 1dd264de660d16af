// SPDX-License-Identifier: Apache-2.0
// State of a running grid; see grid.h.
#include "worker/runtime/cpu/kernel/grid.h"

namespace tf::cpu {

RunningGrid::RunningGrid(const Kernel& kernel, const Grid& grid, const void* arguments)
    : kernel_(kernel),
      record_(*static_cast<const KernelRecord*>(kernel.owner)),
      grid_(grid),
      arguments_(arguments),
      blocks_(std::uint64_t{grid.blocks[0]} * grid.blocks[1] * grid.blocks[2]),
      threads_(grid.threads[0] * grid.threads[1] * grid.threads[2]),
      running_(blocks_) {}

void RunningGrid::fail(hipError_t error) {
  int none = hipSuccess;
  // release, pairs with failed() and error().
  error_.compare_exchange_strong(none, error, std::memory_order_release, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  released_.notify_all();
}

bool RunningGrid::wait_for_grid() {
  std::unique_lock lock(mutex_);
  const std::uint64_t round = round_;
  if (++waiting_ == running_) {
    waiting_ = 0;
    ++round_;
    released_.notify_all();
    return !failed();
  }
  released_.wait(lock, [&] { return round_ != round || failed(); });
  return !failed();
}

void RunningGrid::leave_grid() {
  const std::lock_guard lock(mutex_);
  --running_;
  if (waiting_ == 0 || waiting_ != running_) return;
  waiting_ = 0;
  ++round_;
  released_.notify_all();
}

}  // namespace tf::cpu
