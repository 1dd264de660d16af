// SPDX-License-Identifier: Apache-2.0
// Runs a stream's tasks in order, on its thread or the caller's.
#include "worker/runtime/cpu/stream.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/clock.h"
#include "worker/runtime/cpu/kernel/slices.h"
#include "worker/runtime/cpu/kernel/turns.h"
#include "worker/runtime/cpu/kernel_api.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

// Polls from `start` on. False: it has not come, and sleeping is better.
template <typename Done>
bool spin(Done done, std::uint64_t start, SpinBudget& patience) {
  const Turns* const turns = Turns::of_process();
  const std::uint64_t budget = patience.at(start);
  std::uint64_t spun = 0;
  while (spun < budget) {
    if (done()) return true;
    const std::uint64_t before = spun;
    if (before >= kSpinAlone_ns && turns != nullptr && turns->crowded()) break;
    if (before < kSpinAlone_ns)
      cpu_relax();
    else
      std::this_thread::yield();
    spun = now_ns() - start;
    // The thread that ran may have been the one we wait for; then polling again pays off.
    if (before >= kSpinAlone_ns && !done() && patience.yielded(start + spun, spun - before)) break;
  }
  return done();
}

constexpr unsigned kTasksPerCount = 64;  // of a stream that never rests, whose time is still shown

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Stream::Stream(Device& device, unsigned flags, int priority, bool is_default, runtime::ComputeUnits units)
    : device_(device),
      flags_(flags),
      priority_(priority),
      id_(next_id()),
      is_default_(is_default),
      units_(std::move(units)) {}

void Stream::submit_wait(const Marker& marker) {
  if (marker.done() || marker.stream.get() == this) return;
  push(
      [this, marker] {
        const std::uint64_t start = now_ns();
        rest();
        marker.wait();
        waited_ns_ += now_ns() - start;
        return hipSuccess;
      },
      Where::kThread);
}

// The legacy default stream runs after the earlier work of the blocking streams, and they run after its
// earlier work. The positions are read before our task is submitted, so no cycle can arise.
void Stream::order_behind_peers() {
  order_behind_late_work();
  if (!is_blocking()) return;
  if (!is_default_) return follow_default();
  for (const std::shared_ptr<Stream>& peer : device_.busy_streams()) {
    const Marker last = peer->last();
    if (last.done() || peer->default_waits_for_us_.load(std::memory_order_acquire) >= last.position) continue;
    submit_wait(last);
    peer->default_waits_for_us_.store(last.position, std::memory_order_release);
  }
}

void Stream::follow_default() {
  if (is_default_ || !is_blocking()) return;
  Stream* const first = device_.default_stream_if_made();
  if (!first) return;
  const std::uint64_t last = first->submitted();
  if (first->reached(last) || we_wait_for_default_.load(std::memory_order_acquire) >= last) return;
  submit_wait(first->at(last));
  we_wait_for_default_.store(last, std::memory_order_release);
}

// The default stream's rule covers what is late there, for the streams that are ordered with it.
void Stream::order_behind_late_work() {
  const LateWork& late = Runtime::get().late_work;
  const std::uint64_t count = late.count();
  if (late_work_seen_.load(std::memory_order_acquire) == count) return;
  for (const Marker& work : late.pending()) {
    const bool ordered = work.stream->is_default() && is_blocking() && &work.stream->device_ == &device_;
    if (!ordered) submit_wait(work);
  }
  late_work_seen_.store(count, std::memory_order_release);
}

// Only a callback could submit to its own stream, which HIP forbids; so this always ends.
void Stream::wait_for_space() {
  while (submitted() - known_completed_ >= kMaxQueuedTasks) {
    known_completed_ = completed_.load(std::memory_order_acquire);
    if (submitted() - known_completed_ < kMaxQueuedTasks) return;
    const std::uint64_t half = submitted() - kMaxQueuedTasks / 2;
    const MutexUnlock waiting(mutex_);
    wait(half);
  }
}

// The thread keeps the stream alive until it has drained.
void Stream::start_thread() {
  std::thread([self = shared_from_this()] { self->run_thread(); }).detach();
  started_ = true;
}

// Shows the queued tasks to the thread, unless a caller is running one. True: call wake_if_asleep(), with
// the mutex released.
bool Stream::show_queued() {
  return !caller_runs_ && (queue_.publish() || closing_.load(std::memory_order_relaxed));
}

void Stream::wake_if_asleep() {
  fence_.light();  // pairs with sleep_for_work()
  if (sleeping_.load(std::memory_order_relaxed)) wake();
}

void Stream::wake() {
  {
    const MutexLock lock(sleep_mutex_);
    sleeping_.store(false, std::memory_order_relaxed);
  }
  wake_.notify_one();
}

void Stream::run_thread() {
  SpinBudget patience;
  Slices& slices = Slices::own();
  thread_state().device = device_.ordinal();
  for (std::uint64_t began = now_ns();;) {
    const std::uint64_t start = run_queued(began);
    rest();
    slices.rests_after(Slices::Time(start - began));
    if (!spin([this] { return queue_.has_next(); }, start, patience) && !wait_for_work()) break;
    began = now_ns();
    patience.learn(began - start);
  }
  device_.remove(*this);
}

// False: nothing more will come.
bool Stream::wait_for_work() {
  while (!queue_.has_next()) {
    if (has_ended()) return false;
    sleep_for_work();
  }
  return true;
}

// A caller that still runs a task looks for the thread afterwards.
bool Stream::has_ended() {
  if (!closing_.load(std::memory_order_relaxed)) return false;
  const MutexLock lock(mutex_);
  return !caller_runs_ && !queue_.has_next();
}

void Stream::sleep_for_work() {
  const MutexLock lock(sleep_mutex_);
  sleeping_.store(true, std::memory_order_relaxed);
  fence_.heavy();  // pairs with wake_if_asleep()
  if (queue_.has_next() || has_ended()) {
    sleeping_.store(false, std::memory_order_relaxed);
    return;
  }
  wake_.wait(sleep_mutex_, [this] { return !sleeping_.load(std::memory_order_relaxed); });
}

// What other streams do while this one waits for them is theirs.
void Stream::count_busy(std::uint64_t ns) {
  ns -= std::min(ns, std::exchange(waited_ns_, 0));
  std::uint64_t* const shown = Runtime::get().busy_time.load(std::memory_order_acquire);
  if (shown != nullptr) std::atomic_ref(*shown).fetch_add(ns, std::memory_order_relaxed);
}

// Busy since `began`. Returns until when: that is counted.
std::uint64_t Stream::run_queued(std::uint64_t began) {
  std::uint64_t counted = began;
  unsigned run = 0;
  while (Task* const task = queue_.front()) {
    const hipError_t status = (*task)();
    task->reset();  // what it holds is released before anyone sees it done
    note(status);
    queue_.pop();
    // Of what may be the last task before it is done: whoever waits for it may end the process.
    if (++run % kTasksPerCount == 0 || !queue_.has_next()) {
      const std::uint64_t now = now_ns();
      count_busy(now - counted);
      counted = now;
      Slices::own().running_for(Slices::Time(now - began));
    }
    complete();
  }
  return counted;
}

void Stream::note(hipError_t status) {
  if (status != hipSuccess) device_.fail(status, "work on it could not be done");
}

void Stream::complete() {
  // One executor at a time, so load and store do not race. Release: what the tasks wrote, see reached().
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  fence_.light();  // pairs with sleep_until()
  if (waiters_.load(std::memory_order_relaxed) == 0) return;
  const MutexLock lock(done_mutex_);
  done_.notify_all();
}

void Stream::wait(std::uint64_t position) {
  if (reached(position)) return;
  const std::uint64_t start = now_ns();
  if (!spin([&] { return reached(position); }, start, wait_patience_)) sleep_until(position);
  wait_patience_.learn(now_ns() - start);
}

void Stream::sleep_until(std::uint64_t position) {
  waiters_.fetch_add(1, std::memory_order_relaxed);
  fence_.heavy();  // pairs with complete()
  {
    const MutexLock lock(done_mutex_);
    done_.wait(done_mutex_, [&] { return reached(position); });
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
}

bool Stream::idle() { return done() && (!is_default_ || device_.busy_streams().empty()); }

hipError_t Stream::synchronize() {
  wait(submitted());
  if (is_default_)
    for (const std::shared_ptr<Stream>& peer : device_.blocking_streams()) peer->wait(peer->submitted());
  return device_.failure();
}

void Stream::close() {
  bool threadless = false;
  {
    const MutexLock lock(mutex_);
    closing_.store(true, std::memory_order_relaxed);
    threadless = !started_;
  }
  wake_if_asleep();
  if (threadless) device_.remove(*this);
}

}  // namespace tf::cpu
