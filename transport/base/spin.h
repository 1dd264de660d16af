// SPDX-License-Identifier: Apache-2.0
// Spinning before a sleep: how long it pays off, and when to give up the processor instead.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "transport/base/yields.h"

namespace tf {

// Says whether others want this process's processors. Finding that out by yielding costs up to a time slice
// of theirs, and a thread that spins or yields beside them loses its right to run at once when it wakes up.
// Where somebody knows (worker/session/shared_processors.h), threads ask the sign instead, and sleep where
// they would have yielded. A few microseconds of spinning are better than to sleep and wake up at once: a
// thread that wakes up so soon may have to wait for the scheduler's next tick.
class CrowdSign {
 public:
  CrowdSign() = default;
  CrowdSign(const CrowdSign&) = delete;
  CrowdSign& operator=(const CrowdSign&) = delete;
  virtual ~CrowdSign() = default;

  // Any thread; a few nanoseconds.
  virtual bool crowded() const = 0;

  // From now on this process's threads ask `sign`, which lives as long as the process. Once.
  static void put_up(const CrowdSign& sign) { of_process_.store(&sign, std::memory_order_release); }
  static bool is_up() {
    const CrowdSign* const sign = of_process_.load(std::memory_order_acquire);
    return sign != nullptr && sign->crowded();
  }

 private:
  static std::atomic<const CrowdSign*> of_process_;
};

// How long to spin before sleeping, learned from recent waits: spinning pays off while waits end within the
// cost of a sleep and a wake-up. One object per waiting role. Its atomics are relaxed, so a race only costs
// accuracy.
//
// It also decides whether to spin at all. With more runnable threads than processors, a client and its
// session that happen to run at the same time answer each other without sleeping, and keep both processors
// until the scheduler preempts them; any other thread that spins meanwhile wastes its time slice. If all
// threads sleep while they wait, the scheduler shares the processors fairly. So a thread that finds that
// others want its processor stops spinning, for many times as long as it took to find out. After that it
// yields once, to check, before it spins again.
class SpinBudget {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Crowd : std::uint8_t { kNone, kAsk, kSure };  // spin; yield first; sleep

  SpinBudget();
  std::chrono::nanoseconds current() const {
    return std::chrono::nanoseconds(budget_ns_.load(std::memory_order_relaxed));
  }
  // A wait ended after `waited`, spinning or asleep.
  void learn(std::chrono::nanoseconds waited);

  // Other threads ran for `time`, up to `now`, while this thread would have spun.
  void lost(Clock::time_point now, std::chrono::nanoseconds time);
  // Whether others wanted the processor at the last check. If so, even one or two polls are too many: two
  // ends that are awake at the same time need no more than that to keep both processors.
  bool crowded() const { return crowded_until_ns_.load(std::memory_order_relaxed) != 0; }
  // Nobody else wanted to run.
  void alone() {
    if (crowded()) crowded_until_ns_.store(0, std::memory_order_relaxed);
    answered_elsewhere();
  }
  // This thread has yielded, and then looked for its answer. A peer on the same processor answers soon: if so
  // several times in a row, yield first from now on, since spinning only keeps the peer from running.
  // Programs that are busy take a time slice: lost(), and true.
  bool yielded(const Yields::Outcome& outcome, bool answered);
  // The answer came while nobody else ran here.
  void answered_elsewhere() {
    if (answered_here_.load(std::memory_order_relaxed) != 0)
      answered_here_.store(0, std::memory_order_relaxed);
  }
  Crowd crowd(Clock::time_point now) const;
  YieldCost& yield_cost() { return yield_cost_; }

 private:
  std::int64_t max_ns() const;

  std::int64_t max_ns_;  // 0: never spin; see max_ns()
  std::atomic<std::int64_t> learned_ns_;
  std::atomic<std::int64_t> budget_ns_;  // learned_ns_; now and then max_ns(), as a probe
  std::atomic<std::uint32_t> waits_{0};
  std::atomic<std::int64_t> crowded_until_ns_{0};  // on Clock; 0: not crowded, as far as known
  std::atomic<std::uint32_t> answered_here_{0};    // in a row, see yielded()
  YieldCost yield_cost_;
};

// After spinning this long a thread yields: its peer may be queued behind it on the same processor, and could
// not run until the spinning ends.
inline constexpr std::chrono::microseconds kSpinAlone{10};

// Whether the machine has enough processors that a thread may poll for a few milliseconds, yielding now and
// then, at no cost to others.
bool many_processors();

// The spinning of one wait.
class Spin {
 public:
  using Clock = SpinBudget::Clock;
  // `budget` and `scheduler` outlive it.
  Spin(SpinBudget& budget, Clock::time_point start, const Scheduler& scheduler = Scheduler::real());
  // Call it between two polls with the current time. False: time to sleep. Yields now and then.
  bool go_on(Clock::time_point now);

 private:
  SpinBudget& budget_;
  Yields yields_;
  Clock::time_point until_;
  Clock::time_point next_yield_;
};

}  // namespace tf
