// SPDX-License-Identifier: Apache-2.0
// Threads for blocking calls of the runtime.
#include "worker/session/waiters.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "transport/base/mutex.h"

namespace tf::worker {

void WaiterPool::stop() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

bool WaiterPool::run(const AwaitedObjects& objects, std::function<void()> job) {
  const MutexLock lock(mutex_);
  if (stopping_ || jobs_.size() >= kWaiterJobsMax) return false;
  if (idle_ <= jobs_.size() && threads_.size() < kWaiterThreadsMax) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) return false;  // otherwise one of those that run will come to it
    }
  }
  for (const void* const object : objects)
    if (object != nullptr) used_.push_back(object);
  jobs_.push_back({objects, std::move(job)});
  wake_.notify_one();
  return true;
}

bool WaiterPool::uses(const void* object) const {
  const MutexLock lock(mutex_);
  return std::find(used_.begin(), used_.end(), object) != used_.end();
}

void WaiterPool::work() {
  UniqueLock lock(mutex_);
  for (;;) {
    ++idle_;
    wake_.wait(mutex_, [this]() TF_REQUIRES(mutex_) { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.run();
    lock.lock();
    for (const void* const object : job.objects)
      if (object != nullptr) used_.erase(std::find(used_.begin(), used_.end(), object));
  }
}

}  // namespace tf::worker
