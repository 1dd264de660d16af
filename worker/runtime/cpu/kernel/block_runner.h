// SPDX-License-Identifier: Apache-2.0
// Runs blocks of a grid on the calling OS thread.
//
// A kernel whose threads never wait for each other runs as a plain loop. Otherwise every HIP thread that
// waits parks on its fiber and the next one runs; fibers of threads that have ended are used again. A wave
// goes on until all of its lanes wait for others, or for kRoundsAtOnce; then the next wave does. A runner
// belongs to one OS thread. It keeps one fiber for good, for the loops; others are the process's
// (fiber_pool.h).
#pragma once

#include "worker/runtime/cpu/kernel/device/context.h"
#include "worker/runtime/cpu/kernel/fiber_pool.h"
#include "worker/runtime/cpu/kernel/grid.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tf::cpu {

inline constexpr std::uint32_t kRoundsAtOnce = 256;  // of a wave: another may be waited for in a loop
// So many times in a row the lanes at an earlier instruction go on and others of their wave wait; then all go
// on, since the former may be waiting for the latter in a loop.
inline constexpr std::uint32_t kUnfairRounds = 4096;

class BlockRunner {
 public:
  BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // A runner's work for one grid. Others may follow; when it ends the process has its fibers back.
  class Turn {
   public:
    Turn(BlockRunner& runner, RunningGrid& grid) : runner_(runner) { runner_.begin(grid); }
    ~Turn() { runner_.end(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Runs one block to its end. Failures go to the grid.
    void run_block(std::uint64_t index) { runner_.run_block(index); }

   private:
    const StackLimit own_limit_;
    BlockRunner& runner_;
  };

 private:
  enum class State : std::uint8_t { kReady, kBlockBarrier, kWave, kStep, kGridBarrier, kDone };
  struct HipThread {
    State state = State::kReady;
    Fiber* fiber = nullptr;      // none before it starts and after it ends
    const void* site = nullptr;  // of its wave operation
    std::uint64_t offered = 0;
    std::uint64_t active = 0;  // the lanes of the exchange it took part in
  };
  struct Wave {
    std::uint64_t values[HIPR_WAVE_SIZE];
    std::uint32_t unfair_rounds = 0;
  };

  // Services of the running block; what `context.services` points to.
  static std::int32_t barrier(HiprContext* context, std::uint32_t operation, std::int32_t value);
  static HiprWave exchange(HiprContext* context, std::uint64_t value, const void* site);
  static void step(HiprContext* context, const void* site);
  static void grid_barrier(HiprContext* context);
  static void print(HiprContext* context, std::int32_t to_stderr, const char* text, std::uint64_t bytes);
  static void trap(HiprContext* context);
  static std::uint64_t clock_ns();
  static const HiprServices kServices;

  // context_ is the first member of this helper, so a context leads back to its runner.
  struct Bound {
    HiprContext context;
    BlockRunner* runner;
  };
  static BlockRunner& of(HiprContext* context) { return *reinterpret_cast<Bound*>(context)->runner; }

  static void fiber_body(Fiber* self);
  static void on_crash(void* runner, const Crash& crash);
  // The block ends here, because of `fault`; on the fiber that is at fault, which is not resumed any more.
  void give_up(const KernelFault& fault);
  void begin(RunningGrid& grid);
  void end();
  void run_block(std::uint64_t index);
  void run_rows();
  void run_current();
  void park(State state);
  void place(std::uint32_t linear);
  Fiber* take_fiber();
  void run_parking();
  // Every wave in turn. False: no fiber to be had, or the block has failed.
  bool run_waves(bool& all_wait);
  // One pass over the threads: runs each that can.
  bool run_ready(std::uint32_t first, std::uint32_t end);
  bool release_wave(std::uint32_t first, std::uint32_t end);
  const void* earliest_site(std::uint32_t first, std::uint32_t end) const;
  bool release_all_steps(std::uint32_t first, std::uint32_t end);
  bool release_barrier(State state);
  void abandon();

  Bound bound_{};
  RunningGrid* grid_ = nullptr;
  std::vector<HipThread> threads_;
  std::vector<Wave> waves_;
  std::unique_ptr<FiberSlab> own_;  // one fiber, for loops
  FiberPool::Slabs slabs_;          // of this turn
  std::vector<Fiber*> idle_;        // of their fibers
  std::uint32_t current_ = 0;       // linear number of the HIP thread that runs
  Fiber* running_fiber_ = nullptr;
  std::uint32_t done_ = 0;
  bool rows_mode_ = false;  // the fiber runs whole rows, not single threads
  bool trapped_ = false;
  std::uint32_t operation_ = 0;  // of the block barrier being gathered
  std::int32_t gathered_ = 0;
  std::int32_t barrier_result_ = 0;
};

}  // namespace tf::cpu
