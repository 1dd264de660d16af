// SPDX-License-Identifier: Apache-2.0
// Breaks: when a thread that runs blocks lets others have its processor for a moment.
//
// Linux preempts a thread when another one wakes up that has had no more than its part, else at a timer tick:
// every 4 ms at 250 Hz (kernel/sched/fair.c of 6.18, check_preempt_wakeup_fair). Threads that pass calls on
// beside kernels waited 0.11 ms on average, one time in a hundred for more than 2 ms
// (docs/performance-log.md). So between two blocks, about every kEvery, a thread yields. That costs a third
// of a microsecond if nobody waits.
//
// Beside busy programs a yield costs much: each of them has a time slice first. Beside eight of them a kernel
// took five times as long as without breaks. So after a break in which others have run for long, the next one
// comes kApart times as much later. Who wakes up meanwhile waits for a tick, as beside those programs.
#pragma once

#include <chrono>
#include <cstdint>

namespace tf::cpu {

// Of one thread. The clock is read only once in some blocks if these are short.
class Breaks {
 public:
  using Nanoseconds = std::uint64_t;
  static constexpr Nanoseconds kEvery = 400'000;
  static constexpr std::uint32_t kMostBlocks = 64;  // between two looks at the clock
  static constexpr Nanoseconds kApart = 8;
  static constexpr Nanoseconds kLongest = 100'000'000;  // between two breaks, if blocks are not longer

  // The thread comes to a grid of so many blocks. They may take longer than the last one's.
  void come_to(std::uint64_t blocks) {
    if (blocks > 1 && left_ > kFirstLook) left_ = kFirstLook;
  }
  // It has no blocks to run for now, so others had its processor.
  void rest() { *this = Breaks(); }

  // Before each block. True: it is time to look at the clock.
  bool looks() { return --left_ == 0; }
  // The clock says `now`. True: it is time for a break; then it has ended().
  bool is_due(Nanoseconds now);
  // REQUIRES: is_due() was asked when the break began
  void ended(Nanoseconds now);

 private:
  // A thread that runs a single block and rests reads no clock.
  static constexpr std::uint32_t kFirstLook = 2;

  std::uint32_t left_ = kFirstLook;  // blocks until the next look
  std::uint32_t apart_ = 1;          // blocks from one look to the next
  Nanoseconds every_ = kEvery;
  Nanoseconds looked_at_ = 0;
  Nanoseconds last_ = 0;  // the end of the last break, or when the thread came; 0: not known yet
};

}  // namespace tf::cpu
