// SPDX-License-Identifier: Apache-2.0
// One launched grid while it runs: what its blocks share. Blocks on several OS threads use it at once.
#pragma once

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/kernel/device_heap.h"
#include "worker/runtime/cpu/kernel/module.h"
#include "worker/runtime/cpu/kernel_api.h"

#include <atomic>
#include <cstdint>
#include <optional>

namespace tf::cpu {

class RunningGrid {
 public:
  RunningGrid(const Kernel& kernel, const Grid& grid, const void* arguments, DeviceHeap& heap);

  const Kernel& kernel() const { return kernel_; }
  const KernelRecord& record() const { return record_; }
  const Grid& shape() const { return grid_; }
  const void* arguments() const { return arguments_; }
  DeviceHeap& heap() const { return heap_; }
  std::uint64_t blocks() const { return blocks_; }
  std::uint32_t threads() const { return threads_; }

  // The first failure counts; blocks that have not started are then skipped.
  void fail(hipError_t error);
  void fail(const KernelFault& fault);
  // acquire, pairs with the release in fail().
  bool failed() const { return error_.load(std::memory_order_acquire) != hipSuccess; }
  hipError_t error() const { return static_cast<hipError_t>(error_.load(std::memory_order_acquire)); }
  // What the kernel did, if that made the grid fail. Read it when every block is done.
  // Unchecked: the grid has ended.
  const std::optional<KernelFault>& fault() const TF_UNCHECKED { return fault_; }

  // Cooperative grids: waits until every running block waits here; a finished block no longer counts. False:
  // the grid has failed, which ends the wait; or it is not cooperative: then blocks run one after the other
  // and cannot wait for each other.
  bool wait_for_grid();
  void leave_grid();

 private:
  const Kernel& kernel_;
  const KernelRecord& record_;
  const Grid& grid_;
  const void* arguments_;
  DeviceHeap& heap_;
  std::uint64_t blocks_;
  std::uint32_t threads_;
  std::atomic<int> error_{hipSuccess};
  Mutex fault_mutex_;
  std::optional<KernelFault> fault_ TF_GUARDED_BY(fault_mutex_);  // the first

  // Where the blocks of a cooperative grid meet. Other grids have none: most are done sooner than this could
  // be made.
  struct Meeting {
    explicit Meeting(std::uint64_t blocks) : running(blocks) {}

    Mutex mutex;
    CondVar released;
    std::uint64_t running TF_GUARDED_BY(mutex);
    std::uint64_t waiting TF_GUARDED_BY(mutex) = 0;
    std::uint64_t round TF_GUARDED_BY(mutex) = 0;
  };
  std::optional<Meeting> meeting_;
};

}  // namespace tf::cpu
