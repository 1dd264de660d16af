// SPDX-License-Identifier: Apache-2.0
// kernel/'s own view of a kernel, behind Kernel::owner. Immutable once loaded: any thread.
#pragma once

#include "worker/runtime/cpu/kernel/device/context.h"

namespace tf::cpu {

struct KernelRecord {
  const HiprModule* module = nullptr;
  HiprRun run = nullptr;
  bool parks = true;   // its threads may wait for each other, so each needs its own stack
  bool spins = false;  // they may do so in a loop: stacks are given when one does (BlockRunner::spins)
};

}  // namespace tf::cpu
