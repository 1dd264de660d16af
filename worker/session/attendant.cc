// SPDX-License-Identifier: Apache-2.0
// Looks after payload from the device while host functions are on streams.
#include "worker/session/attendant.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "worker/base/log.h"

namespace tf::worker {
namespace {

// A host function waits at most twice as long for payload that the executor does not send.
constexpr std::chrono::milliseconds kLookPeriod(5);

}  // namespace

Attendant::~Attendant() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Attendant::callback_queued() {
  {
    const MutexLock lock(mutex_);
    // Awake already: a wake-up for each function would cost the functions more than it helps.
    if (!std::exchange(needed_, true)) changed_.notify_all();
  }
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    log(LogLevel::kWarning, "no thread for payload behind host functions: {}", error.what());
  }
}

void Attendant::run() {
  const MutexLock lock(mutex_);
  for (;;) {
    changed_.wait(mutex_, [this]() TF_REQUIRES(mutex_) { return stopping_ || needed_; });
    changed_.wait_until(mutex_, std::chrono::steady_clock::now() + kLookPeriod,
                        [this]() TF_REQUIRES(mutex_) { return stopping_; });
    if (stopping_) return;
    needed_ = callbacks_.any();
    const MutexUnlock meanwhile(mutex_);
    copies_.help();
  }
}

}  // namespace tf::worker
