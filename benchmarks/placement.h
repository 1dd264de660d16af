// SPDX-License-Identifier: Apache-2.0
// Which processor a measuring process runs on. Without effect where the system refuses.
#pragma once

#include <sched.h>

namespace tf::bench {

enum class Processor { kFirst, kLast };

// To the first or last processor that this thread may use.
void pin_to(Processor which);
// To all processors again that the program was started with. REQUIRES: called first before any pin_to().
void unpin();

// Off the processor that this thread (or the parent it was forked from) is pinned to, so that two ends really
// run at the same time.
void leave_to_another_processor();

// Where this thread may run is again as it was when the object goes.
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

// Keeps this thread on the first processor it may use for as long as the object lives: a limit that two
// spinning ends share would be no limit while the scheduler has them on one processor.
class PinnedHere {
 public:
  PinnedHere() { pin_to(Processor::kFirst); }

 private:
  KeepPlacement kept_;
};

}  // namespace tf::bench
