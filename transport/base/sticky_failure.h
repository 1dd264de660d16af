// SPDX-License-Identifier: Apache-2.0
// StickyFailure: the first failure of an endpoint. Later ones are ignored. Any thread.
#pragma once

#include <atomic>
#include <utility>

#include "transport/base/mutex.h"
#include "transport/base/status.h"

namespace tf {

class StickyFailure {
 public:
  bool is_set() const { return set_.load(std::memory_order_acquire); }  // pairs with set()
  Status get() const {
    if (!is_set()) return Status::ok();
    const MutexLock lock(mutex_);
    return failure_;
  }
  // False: a failure is set already and stays. REQUIRES: !reason.is_ok()
  bool set(Status reason) {
    const MutexLock lock(mutex_);
    if (is_set()) return false;
    failure_ = std::move(reason);
    set_.store(true, std::memory_order_release);  // pairs with is_set()
    return true;
  }

 private:
  std::atomic<bool> set_{false};
  mutable Mutex mutex_;
  Status failure_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf
