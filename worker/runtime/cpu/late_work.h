// SPDX-License-Identifier: Apache-2.0
// LateWork: fills and copies of synchronous calls that have returned before them. Whatever is submitted after
// such a call, to any stream, runs after its work.
//
// hipMemset() of device memory, and a hipMemcpy() within one device, are work of a stream, and the call does
// not wait for it (docs/copy-semantics.md). HIP leaves it to the program to order other streams behind that.
// Here those wait for the work when they are next used, as at the worker (worker/session/late_fills.h): no
// program sees less than if the call had waited. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/stream.h"

namespace tf::cpu {

class LateWork {
 public:
  void add(Marker work);
  // Changes with every add(). Acquire pairs with add(): pending() knows what was counted.
  std::uint64_t count() const { return count_.load(std::memory_order_acquire); }
  // The work that is not done yet: of each stream its last.
  std::vector<Marker> pending() const;
  // Waits for it: before others get memory, or access to it changes, which no stream orders.
  void wait() const;

 private:
  std::atomic<std::uint64_t> count_{0};
  mutable Mutex mutex_;
  std::vector<Marker> work_ TF_GUARDED_BY(mutex_);
};

// For a synchronous call whose work is at `position`: waits for it, unless may_be_late() says that the call
// may return before.
template <typename MayBeLate>
void wait_unless_late(Stream& stream, std::uint64_t position, LateWork& late, MayBeLate&& may_be_late) {
  if (stream.reached(position)) return;
  if (may_be_late())
    late.add(stream.at(position));
  else
    stream.wait(position);
}

}  // namespace tf::cpu
