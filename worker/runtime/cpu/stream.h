// SPDX-License-Identifier: Apache-2.0
// Stream: an ordered queue of tasks. They run one after the other on the stream's own thread, or, if the
// stream is idle and the task is short, on the caller's.
//
// Any thread may call anything. Positions count submitted tasks from 1; a position is done when the tasks up
// to it have run. A task only ever waits for positions submitted before it, so waits cannot form a cycle.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "transport/base/biased_mutex.h"
#include "transport/base/mutex.h"
#include "worker/runtime/common/compute_units.h"
#include "worker/runtime/cpu/spin_budget.h"
#include "worker/runtime/cpu/task_queue.h"

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
  kCaller,  // by the caller if the stream is idle: for short tasks, or if the caller waits anyway
  kAtOnce,  // the same for tasks of a microsecond or less; other submitters may wait for them
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // With more waiting tasks than this, the submitter waits.
  static constexpr std::size_t kMaxQueuedTasks = 1 << 16;

  // `units`: nothing when the program gave no mask.
  Stream(Device& device, unsigned flags, int priority, bool is_default, runtime::ComputeUnits units = {});
  ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const { return device_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  // No other stream of the process ever has it.
  std::uint64_t id() const { return id_; }
  const runtime::ComputeUnits& compute_units() const { return units_; }
  bool is_default() const { return is_default_; }
  // Whether it is ordered with the device's default stream.
  bool is_blocking() const { return !(flags_ & hipStreamNonBlocking); }

  // Appends a task, hipError_t body(), after everything it must follow (its own stream; the legacy default
  // stream's rule; late_work.h), and returns its position. If a task fails, the device fails.
  template <typename Body>
  std::uint64_t submit(Body&& body, Where where) {
    order_behind_peers();
    return push(std::forward<Body>(body), where);
  }
  // Runs body(position) as the next task, like kAtOnce; does nothing if the stream is busy.
  template <typename Body>
  std::optional<std::uint64_t> run_if_idle(Body&& body);
  // Appends a wait for another stream's point. Does nothing if the point is done or our own.
  void submit_wait(const Marker& marker);

  // What the default stream has so far is done before this stream is, if they are ordered with each other.
  void follow_default();

  // Whether this stream is done; for the default stream that includes the blocking streams.
  bool idle();
  // Waits for everything submitted so far.
  hipError_t synchronize();

  std::uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  Marker at(std::uint64_t position) { return Marker{shared_from_this(), position}; }
  Marker last() { return at(submitted()); }
  bool done() const { return reached(submitted()); }
  // No more tasks will come: queued tasks run, then the thread ends and the stream leaves its device.
  void close();

  bool reached(std::uint64_t position) const {
    // Acquire pairs with complete(): what the tasks wrote is visible.
    return completed_.load(std::memory_order_acquire) >= position;
  }
  void wait(std::uint64_t position);

 private:
  template <typename Body>
  std::uint64_t push(Body&& body, Where where);
  bool is_free() const TF_REQUIRES(mutex_) { return !caller_runs_ && done(); }
  template <typename Body>
  std::uint64_t run_at_once(Body&& body) TF_REQUIRES(mutex_);
  template <typename Body>
  std::uint64_t run_in_caller(Body&& body) TF_REQUIRES(mutex_);
  void wait_for_space() TF_REQUIRES(mutex_);
  void start_thread() TF_REQUIRES(mutex_);
  bool show_queued() TF_REQUIRES(mutex_);

  void wake_if_asleep();

  void order_behind_peers();
  void order_behind_late_work();
  void run_thread();
  void wake();
  bool wait_for_work();
  bool has_ended();
  void sleep_for_work();
  std::uint64_t run_queued(std::uint64_t began);
  void count_busy(std::uint64_t ns);
  void sleep_until(std::uint64_t position);
  void note(hipError_t status);
  void complete();

  Device& device_;
  const unsigned flags_;
  const int priority_;
  const std::uint64_t id_;
  const bool is_default_;
  const runtime::ComputeUnits units_;

  // Submitting and completing must be fast, and check for sleepers after the light fence. A thread about to
  // sleep announces that, and checks once more after the heavy fence. One of the two sees the other.
  const AsymmetricFence fence_;

  // Submitters write from here to the next cache line; the thread reads none of it for each task.
  alignas(64) BiasedMutex mutex_;  // for submitters: the producer's side of queue_, and the flags
  TaskQueue queue_;
  bool started_ TF_GUARDED_BY(mutex_) = false;
  bool caller_runs_ TF_GUARDED_BY(mutex_) = false;  // until it is done the thread sees nothing queued
  // A lower bound; updated rarely, since the thread writes the real count.
  std::uint64_t known_completed_ TF_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> closing_{false};  // relaxed: set under mutex_, and checked again under it

  std::uint64_t waited_ns_ = 0;  // the thread's: for other streams, and not counted yet

  Mutex sleep_mutex_;  // for the thread's sleep, with wake_
  CondVar wake_;
  std::atomic<bool> sleeping_{false};  // the thread sleeps, and nobody has woken it yet; see fence_

  // Written under mutex_; release, so that idle checks see everything submitted before.
  std::atomic<std::uint64_t> submitted_{0};
  // Written by the thread that runs the tasks; see reached().
  alignas(64) std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint32_t> waiters_{0};  // for completed_; see fence_
  SpinBudget wait_patience_;
  Mutex done_mutex_;
  CondVar done_;

  // The position of this stream up to which the default stream has queued a wait, and the reverse. Stored
  // with release after the wait is queued, loaded with acquire by the next submitter who relies on it.
  std::atomic<std::uint64_t> default_waits_for_us_{0};
  std::atomic<std::uint64_t> we_wait_for_default_{0};
  // LateWork::count() up to which we have queued waits. Stored and loaded likewise.
  std::atomic<std::uint64_t> late_work_seen_{0};
};

inline bool Marker::done() const { return !stream || stream->reached(position); }
inline void Marker::wait() const {
  if (stream) stream->wait(position);
}

template <typename Body>
std::optional<std::uint64_t> Stream::run_if_idle(Body&& body) {
  order_behind_peers();
  const MutexLock lock(mutex_);
  if (!is_free()) return std::nullopt;
  return run_at_once([&] { return body(submitted() + 1); });
}

template <typename Body>
std::uint64_t Stream::push(Body&& body, Where where) {
  std::uint64_t position = 0;
  bool has_news = false;
  {
    const MutexLock lock(mutex_);
    if (where != Where::kThread && is_free()) {
      if (where == Where::kAtOnce) return run_at_once(body);
      position = run_in_caller(body);
    } else {
      wait_for_space();
      if (!started_) start_thread();
      queue_.push(std::forward<Body>(body));
      position = submitted() + 1;
      submitted_.store(position, std::memory_order_release);
    }
    has_news = show_queued();
  }
  if (has_news) wake_if_asleep();
  return position;
}

template <typename Body>
std::uint64_t Stream::run_at_once(Body&& body) {
  note(body());
  const std::uint64_t position = submitted() + 1;
  submitted_.store(position, std::memory_order_release);
  complete();
  return position;
}

template <typename Body>
std::uint64_t Stream::run_in_caller(Body&& body) {
  const std::uint64_t position = submitted() + 1;
  submitted_.store(position, std::memory_order_release);
  caller_runs_ = true;
  {
    const MutexUnlock running(mutex_);
    note(body());
    complete();
  }
  caller_runs_ = false;
  return position;
}

}  // namespace tf::cpu
