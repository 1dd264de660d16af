// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cpu/stream.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "worker/runtime/cpu/clock.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

// How long a stream's thread looks for more work before it sleeps: doubled when work came in time, halved
// when not.
constexpr std::uint64_t kMaxSpin_ns = 20'000;
constexpr std::uint64_t kMinSpin_ns = 500;
// How long a waiter looks before it sleeps.
constexpr std::uint64_t kWaitSpin_ns = 5'000;

}  // namespace

Stream::Stream(Device& device, unsigned flags, int priority, bool is_default)
    : device_(device), flags_(flags), priority_(priority), is_default_(is_default) {}

Marker Stream::submit(Task task, Where where) {
  order_behind_peers();
  return Marker{shared_from_this(), push(std::move(task), where)};
}

void Stream::submit_wait(const Marker& marker) {
  if (marker.done() || marker.stream.get() == this) return;
  push([marker] { return marker.wait(), hipSuccess; }, Where::kThread);
}

// The legacy default stream runs after what the blocking streams were given before, and they after it. The
// positions are read before our task is submitted, which is why no circle can arise.
void Stream::order_behind_peers() {
  if (!is_blocking()) return;
  if (!is_default_) {
    const std::shared_ptr<Stream> first = device_.default_stream_if_made();
    if (!first) return;
    const Marker last = first->last();
    if (last.done() || we_wait_for_default_.load(std::memory_order_acquire) >= last.position) return;
    submit_wait(last);
    we_wait_for_default_.store(last.position, std::memory_order_release);
    return;
  }
  for (const std::shared_ptr<Stream>& peer : device_.blocking_streams()) {
    const Marker last = peer->last();
    if (last.done() || peer->default_waits_for_us_.load(std::memory_order_acquire) >= last.position) continue;
    submit_wait(last);
    peer->default_waits_for_us_.store(last.position, std::memory_order_release);
  }
}

std::uint64_t Stream::push(Task task, Where where) {
  std::unique_lock lock(mutex_);
  const std::uint64_t done = completed_.load(std::memory_order_acquire);
  const std::uint64_t before = submitted_.load(std::memory_order_relaxed);
  if (where == Where::kCaller && before == done && !caller_runs_) {
    submitted_.store(before + 1, std::memory_order_release);
    run_in_caller(lock, task);
    return before + 1;
  }
  // A task may submit to its own stream only from a callback, which HIP forbids; so this wait always ends.
  space_.wait(lock, [this] { return queue_.size() < kMaxQueuedTasks; });
  if (!started_) start_thread();
  queue_.push_back(std::move(task));
  const std::uint64_t position = submitted_.load(std::memory_order_relaxed) + 1;
  submitted_.store(position, std::memory_order_release);
  const bool wake = sleeping_ && !caller_runs_;
  lock.unlock();
  if (wake) wake_.notify_one();
  return position;
}

void Stream::run_in_caller(std::unique_lock<std::mutex>& lock, Task& task) {
  caller_runs_ = true;
  lock.unlock();
  const hipError_t status = task();
  task.reset();
  int none = hipSuccess;
  if (status != hipSuccess) error_.compare_exchange_strong(none, status, std::memory_order_acq_rel);
  complete();
  lock.lock();
  caller_runs_ = false;
  const bool wake = sleeping_ && (!queue_.empty() || closing_);
  lock.unlock();
  if (wake) wake_.notify_one();
}

// Called with mutex_ held. The thread keeps the stream alive until it has drained.
void Stream::start_thread() {
  std::thread([self = shared_from_this()] { self->run_thread(); }).detach();
  started_ = true;
}

bool Stream::spin_for_work(std::uint64_t& budget_ns) const {
  const std::uint64_t until = now_ns() + budget_ns;
  const std::uint64_t done = completed_.load(std::memory_order_relaxed);
  do {
    if (submitted_.load(std::memory_order_acquire) != done) {
      budget_ns = std::min(budget_ns * 2, kMaxSpin_ns);
      return true;
    }
    cpu_relax();
  } while (now_ns() < until);
  budget_ns = std::max(budget_ns / 2, kMinSpin_ns);
  return false;
}

void Stream::run_thread() {
  std::vector<Task> batch;
  std::uint64_t spin_ns = kMinSpin_ns;
  thread_state().device = device_.ordinal();
  for (;;) {
    spin_for_work(spin_ns);
    std::unique_lock lock(mutex_);
    sleeping_ = true;
    wake_.wait(lock, [this] { return (!queue_.empty() || closing_) && !caller_runs_; });
    sleeping_ = false;
    if (queue_.empty()) break;
    batch.swap(queue_);
    lock.unlock();
    space_.notify_all();
    run_batch(batch);
  }
  device_.remove(*this);
}

void Stream::run_batch(std::vector<Task>& batch) {
  for (Task& task : batch) {
    const hipError_t status = task();
    task.reset();  // what it holds is released before anyone sees it done
    int none = hipSuccess;
    // Release pairs with the acquire of error() and take_error().
    if (status != hipSuccess) error_.compare_exchange_strong(none, status, std::memory_order_acq_rel);
    complete();
  }
  batch.clear();
}

void Stream::complete() {
  // One executor at a time, so load and store do not race; the store is seq_cst for waiters_, see there.
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  if (waiters_.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(done_mutex_);
  done_.notify_all();
}

void Stream::wait(std::uint64_t position) {
  if (reached(position)) return;
  const std::uint64_t until = now_ns() + kWaitSpin_ns;
  while (now_ns() < until) {
    if (reached(position)) return;
    cpu_relax();
  }
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  {
    std::unique_lock lock(done_mutex_);
    done_.wait(lock, [&] { return completed_.load(std::memory_order_seq_cst) >= position; });
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
}

Marker Stream::last() { return Marker{shared_from_this(), submitted_.load(std::memory_order_acquire)}; }

bool Stream::idle() {
  if (!last().done()) return false;
  if (!is_default_) return true;
  const auto peers = device_.blocking_streams();
  return std::all_of(peers.begin(), peers.end(), [](const auto& peer) { return peer->last().done(); });
}

hipError_t Stream::synchronize() {
  last().wait();
  hipError_t first = take_error();
  if (!is_default_) return first;
  for (const std::shared_ptr<Stream>& peer : device_.blocking_streams()) {
    peer->last().wait();
    const hipError_t status = peer->take_error();
    if (first == hipSuccess) first = status;
  }
  return first;
}

hipError_t Stream::take_error() {
  if (error_.load(std::memory_order_acquire) == hipSuccess) return hipSuccess;
  return static_cast<hipError_t>(error_.exchange(hipSuccess, std::memory_order_acq_rel));
}

void Stream::close() {
  bool threadless = false;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    threadless = !started_;
  }
  wake_.notify_one();
  if (threadless) device_.remove(*this);
}

}  // namespace tf::cpu
