// SPDX-License-Identifier: Apache-2.0
// Fences for two sides of which only one is in a hurry.
//
// Two threads that each store and then look at what the other stores (Dekker) need a full fence in between,
// or both may miss the other's store. It makes a processor wait until all its stores have left it. Where one
// side does this for every message and the other only before it sleeps, the first does without: the second
// has every processor that runs a thread of ours fence, by the system call membarrier().
//   quick side:  store A; light(); load B          slow side:  store B; heavy(); load A
// If the heavy fence finds the quick side behind its store, the slow side sees A; if before it, the quick
// side's load comes later and sees B.
#pragma once

#include <atomic>

#include "transport/base/fence.h"

namespace tf {

// Lets barriers of other processes reach this one's threads. False where the kernel, or who confines us, does
// not know them. Cheap but for the first time in a process with threads (10 ms).
bool register_for_barriers();
// Every processor that runs a thread of a registered process fences. False when it did not happen: no memory,
// just now. REQUIRES: this process is registered.
bool fence_everywhere();
// The same for who cannot go on without. A process that has lost the right to the call since (a sandbox)
// waits instead, for much longer than any processor keeps a store to itself.
void fence_everywhere_surely();

// The two fences between threads of this process.
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
