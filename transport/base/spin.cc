// SPDX-License-Identifier: Apache-2.0
// How long a wait spins, and when a crowded machine makes it sleep instead.
#include "transport/base/spin.h"

#include <unistd.h>

#include <algorithm>

namespace tf {
namespace {

// Longer than an answer of an end that sleeps: 40 to 150 us in virtual machines.
constexpr std::int64_t kSpinMaxNs = 250'000;
// Where a spinning thread takes nothing from others: as long as a device takes for a copy of 64 MiB. Whoever
// sleeps meanwhile is woken for the next request, 10 to 20 us.
constexpr std::int64_t kSpinMaxAmongManyNs = 2'000'000;
constexpr long kManyProcessors = 8;
constexpr std::int64_t kSpinMinNs = 500;
// What a sleep and a wake-up cost, in yields: both go through the scheduler. Where a yield alone takes 10 us,
// on emulated processors, an end that sleeps answers after most of a millisecond.
constexpr std::int64_t kSpinMaxYields = 100;
constexpr int kSpinHeadroom = 4;  // spin this many times the wait that ended lately
// One wait in so many spins for as long as any may. Two ends that both sleep answer each other so slowly that
// neither would ever find out that spinning pays: this end now waits for one wake-up instead of two, the
// other finds the next request sooner, and both learn from it.
constexpr std::uint32_t kProbeEvery = 32;
// What comes while it yields waits for its end: so most of the time it looks.
constexpr int kSpinPerYield = 4;
// To ask costs up to a slice of every other thread, since whoever yields is put last: so seldom that it does
// not matter, and for so long at most that nobody sleeps much longer than the others are there.
constexpr int kCrowdedTimes = 64;
constexpr std::chrono::nanoseconds kCrowdedMax = std::chrono::seconds(1);

// Of the machine, not of this thread: ends pinned to one processor each still run at the same time.
std::int64_t spin_max_ns() {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) return 0;
  return many_processors() ? kSpinMaxAmongManyNs : kSpinMaxNs;
}

}  // namespace

SpinBudget::SpinBudget() : max_ns_(spin_max_ns()), learned_ns_(max_ns_), budget_ns_(max_ns_) {}

std::int64_t SpinBudget::max_ns() const {
  if (max_ns_ == 0) return 0;
  return std::max(max_ns_, std::min(yield_cost_.alone().count() * kSpinMaxYields, kSpinMaxAmongManyNs));
}

void SpinBudget::learn(std::chrono::nanoseconds waited) {
  const std::int64_t most = max_ns();
  const std::int64_t old = learned_ns_.load(std::memory_order_relaxed);
  const std::int64_t spun = waited.count();
  // Longer than spinning can pay for: less of it next time. Otherwise up at once and down slowly, so that one
  // short wait among longer ones is no reason to sleep early.
  std::int64_t wanted = old - old / 8;
  if (spun <= most) wanted = std::max(spun * kSpinHeadroom, old - old / 16);
  const std::int64_t learned = std::min(most, std::max(wanted, kSpinMinNs));
  learned_ns_.store(learned, std::memory_order_relaxed);
  const bool probe = waits_.fetch_add(1, std::memory_order_relaxed) % kProbeEvery == kProbeEvery - 1;
  budget_ns_.store(probe ? most : learned, std::memory_order_relaxed);
}

void SpinBudget::lost(Clock::time_point now, std::chrono::nanoseconds time) {
  const auto until = now.time_since_epoch() + std::min(time * kCrowdedTimes, kCrowdedMax);
  crowded_until_ns_.store(std::chrono::nanoseconds(until).count(), std::memory_order_relaxed);
}

SpinBudget::Crowd SpinBudget::crowd(Clock::time_point now) const {
  const std::int64_t until = crowded_until_ns_.load(std::memory_order_relaxed);
  if (until == 0) return Crowd::kNone;
  return std::chrono::nanoseconds(now.time_since_epoch()).count() < until ? Crowd::kSure : Crowd::kAsk;
}

Spin::Spin(SpinBudget& budget, Clock::time_point start, const Scheduler& scheduler)
    : budget_(budget),
      yields_(budget.yield_cost(), scheduler),
      until_(start + budget.current()),
      next_yield_(start + kSpinAlone) {
  const SpinBudget::Crowd crowd = budget.crowd(start);
  if (crowd == SpinBudget::Crowd::kSure) until_ = start;
  if (crowd == SpinBudget::Crowd::kAsk) next_yield_ = start;
}

bool Spin::go_on(Clock::time_point now) {
  if (now >= until_) return false;
  if (now < next_yield_) return true;
  const Yields::Outcome yielded = yields_.yield();
  if (yielded.others) {
    budget_.lost(yielded.end, yielded.time);
    return false;
  }
  budget_.alone();
  next_yield_ = yielded.end + std::max<Clock::duration>(kSpinAlone, yielded.time * kSpinPerYield);
  return true;
}

bool many_processors() { return ::sysconf(_SC_NPROCESSORS_ONLN) >= kManyProcessors; }

}  // namespace tf
