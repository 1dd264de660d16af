// SPDX-License-Identifier: Apache-2.0
// WaiterPool: threads that sit in blocking calls of the runtime (synchronize a stream, event or device), so
// that the executor goes on with the requests of the application's other threads.
//
// Threads are started when all are busy, up to kWaiterThreadsMax, and live as long as the pool.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tf::worker {

inline constexpr std::size_t kWaiterThreadsMax = 64;
inline constexpr std::size_t kWaiterJobsMax = 1024;  // queued behind busy threads

class WaiterPool {
 public:
  WaiterPool() = default;
  WaiterPool(const WaiterPool&) = delete;
  WaiterPool& operator=(const WaiterPool&) = delete;
  // Runs what is queued, then joins. REQUIRES: nothing a job waits for is stuck for ever.
  ~WaiterPool();

  // False when kWaiterJobsMax jobs are queued already or no thread can be started. `job` must not throw.
  bool run(std::function<void()> job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace tf::worker
