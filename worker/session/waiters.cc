// SPDX-License-Identifier: Apache-2.0
// Threads for blocking calls of the runtime.
#include "worker/session/waiters.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace tf::worker {

void WaiterPool::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool WaiterPool::run(const void* object, std::function<void()> job) {
  std::lock_guard lock(mutex_);
  if (stopping_ || jobs_.size() >= kWaiterJobsMax) return false;
  if (idle_ <= jobs_.size() && threads_.size() < kWaiterThreadsMax) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) return false;  // otherwise one of those that run will come to it
    }
  }
  if (object != nullptr) used_.push_back(object);
  jobs_.push_back({object, std::move(job)});
  wake_.notify_one();
  return true;
}

bool WaiterPool::uses(const void* object) const {
  std::lock_guard lock(mutex_);
  return std::find(used_.begin(), used_.end(), object) != used_.end();
}

void WaiterPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.run();
    lock.lock();
    if (job.object != nullptr) used_.erase(std::find(used_.begin(), used_.end(), job.object));
  }
}

}  // namespace tf::worker
