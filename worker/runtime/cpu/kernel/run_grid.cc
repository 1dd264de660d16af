// SPDX-License-Identifier: Apache-2.0
// run_grid() of kernel_api.h: decides where the blocks of a grid run.
#include "worker/runtime/cpu/kernel/grid_pool.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace tf::cpu {
namespace {

// A grid that ends within this time is done before a sleeping helper would wake up.
constexpr std::chrono::microseconds kAlone{20};
constexpr std::uint32_t kMaxCooperativeBlocks = 64;

// One per OS thread that launches.
BlockRunner& own_runner() {
  thread_local BlockRunner runner;
  return runner;
}

// Runs all blocks at once, each on an OS thread, so that they can wait for each other.
void run_cooperative(RunningGrid& grid) {
  std::vector<std::jthread> threads;
  try {
    for (std::uint64_t block = 0; block < grid.blocks(); ++block) {
      threads.emplace_back([&grid, block] {
        BlockRunner runner;
        BlockRunner::Turn(runner, grid).run_block(block);
      });
    }
  } catch (const std::system_error&) {
    grid.fail(hipErrorOutOfMemory);  // those that started are released by it
  }
}

void run(RunningGrid& grid) {
  const bool may_wait = grid.record().parks || grid.record().spins;
  const std::uint32_t slabs = may_wait ? slabs_for(grid.threads()) : 0;
  const bool at_once = grid.shape().cooperative;
  const FiberPool::Share share(FiberPool::process(),
                               at_once ? slabs * static_cast<std::uint32_t>(grid.blocks()) : slabs);
  if (at_once) return run_cooperative(grid);
  BlockRunner& runner = own_runner();
  if (grid.blocks() == 1) return BlockRunner::Turn(runner, grid).run_block(0);
  GridJob job(grid);
  const auto start = std::chrono::steady_clock::now();
  job.work(runner, 1, [start] { return std::chrono::steady_clock::now() - start > kAlone; });
  if (!job.exhausted()) GridPool::process().help(job, runner);
}

}  // namespace

void rest() { own_runner().rest(); }

std::uint32_t max_cooperative_blocks(std::uint32_t threads_per_block) {
  return std::min(kMaxCooperativeBlocks, kLaunchSlabs / slabs_for(std::max(1u, threads_per_block)));
}

hipError_t KernelFault::error() const {
  if (wrong_free) return hipErrorIllegalAddress;
  return signal == SIGSEGV || signal == SIGBUS ? hipErrorIllegalAddress : hipErrorLaunchFailure;
}

hipError_t run_grid(const Kernel& kernel, const Grid& shape, const void* arguments, DeviceHeap& heap,
                    std::optional<KernelFault>* fault) {
  RunningGrid grid(kernel, shape, arguments, heap);
  if (grid.blocks() == 0 || grid.threads() == 0) return hipErrorInvalidConfiguration;
  if (grid.threads() > kernel.max_threads_per_block) return hipErrorInvalidConfiguration;
  if (std::uint64_t{kernel.static_shared_bytes} + shape.dynamic_shared_bytes > kMaxSharedBytes) {
    return hipErrorInvalidConfiguration;
  }
  if (shape.cooperative && grid.blocks() > max_cooperative_blocks(grid.threads()))
    return hipErrorCooperativeLaunchTooLarge;
  run(grid);
  if (fault != nullptr) *fault = grid.fault();
  return grid.error();
}

}  // namespace tf::cpu
