// SPDX-License-Identifier: Apache-2.0
// Callbacks: host functions that a stream calls (hipLaunchHostFunc, hipStreamAddCallback), and copies whose
// payload is read when the stream gets there.
//
// The worker says when one is due, and holds the stream until it is told that the function has run, or has
// the payload. So functions that are due at the same time belong to different streams. They run on threads
// of the library, the pumps; the first starts with the first callback. They never run under a lock, and
// never while the endpoint is driven.
//
// One pump leads: it reads the worker's notices, runs functions, and moves asynchronous copies along while no
// application thread waits. If a function keeps it for a while, another pump leads from then on, because the
// function may wait for another stream's function or copy.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "proxy/session/connection.h"
#include "proxy/session/transfers.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

inline constexpr std::size_t kCallbacksMax = 65536;  // queued on streams at the same time
inline constexpr std::size_t kPumpsMax = 64;         // functions that run at the same time

// Hears of host functions. Any thread.
class FunctionObserver {
 public:
  // One is about to be queued; it was not.
  virtual void function_queued() = 0;
  virtual void function_withdrawn() = 0;
  // One is about to run: the program's memory must be as the work before it has left it. A failure has lost
  // the connection.
  virtual hipError_t function_begins() = 0;
  // It has run, and the work behind it may go on: it must find what the function has written.
  virtual void function_ended() = 0;
  // It was none of the program's, and has written nothing.
  virtual void copy_ended() = 0;

 protected:
  ~FunctionObserver() = default;
};

class Callbacks {
 public:
  // Called with the stream's status.
  using Function = std::function<void(hipError_t)>;

  // `connection` outlives it; `observer` is used until stop().
  Callbacks(Connection& connection, FunctionObserver& observer)
      : connection_(connection), observer_(observer) {}
  ~Callbacks() { stop(); }

  // The payload of a copy: the program's memory, or what was packed into `room`.
  using Payload = std::function<std::span<const std::byte>(std::vector<std::byte>& room)>;

  // Queues `function` on the stream. hipErrorOutOfMemory: too many, or no thread to run it.
  hipError_t add(int device, std::uint64_t stream, Function function);
  // Queues a copy of at most protocol::kTurnPayloadMax bytes. Sets the request's cookie.
  hipError_t add_copy(int device, protocol::CopyInTurnRequest& request, Payload payload);
  // Whether some have not ended yet. The calling thread sees those it knows of.
  bool any() const { return unfinished_.load(std::memory_order_acquire) != 0; }  // pairs with retire()
  // The same of functions, which may write the program's memory.
  bool any_function() const { return functions_.load(std::memory_order_acquire) != 0; }  // likewise
  // The calling thread is a pump, so in a function.
  bool is_pump();
  // Called by the connection's observer: `cookie` may run. Unknown cookies are dropped.
  // `output`: what kernels had printed before it (ReplyPrefix::output).
  void due(std::uint64_t cookie, hipError_t error, std::uint32_t output);
  // The same: it will never be due, since the worker could not queue it.
  void refused(std::uint64_t cookie);
  // There is an asynchronous copy to move along if nobody waits for it.
  void transfer_started();
  void stop();

 private:
  struct Due {
    std::uint64_t cookie;
    hipError_t error;
    std::uint32_t output;
    bool refused;  // it will not run
  };
  struct Waiting {
    int device;
    std::uint64_t stream;
    std::vector<Reach> copies;  // that must land before it runs
    Function function;
    Payload payload;  // if there is no function
  };
  template <typename Request>
  hipError_t queue(int device, Request& request, Waiting waiting);
  void retire(const Waiting& waiting);
  void withdraw(std::uint64_t cookie);
  bool start_pump() TF_REQUIRES(mutex_);
  void tell_pumps() TF_REQUIRES(mutex_);
  void run();
  void stand_by() TF_REQUIRES(mutex_);
  void lead() TF_REQUIRES(mutex_);
  void run_due() TF_REQUIRES(mutex_);
  void note(const Due& due);
  void call(Waiting& waiting, const Due& due);
  void send(const Payload& payload, const Due& due);
  void help_transfers() TF_REQUIRES(mutex_);
  bool any_work() const TF_REQUIRES(mutex_) {
    return transfers_running_ || !waiting_.empty() || !due_.empty();
  }
  void drop_waiting() TF_REQUIRES(mutex_);

  Connection& connection_;
  FunctionObserver& observer_;
  Mutex mutex_;
  CondVar changed_;                                                           // for the leader
  CondVar needed_;                                                            // for one of the others
  std::unordered_map<std::uint64_t, Waiting> waiting_ TF_GUARDED_BY(mutex_);  // by cookie
  std::deque<Due> due_ TF_GUARDED_BY(mutex_);
  std::uint64_t next_cookie_ TF_GUARDED_BY(mutex_) = 1;
  std::atomic<std::size_t> unfinished_{0};
  std::atomic<std::size_t> functions_{0};  // of them
  bool transfers_running_ TF_GUARDED_BY(mutex_) = false;
  bool stopping_ TF_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> pumps_ TF_GUARDED_BY(mutex_);
  std::size_t running_ TF_GUARDED_BY(mutex_) = 0;  // pumps that are in a function
  std::thread::id leader_ TF_GUARDED_BY(mutex_);
  bool leader_is_running_ TF_GUARDED_BY(mutex_) = false;  // a function
  bool is_watched_ TF_GUARDED_BY(mutex_) = false;         // the leader, by another pump
  std::uint64_t functions_started_ TF_GUARDED_BY(mutex_) = 0;
};

}  // namespace tf::proxy
