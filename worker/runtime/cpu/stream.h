// SPDX-License-Identifier: Apache-2.0
// Stream: an ordered queue of tasks run one after the other, by a thread of its own or, when it is idle and
// the task is short, by the caller.
//
// Any thread may call anything. Positions count submitted tasks from 1; a position is done when the tasks up
// to it have run. A task only ever waits for positions submitted before it, so waits cannot form a circle.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "worker/runtime/cpu/task.h"

namespace tf::cpu {

class Device;
class Stream;

// A point in a stream that can be waited for.
struct Marker {
  std::shared_ptr<Stream> stream;
  std::uint64_t position = 0;

  bool done() const;
  void wait() const;
};

enum class Where {
  kThread,  // on the stream's thread
  kCaller,  // by the caller when the stream is idle: short tasks, or the caller would wait anyway
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // More than this many waiting tasks make the submitter wait.
  static constexpr std::size_t kMaxQueuedTasks = 1 << 16;

  Stream(Device& device, unsigned flags, int priority, bool is_default);
  ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const { return device_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  bool is_default() const { return is_default_; }
  // Takes part in the ordering with the device's default stream.
  bool is_blocking() const { return !(flags_ & hipStreamNonBlocking); }

  // Appends the task behind everything it must follow (its own stream; the legacy default stream's rule).
  Marker submit(Task task, Where where);
  // Appends a wait for another stream's point. Nothing to do when it is done or our own.
  void submit_wait(const Marker& marker);

  // What this stream's completion means: for the default stream that includes the blocking streams.
  bool idle();
  // Waits for everything submitted so far and takes the stream's error.
  hipError_t synchronize();
  // The first failure of a task since it was last taken.
  hipError_t take_error();
  hipError_t error() const { return static_cast<hipError_t>(error_.load(std::memory_order_acquire)); }

  Marker last();
  // No more tasks will come: what is queued runs, then the thread ends and the stream leaves its device.
  void close();

  bool reached(std::uint64_t position) const {
    // Acquire pairs with complete(): what the tasks wrote is visible.
    return completed_.load(std::memory_order_acquire) >= position;
  }
  void wait(std::uint64_t position);

 private:
  std::uint64_t push(Task task, Where where);
  void order_behind_peers();
  void run_in_caller(std::unique_lock<std::mutex>& lock, Task& task);
  void run_thread();
  void run_batch(std::vector<Task>& batch);
  bool spin_for_work(std::uint64_t& budget_ns) const;
  void complete();
  void start_thread();

  Device& device_;
  const unsigned flags_;
  const int priority_;
  const bool is_default_;

  std::mutex mutex_;  // the queue
  std::condition_variable wake_;
  std::condition_variable space_;
  std::vector<Task> queue_;
  bool started_ = false;
  bool sleeping_ = false;
  bool closing_ = false;
  bool caller_runs_ = false;

  // Written under mutex_; read without by idle checks, pairing with nothing but itself.
  std::atomic<std::uint64_t> submitted_{0};
  // Written by whoever runs the tasks; see reached().
  std::atomic<std::uint64_t> completed_{0};
  // Raised by waiters before they look at completed_, read by complete() after it wrote: both seq_cst, so one
  // of the two sees the other and no wakeup is lost.
  std::atomic<std::uint32_t> waiters_{0};
  std::mutex done_mutex_;
  std::condition_variable done_;
  std::atomic<int> error_{hipSuccess};

  // Up to which position of this stream the default stream has queued a wait, and the reverse. Release after
  // the wait is queued, acquire by the next submitter who relies on it.
  std::atomic<std::uint64_t> default_waits_for_us_{0};
  std::atomic<std::uint64_t> we_wait_for_default_{0};
};

inline bool Marker::done() const { return !stream || stream->reached(position); }
inline void Marker::wait() const {
  if (stream) stream->wait(position);
}

}  // namespace tf::cpu
