// SPDX-License-Identifier: Apache-2.0
// Runs a lane until it ends.
#include "tcp/lane_thread.h"

#include <array>

#include "transport/base/pause.h"
#include "transport/base/thread.h"

namespace tf::tcp {
namespace {

constexpr int kSleepMax_ms = 60'000;    // wake-ups do not depend on it
constexpr unsigned kLooksPerCall = 16;  // at memory, while spinning: as long as one system call takes

}  // namespace

Status LaneThread::start(const char* name) {
  TF_RETURN_IF_ERROR(waker_.open());
  if (start_thread(thread_, name, [this] { run(); })) return Status::ok();
  return {Code::kResourceExhausted, "tcp: the system gives no thread for a lane; TF_TCP_LANES=1 needs none"};
}

void LaneThread::end(const Status& why) {
  {
    const MutexLock lock(mutex_);
    if (why_.is_ok()) why_ = why;
  }
  ending_.store(true, std::memory_order_seq_cst);
  waker_.notify();
}

void LaneThread::stop() {
  end({Code::kClosed, "the lane was closed"});
  if (thread_.joinable())
    thread_.join();
  else if (!is_over())
    finish(why_end());
}

Status LaneThread::why_end() const {
  const MutexLock lock(mutex_);
  return why_;
}

void LaneThread::run() {
  Status why;
  while (why.is_ok()) {
    if (ending_.load(std::memory_order_seq_cst)) {
      why = why_end();
      break;
    }
    const Result<std::size_t> moved = move();
    if (!moved)
      why = moved.status();
    else if (moved.value() == 0)
      await();
  }
  finish(why);
}

// What is to be sent comes first: while nothing comes, receiving is a system call in vain. A broken send
// alone ends nothing: bytes that the peer sent before it left are still to be read.
Result<std::size_t> LaneThread::move() {
  again_ = false;
  Result<std::size_t> out = move_out();
  Result<std::size_t> in = move_in();
  if (!in) return in;
  if (!out && *in == 0) return out;
  return *in + (out ? *out : 0);
}

void LaneThread::finish(const Status& why) {
  let_go(why);
  over_.store(true, std::memory_order_release);
  tell_end(why);
}

bool LaneThread::has_call() { return ending_.load(std::memory_order_seq_cst) || again_ || has_work(); }

bool LaneThread::is_called() {
  if (has_call()) return true;
  std::array<pollfd, 2> entries = {input(), output()};
  return ::poll(entries.data(), entries.size(), 0) > 0;
}

void LaneThread::await() {
  const auto start = SpinBudget::Clock::now();
  bool found = false;
  for (Spin spin(spin_, start); !found && spin.go_on(SpinBudget::Clock::now());) {
    for (unsigned look = 0; look < kLooksPerCall && !found; ++look) {
      spin_pause();
      found = has_call();
    }
    found = found || is_called();
  }
  if (!found) {
    const int seat = waker_.arm();
    if (!is_called()) {
      std::array<pollfd, 3> entries = {input(), output(),
                                       pollfd{.fd = waker_.fd(seat), .events = POLLIN, .revents = 0}};
      ::poll(entries.data(), entries.size(), kSleepMax_ms);
    }
    waker_.disarm(seat);
  }
  spin_.learn(SpinBudget::Clock::now() - start);
}

}  // namespace tf::tcp
