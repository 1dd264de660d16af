// SPDX-License-Identifier: Apache-2.0
// WaiterPool: threads that sit in blocking calls of the runtime (synchronize a stream, event or device), so
// that the executor can go on with requests of the application's other threads.
//
// Threads are started when all are busy, up to kWaiterThreadsMax, and live as long as the pool.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "transport/base/mutex.h"
#include "worker/session/awaited_objects.h"

namespace tf::worker {

inline constexpr std::size_t kWaiterThreadsMax = 64;
inline constexpr std::size_t kWaiterJobsMax = 1024;  // queued behind busy threads

class WaiterPool {
 public:
  WaiterPool() = default;
  WaiterPool(const WaiterPool&) = delete;
  WaiterPool& operator=(const WaiterPool&) = delete;
  ~WaiterPool() { stop(); }

  // False if kWaiterJobsMax jobs are queued already, or no thread can be started. `job` must not throw.
  bool run(const AwaitedObjects& objects, std::function<void()> job);
  // An unfinished job uses `object`. Any thread. REQUIRES: it is not null
  bool uses(const void* object) const;
  // Runs the queued jobs, then joins; add no job afterwards. REQUIRES: nothing that a job waits for is stuck
  // for ever.
  void stop();

 private:
  struct Job {
    AwaitedObjects objects{};
    std::function<void()> run;
  };

  void work();

  mutable Mutex mutex_;
  CondVar wake_;
  std::deque<Job> jobs_ TF_GUARDED_BY(mutex_);
  std::vector<const void*> used_ TF_GUARDED_BY(mutex_);  // by jobs queued or running; an entry for each
  std::vector<std::thread> threads_ TF_GUARDED_BY(mutex_);
  std::size_t idle_ TF_GUARDED_BY(mutex_) = 0;
  bool stopping_ TF_GUARDED_BY(mutex_) = false;
};

}  // namespace tf::worker
