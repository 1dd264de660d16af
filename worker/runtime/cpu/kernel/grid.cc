// SPDX-License-Identifier: Apache-2.0
// State of a running grid; see grid.h.
#include "worker/runtime/cpu/kernel/grid.h"

#include "transport/base/mutex.h"

namespace tf::cpu {

RunningGrid::RunningGrid(const Kernel& kernel, const Grid& grid, const void* arguments, DeviceHeap& heap)
    : kernel_(kernel),
      record_(*static_cast<const KernelRecord*>(kernel.owner)),
      grid_(grid),
      arguments_(arguments),
      heap_(heap),
      blocks_(std::uint64_t{grid.blocks[0]} * grid.blocks[1] * grid.blocks[2]),
      threads_(grid.threads[0] * grid.threads[1] * grid.threads[2]) {
  if (grid.cooperative) meeting_.emplace(blocks_);
}

void RunningGrid::fail(hipError_t error) {
  int none = hipSuccess;
  // release, pairs with failed() and error().
  error_.compare_exchange_strong(none, error, std::memory_order_release, std::memory_order_relaxed);
  if (!meeting_) return;
  const MutexLock lock(meeting_->mutex);
  meeting_->released.notify_all();
}

void RunningGrid::fail(const KernelFault& fault) {
  {
    const MutexLock lock(fault_mutex_);
    if (!fault_) fault_ = fault;
  }
  fail(fault.error());
}

bool RunningGrid::wait_for_grid() {
  if (!meeting_) return blocks_ == 1;
  Meeting& meeting = *meeting_;
  const MutexLock lock(meeting.mutex);
  const std::uint64_t round = meeting.round;
  if (++meeting.waiting == meeting.running) {
    meeting.waiting = 0;
    ++meeting.round;
    meeting.released.notify_all();
    return !failed();
  }
  meeting.released.wait(meeting.mutex,
                        [&]() TF_REQUIRES(meeting.mutex) { return meeting.round != round || failed(); });
  return !failed();
}

void RunningGrid::leave_grid() {
  Meeting& meeting = *meeting_;
  const MutexLock lock(meeting.mutex);
  --meeting.running;
  if (meeting.waiting == 0 || meeting.waiting != meeting.running) return;
  meeting.waiting = 0;
  ++meeting.round;
  meeting.released.notify_all();
}

}  // namespace tf::cpu
