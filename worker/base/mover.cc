// SPDX-License-Identifier: Apache-2.0
// Runs the thread that moves payload, and lets other threads help it.
#include "worker/base/mover.h"

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
  if (!moved) life_.end(moved.status());
}

void Mover::run() {
  if (endpoint_.capabilities().steady_mover) stay_on_this_processor();
  while (!life_.ending()) {
    UniqueLock lock(mutex_);
    Result<std::size_t> moved = endpoint_.bulk().move_payload();
    lock.unlock();
    if (!moved) return life_.end(moved.status());
    if (*moved != 0) continue;
    Status waited = endpoint_.wait(Interest::kBulk, Deadline::after(kIdleWait));
    if (!waited.is_ok() && waited.code() != Code::kTimeout) return life_.end(std::move(waited));
  }
}

}  // namespace tf::worker
