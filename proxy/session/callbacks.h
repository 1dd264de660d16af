// SPDX-License-Identifier: Apache-2.0
// Callbacks: host functions that a stream calls (hipLaunchHostFunc, hipStreamAddCallback).
//
// The worker says when one is due, and holds the stream until it is told that the function has run. The
// functions run on one thread of the library, the pump, which starts with the first callback. They never run
// under a lock, and never while the endpoint is driven. The pump also moves asynchronous copies along while
// no application thread waits.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "proxy/session/connection.h"
#include "proxy/session/transfers.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

inline constexpr std::size_t kCallbacksMax = 65536;  // queued on streams at the same time

class Callbacks {
 public:
  // Called with the stream's status.
  using Function = std::function<void(hipError_t)>;

  explicit Callbacks(Connection& connection) : connection_(connection) {}
  ~Callbacks() { stop(); }

  // Queues `function` on the stream. hipErrorOutOfMemory: too many, or no thread to run it.
  hipError_t add(int device, std::uint64_t stream, Function function);
  // Whether some have not ended yet. The calling thread sees those it knows of.
  bool any() const { return unfinished_.load(std::memory_order_acquire) != 0; }  // pairs with run_due()
  // Called by the connection's observer: `cookie` may run. Unknown cookies are dropped.
  void due(std::uint64_t cookie, hipError_t error);
  // There is an asynchronous copy to move along if nobody waits for it.
  void transfer_started();
  void stop();

 private:
  struct Due {
    std::uint64_t cookie;
    hipError_t error;
  };
  struct Waiting {
    int device;
    std::uint64_t stream;
    std::vector<Reach> copies;  // that must land before it runs
    Function function;
  };
  bool start_locked() TF_REQUIRES(mutex_);
  void run();
  bool run_due();
  void help_transfers() TF_REQUIRES(mutex_);
  void drop_waiting() TF_REQUIRES(mutex_);

  Connection& connection_;
  Mutex mutex_;
  CondVar changed_;
  std::unordered_map<std::uint64_t, Waiting> waiting_ TF_GUARDED_BY(mutex_);  // by cookie
  std::deque<Due> due_ TF_GUARDED_BY(mutex_);
  std::uint64_t next_cookie_ TF_GUARDED_BY(mutex_) = 1;
  std::atomic<std::size_t> unfinished_{0};
  bool transfers_running_ TF_GUARDED_BY(mutex_) = false;
  bool stopping_ TF_GUARDED_BY(mutex_) = false;
  std::thread thread_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::proxy
