// SPDX-License-Identifier: Apache-2.0
// Asymmetric fences: cheap on the hot side, expensive on the cold side.
//
// Two threads that each store and then load what the other stores (Dekker) need a full fence in between, or
// each may miss the other's store. A full fence stalls the processor until all its stores have drained. If
// one side does this for every message and the other only before it sleeps, the hot side can skip its fence:
// the cold side calls membarrier(), which makes every processor that runs a thread of ours execute a fence.
//   hot side:  store A; light(); load B          cold side:  store B; heavy(); load A
// If the heavy fence hits the hot side after its store, the cold side sees A. If it hits before the store,
// the hot side's load comes later and sees B.
#pragma once

#include <atomic>

#include "transport/base/fence.h"

namespace tf {

// Registers this process, so that barriers of other processes reach its threads. False if the kernel or a
// sandbox does not allow it. Cheap, except for the first call in a process that already has threads (10 ms).
bool register_for_barriers();
// Makes every processor that runs a thread of a registered process execute a full fence. False if it did not
// happen: the kernel is out of memory just now. REQUIRES: this process is registered.
bool fence_everywhere();
// The same, and never fails. If the process has since lost the right to the call (a sandbox), it waits
// instead, much longer than any processor holds back a store.
void fence_everywhere_surely();

// Both fences, for threads of one process.
class AsymmetricFence {
 public:
  AsymmetricFence() : barriers_(register_for_barriers()) {}
  void light() const {
    if (barriers_) [[likely]]
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      full_fence();
  }
  void heavy() const {
    full_fence();
    if (barriers_) fence_everywhere_surely();
  }

 private:
  const bool barriers_;
};

}  // namespace tf
