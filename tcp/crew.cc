// SPDX-License-Identifier: Apache-2.0
// Shares records out between the lane's thread and its helpers.
#include "tcp/crew.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "transport/base/pause.h"

namespace tf::tcp {
namespace {

using Clock = SpinBudget::Clock;

// Fewer records than these are done before a helper has woken up: a chunk's header and two of payload.
constexpr std::uint64_t kWorthHelp = 3;
constexpr std::chrono::seconds kSleepMax{10};  // nobody sleeps longer without a look

}  // namespace

Crew::Crew(Workers workers) : workers_(std::move(workers)), bell_(words_.data(), false) {}

Crew::~Crew() {
  abandon();
  ended_.store(true, std::memory_order_release);  // pairs with help()
  bell_.wake(kRingAll);
  for (std::thread& thread : threads_) thread.join();
}

void Crew::post(std::span<const std::byte> from, std::span<std::byte> to) {
  const std::uint64_t number = posted_.load(std::memory_order_relaxed);  // our own
  Record& record = records_[number % kRecordsMax];
  record.from = from;
  record.to = to;
  posted_.store(number + 1, std::memory_order_release);
  if (workers_.size() > 1 && number + 1 - claimed_.load(std::memory_order_relaxed) >= kWorthHelp)
    call_helpers();
}

void Crew::call_helpers() {
  if (!std::exchange(started_, true)) start_helpers();
  bell_.ring(kRingMessages);
}

// Fewer if the system refuses threads: then the owner does more.
void Crew::start_helpers() {
  threads_.reserve(workers_.size() - 1);
  for (std::size_t index = 1; index < workers_.size(); ++index) {
    try {
      threads_.emplace_back([this, index] { help(*workers_[index]); });
    } catch (const std::system_error&) {
      return;
    }
  }
}

// False: there is none.
bool Crew::work_on_next(secure::RecordWorker& worker) {
  std::uint64_t number = claimed_.load(std::memory_order_relaxed);
  do {
    if (number == posted_.load(std::memory_order_acquire)) return false;  // pairs with post()
  } while (!claimed_.compare_exchange_weak(number, number + 1, std::memory_order_acq_rel));
  Record& record = records_[number % kRecordsMax];
  record.status = worker.work(number, record.from, record.to);
  record.done.store(number + 1, std::memory_order_release);
  return true;
}

Status Crew::take_front() {
  while (!front_is_done())
    if (!work_on_next(*workers_.front())) await([this] { return front_is_done(); }, owner_spin_, kRingBulk);
  Record& record = records_[taken_ % kRecordsMax];
  ++taken_;
  return std::exchange(record.status, Status::ok());
}

void Crew::abandon() {
  const std::uint64_t posted = posted_.load(std::memory_order_relaxed);
  // Whoever would claim one of these finds that none is left.
  for (std::uint64_t number = claimed_.exchange(posted, std::memory_order_acq_rel); number < posted; ++number)
    records_[number % kRecordsMax].done.store(number + 1, std::memory_order_relaxed);
  while (!empty()) (void)take_front();
}

void Crew::help(secure::RecordWorker& worker) {
  const auto has_work = [this] {
    return claimed_.load(std::memory_order_relaxed) != posted_.load(std::memory_order_acquire) ||
           ended_.load(std::memory_order_acquire);  // pairs with ~Crew()
  };
  while (!ended_.load(std::memory_order_acquire)) {
    while (work_on_next(worker)) bell_.ring(kRingBulk);
    await(has_work, helper_spin_, kRingMessages);
  }
}

// Polls for a while, then sleeps. May return early.
template <typename Ready>
void Crew::await(const Ready& ready, SpinBudget& budget, Ringing what) {
  const auto start = Clock::now();
  bool found = false;
  for (Spin spin(budget, start); !found && spin.go_on(Clock::now());) {
    for (unsigned look = 0; look < kLooksPerClock && !found; ++look) {
      found = ready();
      spin_pause();
    }
  }
  if (!found) {
    const std::uint32_t seen = bell_.prepare(what);
    if (ready())
      bell_.cancel(what);
    else
      bell_.sleep(seen, kSleepMax, what);
  }
  budget.learn(Clock::now() - start);
}

}  // namespace tf::tcp
