// SPDX-License-Identifier: Apache-2.0
// A kernel as kernel/ itself sees it, behind Kernel::owner. Immutable once loaded: any thread.
#pragma once

#include "worker/runtime/cpu/kernel/device/context.h"

namespace tf::cpu {

struct KernelRecord {
  const HiprModule* module = nullptr;
  HiprRun run = nullptr;
  bool parks = true;  // its threads may wait for each other: every one needs a stack of its own
};

}  // namespace tf::cpu
