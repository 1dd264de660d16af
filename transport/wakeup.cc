// SPDX-License-Identifier: Apache-2.0
#include "transport/wakeup.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <utility>

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

// A yield that takes longer has let another thread run: alone it takes a third of a microsecond. On emulated
// processors it takes ten: so it is several times as long as the quickest that was seen, but never as long as
// another thread's slice.
constexpr std::int64_t kYieldAloneNs = 3'000;
constexpr std::int64_t kYieldAloneMaxNs = 100'000;
constexpr int kYieldHeadroom = 4;
// And what comes while it yields waits for its end: so most of the time it looks.
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

std::uint32_t Doorbell::prepare(Ringing what) const {
  const std::uint32_t seen = rings().load(std::memory_order_acquire);  // pairs with wake()
  for (const Ringing one : {kRingMessages, kRingBulk})
    if ((what & one) != 0) sleepers(one).fetch_add(1, std::memory_order_seq_cst);  // with the fence in ring()
  full_fence();
  // Acquire: pairs with the release in MessageRinger::wake().
  if ((what & kRingMessages) == 0 || unfenced().load(std::memory_order_acquire) == 0) return seen;
  return fence_everywhere() ? seen : seen - 1;  // what was never rung: sleep() returns at once
}

void Doorbell::cancel(Ringing what) const {
  for (const Ringing one : {kRingMessages, kRingBulk})
    if ((what & one) != 0) sleepers(one).fetch_sub(1, std::memory_order_relaxed);
}

void Doorbell::sleep(std::uint32_t seen, std::chrono::nanoseconds timeout, Ringing what) const {
  // This operation takes a point of the monotonic clock.
  timespec limit{};
  ::clock_gettime(CLOCK_MONOTONIC, &limit);
  const auto until = std::chrono::seconds(limit.tv_sec) + std::chrono::nanoseconds(limit.tv_nsec) + timeout;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(until);
  limit = {seconds.count(), (until - seconds).count()};
  const int operation = FUTEX_WAIT_BITSET | (shared_ ? 0 : FUTEX_PRIVATE_FLAG);
  ::syscall(SYS_futex, words_, operation, seen, &limit, nullptr, what);  // EAGAIN: rung meanwhile
  cancel(what);
}

void Doorbell::wake(Ringing what) const {
  rings().fetch_add(1, std::memory_order_release);  // pairs with the acquire in prepare()
  const int operation = FUTEX_WAKE_BITSET | (shared_ ? 0 : FUTEX_PRIVATE_FLAG);
  ::syscall(SYS_futex, words_, operation, INT_MAX, nullptr, nullptr, what);
}

// Whoever slept once may do so again: with fences until it has been quiet for long.
void MessageRinger::wake() {
  quiet_ = 0;
  if (std::exchange(unfenced_, false)) {
    full_fence();
    bell_.unfenced().store(0, std::memory_order_release);  // pairs with prepare()
  }
  bell_.wake(kRingMessages);
}

void MessageRinger::leave_out_fences() {
  quiet_ = 0;
  if (!registered_ || bell_.barriers().load(std::memory_order_acquire) == 0) return;
  bell_.unfenced().store(1, std::memory_order_relaxed);
  full_fence();
  unfenced_ = true;
}

SpinBudget::SpinBudget() : max_ns_(spin_max_ns()), learned_ns_(max_ns_), budget_ns_(max_ns_) {}

std::int64_t SpinBudget::max_ns() const {
  const std::int64_t quickest = quickest_yield_ns_.load(std::memory_order_relaxed);
  if (max_ns_ == 0 || quickest == kNoYield) return max_ns_;
  return std::max(max_ns_, std::min(quickest, kSpinMaxAmongManyNs / kSpinMaxYields) * kSpinMaxYields);
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

bool SpinBudget::others_ran(std::chrono::nanoseconds time) {
  const std::int64_t took = time.count();
  // Threads that share a budget may overwrite each other's: the next yield is as quick.
  std::int64_t quickest = quickest_yield_ns_.load(std::memory_order_relaxed);
  if (took < quickest) quickest_yield_ns_.store(quickest = took, std::memory_order_relaxed);
  const std::int64_t alone = std::min(quickest, kYieldAloneMaxNs) * kYieldHeadroom;
  return took > std::clamp(alone, kYieldAloneNs, kYieldAloneMaxNs);
}

SpinBudget::Crowd SpinBudget::crowd(Clock::time_point now) const {
  const std::int64_t until = crowded_until_ns_.load(std::memory_order_relaxed);
  if (until == 0) return Crowd::kNone;
  return std::chrono::nanoseconds(now.time_since_epoch()).count() < until ? Crowd::kSure : Crowd::kAsk;
}

Spin::Spin(SpinBudget& budget, Clock::time_point start, void (*yield)())
    : budget_(budget), yield_(yield), until_(start + budget.current()), next_yield_(start + kSpinAlone) {
  const SpinBudget::Crowd crowd = budget.crowd(start);
  if (crowd == SpinBudget::Crowd::kSure) until_ = start;
  if (crowd == SpinBudget::Crowd::kAsk) next_yield_ = start;
}

bool Spin::go_on(Clock::time_point now) {
  if (now >= until_) return false;
  if (now < next_yield_) return true;
  yield_();
  const Clock::time_point after = Clock::now();
  if (budget_.others_ran(after - now)) {
    budget_.lost(after, after - now);
    return false;
  }
  budget_.alone();
  next_yield_ = after + std::max<Clock::duration>(kSpinAlone, (after - now) * kSpinPerYield);
  return true;
}

void spin_yield() { ::sched_yield(); }

bool many_processors() { return ::sysconf(_SC_NPROCESSORS_ONLN) >= kManyProcessors; }

}  // namespace tf
