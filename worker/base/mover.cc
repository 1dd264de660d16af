// SPDX-License-Identifier: Apache-2.0
// Runs the thread that moves payload, and lets other threads help it.
#include "worker/base/mover.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "transport/base/deadline.h"
#include "transport/base/mutex.h"
#include "transport/base/processor.h"

namespace tf::worker {
namespace {

constexpr std::chrono::seconds kIdleWait{1};  // upper bound of a sleep; wake-ups do not depend on it

}  // namespace

void Mover::start() {
  thread_ = std::thread([this] { run(); });
}

void Mover::join() {
  if (thread_.joinable()) thread_.join();
}

void Mover::drive() {
  if (endpoint_.capabilities().steady_mover) return;
  if (!mutex_.try_lock()) return;
  const MutexLock lock(mutex_, std::adopt_lock);
  Result<std::size_t> moved = endpoint_.bulk().move_payload();
  look();
  if (!moved) life_.end(moved.status());
}

void Mover::note_end(const BulkCompletion& completion, std::uint64_t& ended_ns) {
  const MutexLock lock(watching_);
  watched_.push_back({&completion, &ended_ns});
  any_watched_.store(true, std::memory_order_relaxed);
}

void Mover::note_if_done(const Watched& watched) {
  if (*watched.ended_ns != 0 || !watched.completion->done()) return;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  *watched.ended_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

void Mover::look_at_watched() {
  const MutexLock lock(watching_);
  for (const Watched& each : watched_) note_if_done(each);
}

void Mover::forget(const BulkCompletion& completion) {
  const MutexLock lock(watching_);
  const auto found = std::ranges::find(watched_, &completion, &Watched::completion);
  if (found == watched_.end()) return;
  note_if_done(*found);
  watched_.erase(found);
  any_watched_.store(!watched_.empty(), std::memory_order_relaxed);
}

void Mover::run() {
  if (endpoint_.capabilities().steady_mover) stay_on_this_processor();
  while (!life_.ending()) {
    UniqueLock lock(mutex_);
    Result<std::size_t> moved = endpoint_.bulk().move_payload();
    lock.unlock();
    look();
    if (!moved) return life_.end(moved.status());
    if (*moved != 0) continue;
    Status waited = endpoint_.wait(Interest::kBulk, Deadline::after(kIdleWait));
    if (!waited.is_ok() && waited.code() != Code::kTimeout) return life_.end(std::move(waited));
  }
}

}  // namespace tf::worker
