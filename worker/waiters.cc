// SPDX-License-Identifier: Apache-2.0
// See waiters.h.
#include "worker/waiters.h"

#include <system_error>
#include <utility>

namespace tf::worker {

WaiterPool::~WaiterPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WaiterPool::run(std::function<void()> job) {
  std::lock_guard lock(mutex_);
  if (jobs_.size() >= kWaiterJobsMax) return false;
  if (idle_ <= jobs_.size() && threads_.size() < kWaiterThreadsMax) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) return false;  // otherwise one of those that run will come to it
    }
  }
  jobs_.push_back(std::move(job));
  wake_.notify_one();
  return true;
}

void WaiterPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace tf::worker
