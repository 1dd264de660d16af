// SPDX-License-Identifier: Apache-2.0
// Runs host functions of streams on threads of the library.
#include "proxy/session/callbacks.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "transport/base/thread.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

// One round of driving; limits how long stop() and a lost session wait for the pump.
constexpr std::chrono::milliseconds kDriveRound(50);
// An application thread usually waits for its copy soon; only then the pump steps in.
constexpr std::chrono::milliseconds kTransferGrace(2);
// Most functions are short, and need no second pump.
constexpr std::chrono::milliseconds kFunctionGrace(2);

}  // namespace

// False: there are as many as there may be, or the system has no thread.
bool Callbacks::start_pump() {
  if (stopping_ || pumps_.size() >= kPumpsMax) return false;
  std::thread pump;
  if (!start_thread(pump, "hip-pump", [this] { run(); })) return false;
  pumps_.push_back(std::move(pump));
  return true;
}

// There is work. If the leader is in a function, one of the others has to know; if there is none and none can
// be started, the work waits for the function's end.
void Callbacks::tell_pumps() {
  if (!leader_is_running_)
    changed_.notify_one();
  else if (running_ == pumps_.size())
    (void)start_pump();
  else if (!is_watched_)
    needed_.notify_one();
}

template <typename Request>
hipError_t Callbacks::queue(int device, Request& request, Waiting waiting) {
  Streams& streams = connection_.streams();
  // Only copies that certainly precede it: what we wait for must not itself need a callback.
  waiting.copies = streams.copies_of(device, request.stream, streams.transfers().last_sequence());
  std::erase_if(waiting.copies, [](const Reach& reach) { return !reach.direct; });
  const bool is_function = waiting.function != nullptr;
  {
    const MutexLock lock(mutex_);
    if (waiting_.size() >= kCallbacksMax || stopping_) return hipErrorOutOfMemory;
    if (pumps_.empty() && !start_pump()) return hipErrorOutOfMemory;
    request.cookie = next_cookie_++;
    // Counted before it can end.
    unfinished_.fetch_add(1, std::memory_order_relaxed);
    if (is_function) functions_.fetch_add(1, std::memory_order_relaxed);
    waiting_.emplace(request.cookie, std::move(waiting));
  }
  observer_.function_queued();
  const hipError_t error = connection_.post(device, request);
  if (error != hipSuccess) {
    withdraw(request.cookie);
    return error;
  }
  const MutexLock lock(mutex_);
  tell_pumps();
  return error;
}

hipError_t Callbacks::add(int device, std::uint64_t stream, Function function) {
  protocol::HostCallbackRequest request{};
  request.stream = stream;
  return queue(device, request, {device, stream, {}, std::move(function), {}});
}

hipError_t Callbacks::add_copy(int device, protocol::CopyInTurnRequest& request, Payload payload) {
  return queue(device, request, {device, request.stream, {}, {}, std::move(payload)});
}

// It counts no more. What it wrote is visible to a thread that finds that.
void Callbacks::retire(const Waiting& waiting) {
  if (waiting.function != nullptr) functions_.fetch_sub(1, std::memory_order_release);
  unfinished_.fetch_sub(1, std::memory_order_release);  // both pair with any() and any_function()
}

// It will not run.
void Callbacks::withdraw(std::uint64_t cookie) {
  decltype(waiting_)::node_type dropped;  // destroyed after the lock, as in drop_waiting()
  {
    const MutexLock lock(mutex_);
    dropped = waiting_.extract(cookie);
    if (dropped.empty()) return;
  }
  observer_.function_withdrawn();
  retire(dropped.mapped());
}

bool Callbacks::is_pump() {
  const MutexLock lock(mutex_);
  return std::ranges::any_of(
      pumps_, [](const std::thread& pump) { return pump.get_id() == std::this_thread::get_id(); });
}

void Callbacks::due(std::uint64_t cookie, hipError_t error, std::uint32_t output) {
  note({cookie, error, output, false});
}

void Callbacks::refused(std::uint64_t cookie) { note({cookie, hipSuccess, 0, true}); }

void Callbacks::note(const Due& due) {
  const MutexLock lock(mutex_);
  if (!waiting_.contains(due.cookie)) return;
  due_.push_back(due);  // limited by waiting_: run_due() removes unknown cookies
  if (due_.size() > kCallbacksMax) due_.pop_front();
  tell_pumps();
}

void Callbacks::transfer_started() {
  const MutexLock lock(mutex_);
  if (transfers_running_) return;
  transfers_running_ = !pumps_.empty() || start_pump();
  tell_pumps();
}

void Callbacks::stop() {
  std::vector<std::thread> pumps;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    needed_.notify_all();
    pumps.swap(pumps_);
  }
  for (std::thread& pump : pumps) pump.join();
}

void Callbacks::call(Waiting& waiting, const Due& due) {
  // The stream has passed the earlier copies; their bytes may still be in flight, on the other plane.
  connection_.streams().transfers().await(waiting.copies);
  connection_.streams().output().await(due.output);
  const hipError_t lost = observer_.function_begins();
  if (waiting.function != nullptr) {
    waiting.function(lost != hipSuccess ? lost : due.error);
    observer_.function_ended();
    retire(waiting);
    connection_.end_callback(due.cookie);
  } else {
    observer_.copy_ended();
    retire(waiting);
    send(waiting.payload, due);
  }
  waiting = Waiting{};  // what the function holds may be the program's: destroyed without the lock
}

// A stream that has failed copies nothing.
void Callbacks::send(const Payload& payload, const Due& due) {
  if (due.error != hipSuccess) return connection_.end_callback(due.cookie);
  std::vector<std::byte> room;
  connection_.send_turn(due.cookie, payload(room));
}

// Runs the callback that has been due longest. The leader may be another pump afterwards.
void Callbacks::run_due() {
  const Due due = due_.front();
  due_.pop_front();
  if (due.refused) {
    const MutexUnlock meanwhile(mutex_);
    return withdraw(due.cookie);
  }
  auto found = waiting_.find(due.cookie);
  if (found == waiting_.end()) return;
  Waiting waiting = std::move(found->second);
  waiting_.erase(found);
  leader_is_running_ = true;
  ++functions_started_;
  ++running_;
  if (any_work()) tell_pumps();
  {
    const MutexUnlock meanwhile(mutex_);
    call(waiting, due);
  }
  --running_;
  if (leader_ == std::this_thread::get_id()) leader_is_running_ = false;
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

void Callbacks::lead() {
  if (connection_.lost()) drop_waiting();  // their streams are gone
  if (!due_.empty()) {
    run_due();
  } else if (!waiting_.empty()) {
    const MutexUnlock meanwhile(mutex_);
    // Somebody has to read the worker's notice; another thread that drives already does it for us.
    Status status = connection_.queue().drive(Deadline::after(kDriveRound));
    if (!status.is_ok() && status.code() != Code::kTimeout) connection_.lose(status);
  } else if (transfers_running_) {
    help_transfers();
  } else {
    changed_.wait(mutex_, [this]() TF_REQUIRES(mutex_) { return stopping_ || any_work(); });
  }
}

// Watches a leader that is in a function while there is work, and takes over if the function takes its time.
void Callbacks::stand_by() {
  needed_.wait(mutex_, [this]() TF_REQUIRES(mutex_) {
    return stopping_ || (leader_is_running_ && !is_watched_ && any_work());
  });
  is_watched_ = true;
  while (!stopping_ && any_work()) {
    const std::uint64_t before = functions_started_;
    needed_.wait_until(mutex_, std::chrono::steady_clock::now() + kFunctionGrace,
                       [this]() TF_REQUIRES(mutex_) { return stopping_; });
    if (!leader_is_running_ || functions_started_ != before) continue;
    leader_ = std::this_thread::get_id();
    leader_is_running_ = false;
    break;
  }
  is_watched_ = false;
}

void Callbacks::run() {
  const MutexLock lock(mutex_);
  if (leader_ == std::thread::id()) leader_ = std::this_thread::get_id();
  while (!stopping_) {
    if (leader_ == std::this_thread::get_id())
      lead();
    else
      stand_by();
  }
}

}  // namespace tf::proxy
