// SPDX-License-Identifier: Apache-2.0
// How long a wait spins, and when a crowded machine makes it sleep instead.
#include "transport/base/spin.h"

#include <unistd.h>

#include <algorithm>

namespace tf {
namespace {

// Longer than a sleeping end takes to answer: 40 to 150 us in virtual machines.
constexpr std::int64_t kSpinMaxNs = 250'000;
// If spinning costs others nothing: as long as a device takes to copy 64 MiB. A thread that sleeps must be
// woken for the next request, 10 to 20 us.
constexpr std::int64_t kSpinMaxAmongManyNs = 2'000'000;
constexpr long kManyProcessors = 8;
constexpr std::int64_t kSpinMinNs = 500;
// The cost of a sleep and a wake-up, in yields: both go through the scheduler. If a yield alone takes 10 us,
// on emulated processors, a sleeping end takes most of a millisecond to answer.
constexpr std::int64_t kSpinMaxYields = 100;
constexpr int kSpinHeadroom = 4;  // spin for this many times the last wait
// One wait in this many spins for the maximum time. Two ends that both sleep answer each other so slowly that
// neither would ever find out that spinning pays off. This end now waits for one wake-up instead of two, the
// other finds the next request sooner, and both learn from that.
constexpr std::uint32_t kProbeEvery = 32;
// Spin this many times as long as a yield takes: work that arrives during a yield waits for its end.
constexpr int kSpinPerYield = 4;
// A check costs up to a time slice of every other thread, since a yielding thread goes to the back of the
// queue. So checks are rare enough not to matter, and this has a limit, so that nobody sleeps much longer
// than the others are there.
constexpr int kCrowdedTimes = 64;
constexpr std::chrono::nanoseconds kCrowdedMax = std::chrono::seconds(1);
// A peer on the same processor answers within this time, two switches included.
constexpr std::chrono::microseconds kPeersTurnMax{100};
// Programs that are busy run for a time slice or more: 1.4 to 3 ms with two processors.
constexpr std::chrono::milliseconds kSliceMin{1};
// So many answers in a row are no chance.
constexpr std::uint32_t kAnswersHereMin = 8;
constexpr std::int64_t kLongAgo = 1;  // crowd() says kAsk

// Counts the machine's processors, not this thread's: ends pinned to one processor each still run at the same
// time.
std::int64_t spin_max_ns() {
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) return 0;
  return many_processors() ? kSpinMaxAmongManyNs : kSpinMaxNs;
}

}  // namespace

std::atomic<const CrowdSign*> CrowdSign::of_process_{nullptr};

SpinBudget::SpinBudget() : max_ns_(spin_max_ns()), learned_ns_(max_ns_), budget_ns_(max_ns_) {}

std::int64_t SpinBudget::max_ns() const {
  if (max_ns_ == 0) return 0;
  return std::max(max_ns_, std::min(yield_cost_.alone().count() * kSpinMaxYields, kSpinMaxAmongManyNs));
}

void SpinBudget::learn(std::chrono::nanoseconds waited) {
  const std::int64_t most = max_ns();
  const std::int64_t old = learned_ns_.load(std::memory_order_relaxed);
  const std::int64_t spun = waited.count();
  // The wait took longer than spinning pays for: spin less next time. Otherwise the budget goes up at once
  // and down slowly, so that one short wait among longer ones is no reason to sleep early.
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

bool SpinBudget::yielded(const Yields::Outcome& outcome, bool answered) {
  if (!outcome.others) {
    alone();
    return false;
  }
  const bool is_slice = outcome.time >= kSliceMin;
  if (is_slice) lost(outcome.end, outcome.time);
  if (outcome.time > kPeersTurnMax)
    answered_elsewhere();
  else if (answered && answered_here_.fetch_add(1, std::memory_order_relaxed) + 1 >= kAnswersHereMin)
    crowded_until_ns_.store(kLongAgo, std::memory_order_relaxed);
  return is_slice;
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
  if (CrowdSign::is_up()) return false;
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
