// SPDX-License-Identifier: Apache-2.0
// Spinning before a sleep: for how long it pays, and when to leave the processor to others instead.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "transport/base/yields.h"

namespace tf {

// How long to spin before sleeping, learned from how long waits have lasted lately: worth it while waits end
// within what a sleep and a wake-up cost. One per waiting thread role; relaxed, so races only cost accuracy.
//
// And whether to spin at all. With more threads at work than processors, a client and its session that happen
// to run at the same time answer each other without sleeping, and keep both processors until the scheduler
// takes them away; whoever spins alone meanwhile wastes its turn. Where all sleep while they wait, the
// scheduler divides what there is. So whoever found out that others want its processor sleeps at once for
// many times as long as it cost to find out, and asks (a yield) before it spins again.
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

  // Others ran for `time` until `now`, while this thread would have spun.
  void lost(Clock::time_point now, std::chrono::nanoseconds time);
  // Whether there were others when last seen: then not even a look or two is for free, since two ends that
  // are awake at the same time need no more than that to keep both processors.
  bool crowded() const { return crowded_until_ns_.load(std::memory_order_relaxed) != 0; }
  // Nobody else wanted to run.
  void alone() {
    if (crowded()) crowded_until_ns_.store(0, std::memory_order_relaxed);
  }
  Crowd crowd(Clock::time_point now) const;
  YieldCost& yield_cost() { return yield_cost_; }

 private:
  std::int64_t max_ns() const;

  std::int64_t max_ns_;  // 0: never; more where a yield takes long
  std::atomic<std::int64_t> learned_ns_;
  std::atomic<std::int64_t> budget_ns_;  // what was learned, or the most that is ever spun, now and then
  std::atomic<std::uint32_t> waits_{0};
  std::atomic<std::int64_t> crowded_until_ns_{0};  // of the clock; 0: not that anybody knew
  YieldCost yield_cost_;
};

// Whoever has spun this long lets others run: the peer may stand behind it in the queue of the same
// processor, and would be let run only when the spinning ends.
inline constexpr std::chrono::microseconds kSpinAlone{10};

// Whether this machine has so many processors that a thread which looks at something for a few milliseconds,
// letting others run now and then, takes nothing from them.
bool many_processors();

// The spinning of one wait.
class Spin {
 public:
  using Clock = SpinBudget::Clock;
  // `budget` and `scheduler` outlive it.
  Spin(SpinBudget& budget, Clock::time_point start, const Scheduler& scheduler = Scheduler::real());
  // Between two looks, with the time: false when it is time to sleep. Lets others run now and then.
  bool go_on(Clock::time_point now);

 private:
  SpinBudget& budget_;
  Yields yields_;
  Clock::time_point until_;
  Clock::time_point next_yield_;
};

}  // namespace tf
