// SPDX-License-Identifier: Apache-2.0
// The processor that a measuring process runs on. No effect if the system refuses.
#pragma once

#include <sched.h>

namespace tf::bench {

enum class Processor { kFirst, kLast };

// Pins this thread to the first or last processor that it may use.
void pin_to(Processor which);
// Allows all processors again that the program was started with. REQUIRES: called once before any pin_to().
void unpin();

// Moves off the processor that this thread (or the parent it was forked from) is pinned to, so that two ends
// really run at the same time.
void leave_to_another_processor();

// Restores this thread's allowed processors when the object is destroyed.
class KeepPlacement {
 public:
  KeepPlacement();
  KeepPlacement(const KeepPlacement&) = delete;
  KeepPlacement& operator=(const KeepPlacement&) = delete;
  ~KeepPlacement();

 private:
  cpu_set_t before_;
  bool valid_;
};

// Keeps this thread on the first processor it may use, for the object's lifetime: with two spinning ends on
// one processor the result would be no limit.
class PinnedHere {
 public:
  PinnedHere() { pin_to(Processor::kFirst); }

 private:
  KeepPlacement kept_;
};

}  // namespace tf::bench
