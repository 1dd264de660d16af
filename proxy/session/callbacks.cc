// SPDX-License-Identifier: Apache-2.0
// Runs host functions of streams on a thread of the library.
#include "proxy/session/callbacks.h"

#include <chrono>
#include <utility>

#include "proxy/base/thread.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

// One round of driving; limits how long stop() and a lost session wait for the pump.
constexpr std::chrono::milliseconds kDriveRound(50);
// An application thread usually waits for its copy soon; only then the pump steps in.
constexpr std::chrono::milliseconds kTransferGrace(2);

}  // namespace

bool Callbacks::start_locked() {
  if (stopping_) return false;
  if (thread_.joinable()) return true;
  return start_thread(thread_, "hip-pump", [this] { run(); });
}

hipError_t Callbacks::add(int device, std::uint64_t stream, Function function) {
  std::uint64_t cookie = 0;
  Streams& streams = connection_.streams();
  // Only copies that certainly precede it: what we wait for must not itself need a callback.
  std::vector<Reach> copies = streams.copies_of(device, stream, streams.transfers().last_sequence());
  std::erase_if(copies, [](const Reach& reach) { return !reach.direct; });
  {
    const MutexLock lock(mutex_);
    if (waiting_.size() >= kCallbacksMax || !start_locked()) return hipErrorOutOfMemory;
    cookie = next_cookie_++;
    waiting_.emplace(cookie, Waiting{device, stream, std::move(copies), std::move(function)});
  }
  unfinished_.fetch_add(1, std::memory_order_relaxed);
  protocol::HostCallbackRequest request{};
  request.stream = stream;
  request.cookie = cookie;
  hipError_t error = connection_.post(device, request);
  if (error == hipSuccess) {
    changed_.notify_one();
  } else {
    unfinished_.fetch_sub(1, std::memory_order_relaxed);
    decltype(waiting_)::node_type dropped;  // destroyed after the lock, as in drop_waiting()
    const MutexLock lock(mutex_);
    dropped = waiting_.extract(cookie);
  }
  return error;
}

void Callbacks::due(std::uint64_t cookie, hipError_t error) {
  const MutexLock lock(mutex_);
  if (!waiting_.contains(cookie)) return;
  due_.push_back({cookie, error});  // limited by waiting_: run_due() removes unknown cookies
  if (due_.size() > kCallbacksMax) due_.pop_front();
  changed_.notify_one();
}

void Callbacks::transfer_started() {
  const MutexLock lock(mutex_);
  if (transfers_running_) return;
  transfers_running_ = start_locked();
  changed_.notify_one();
}

void Callbacks::stop() {
  UniqueLock lock(mutex_);
  stopping_ = true;
  changed_.notify_one();
  if (!thread_.joinable()) return;
  std::thread thread = std::move(thread_);
  lock.unlock();
  thread.join();
}

// Runs one callback that is due. False: there is none.
bool Callbacks::run_due() {
  Waiting waiting{};
  Due due{};
  {
    const MutexLock lock(mutex_);
    if (due_.empty()) return false;
    due = due_.front();
    due_.pop_front();
    auto found = waiting_.find(due.cookie);
    if (found == waiting_.end()) return true;
    waiting = std::move(found->second);
    waiting_.erase(found);
  }
  // The stream has passed the earlier copies; their bytes may still be in flight, on the other plane.
  connection_.streams().transfers().await(waiting.copies);
  waiting.function(due.error);
  unfinished_.fetch_sub(1, std::memory_order_release);  // pairs with any()
  connection_.end_callback(due.cookie);
  return true;
}

void Callbacks::help_transfers() {
  changed_.wait_until(mutex_, std::chrono::steady_clock::now() + kTransferGrace,
                      [this]() TF_REQUIRES(mutex_) { return stopping_ || !waiting_.empty(); });
  bool running = false;
  {
    const MutexUnlock meanwhile(mutex_);
    running = connection_.streams().transfers().sweep();
    if (running) (void)connection_.queue().drive(Deadline::after(kDriveRound));
  }
  transfers_running_ = running;
}

// What a function holds may be the program's, whose code runs when it is destroyed: never under the lock.
void Callbacks::drop_waiting() {
  decltype(waiting_) dropped;
  dropped.swap(waiting_);
  const MutexUnlock meanwhile(mutex_);
  dropped.clear();
}

void Callbacks::run() {
  UniqueLock lock(mutex_);
  while (!stopping_) {
    if (connection_.lost()) drop_waiting();  // their streams are gone
    if (!due_.empty()) {
      lock.unlock();
      while (run_due()) {
      }
      lock.lock();
    } else if (!waiting_.empty()) {
      lock.unlock();
      // Somebody has to read the worker's notice; another thread that drives already does it for us.
      Status status = connection_.queue().drive(Deadline::after(kDriveRound));
      if (!status.is_ok() && status.code() != Code::kTimeout) connection_.lose(status);
      lock.lock();
    } else if (transfers_running_) {
      help_transfers();
    } else {
      changed_.wait(mutex_, [this]() TF_REQUIRES(mutex_) {
        return stopping_ || transfers_running_ || !waiting_.empty() || !due_.empty();
      });
    }
  }
}

}  // namespace tf::proxy
