// SPDX-License-Identifier: Apache-2.0
// Runs blocks of a grid on the calling OS thread.
//
// A kernel whose threads never wait for each other runs as a plain loop. Otherwise each HIP thread that waits
// parks on its fiber, and the next one runs; fibers of finished threads are reused. A kernel whose threads
// may wait in a loop of their own starts as a plain loop, too. When one of them has made kSpinningTurns turns
// of HIPR_TURNS_AT_ONCE operations, it keeps the loop's fiber for itself, and the threads behind it get
// others. A wave runs until all its lanes wait for others, or for kRoundsAtOnce rounds; then the next wave
// runs. A runner belongs to one OS thread. It owns one fiber permanently, for the loops; others come from the
// process's pool (fiber_pool.h).
#pragma once

#include "worker/runtime/cpu/kernel/device/context.h"
#include "worker/runtime/cpu/kernel/fiber_pool.h"
#include "worker/runtime/cpu/kernel/grid.h"
#include "worker/runtime/cpu/kernel/turns.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tf::cpu {

inline constexpr std::uint32_t kRoundsAtOnce = 256;  // rounds; it may wait for another wave in a loop
// This many times in a row the lanes at the earliest instruction run while others of their wave wait. Then
// all run, since the former may be waiting for the latter in a loop.
inline constexpr std::uint32_t kUnfairRounds = 4096;
// A thread that has made this many turns may be waiting in a loop for another thread of its block.
inline constexpr std::uint32_t kSpinningTurns = 64;

class BlockRunner {
 public:
  BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // The thread runs no blocks for now, so it keeps no seat from others.
  void rest() { seat_.end(); }

  // A runner's work for one grid; others may follow. At its end the fibers go back to the pool.
  class Turn {
   public:
    Turn(BlockRunner& runner, RunningGrid& grid) : runner_(runner) {
      runner_.begin(grid);
      runner_.seat_.come_to(grid.blocks());
    }
    ~Turn() { runner_.end(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Runs one block to its end, when it is the thread's turn. Failures go to the grid.
    void run_block(std::uint64_t index) {
      // Blocks of a cooperative grid wait for each other: none of them may wait for a seat.
      if (!runner_.grid_->shape().cooperative) runner_.seat_.keep();
      runner_.run_block(index);
    }

   private:
    const StackLimit own_limit_;
    BlockRunner& runner_;
  };

 private:
  enum class State : std::uint8_t { kReady, kBlockBarrier, kWave, kStep, kGridBarrier, kDone };
  struct HipThread {
    State state = State::kReady;
    Fiber* fiber = nullptr;      // null before it starts and after it ends
    const void* site = nullptr;  // where its wave operation is
    std::uint64_t offered = 0;
    std::uint64_t active = 0;  // the lanes of its last exchange
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
  static void* allocate(HiprContext* context, std::uint64_t bytes);
  static void release(HiprContext* context, void* memory);
  static std::uint64_t clock_ns();
  static std::uint64_t clock_ticks();
  static void spins(HiprContext* context);
  static const HiprServices kServices;

  // context_ is the first member of this helper, so a context leads back to its runner.
  struct Bound {
    HiprContext context;
    BlockRunner* runner;
  };
  static BlockRunner& of(HiprContext* context) { return *reinterpret_cast<Bound*>(context)->runner; }

  static void fiber_body(Fiber* self);
  static void on_crash(void* runner, const Crash& crash);
  // Ends the block because of `fault`. Runs on the faulty fiber, which is not resumed any more.
  void give_up(const KernelFault& fault);
  void begin(RunningGrid& grid);
  void end();
  void run_block(std::uint64_t index);
  void run_rows();
  void run_current();
  void park(State state);
  bool count_turn();
  void leave_row();
  void place(std::uint32_t linear);
  Fiber* take_fiber();
  void run_parking();
  void begin_parking();
  void finish_parking();
  void put_back(HipThread& thread);
  // Runs every wave in turn. False: no fiber is available, or the block has failed.
  bool run_waves(bool& all_wait);
  // One pass over the threads: runs each one that can run.
  bool run_ready(std::uint32_t first, std::uint32_t end);
  bool release_wave(std::uint32_t first, std::uint32_t end);
  const void* earliest_site(std::uint32_t first, std::uint32_t end) const;
  bool release_all_steps(std::uint32_t first, std::uint32_t end);
  bool release_barrier(State state);
  void abandon();

  Bound bound_{};
  Seat seat_;
  RunningGrid* grid_ = nullptr;
  std::vector<HipThread> threads_;
  std::vector<Wave> waves_;
  std::unique_ptr<FiberSlab> own_;  // one fiber, for loops
  FiberPool::Slabs slabs_;          // of this turn
  std::vector<Fiber*> idle_;        // of their fibers
  std::uint32_t current_ = 0;       // linear number of the HIP thread that runs
  Fiber* running_fiber_ = nullptr;
  std::uint32_t done_ = 0;
  bool rows_mode_ = false;     // the fiber runs whole rows, not single threads
  bool alternates_ = false;    // a thread of this grid waited in a loop: no more rows
  bool yielded_ = false;       // a thread that waits in a loop can go on
  std::uint32_t spinner_ = 0;  // the thread that last made a turn in a row, and how many in turn
  std::uint32_t spinner_turns_ = 0;
  bool trapped_ = false;
  std::uint32_t operation_ = 0;  // of the block barrier being gathered
  std::int32_t gathered_ = 0;
  std::int32_t barrier_result_ = 0;
};

}  // namespace tf::cpu
