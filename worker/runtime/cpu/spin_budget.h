// SPDX-License-Identifier: Apache-2.0
// SpinBudget: how long it pays to spin before sleeping, learned from recent waits. A sleep counts with its
// wake-up time, so that two threads that both sleep find out that spinning pays: a sleeper takes 40 to 150 us
// to answer in virtual machines. While others want the processor, nobody spins longer than it takes to yield:
// a yielding thread goes to the back of the queue, and waits for the time slices of all others. Any thread;
// races only cost accuracy.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "worker/runtime/cpu/clock.h"

namespace tf::cpu {

class SpinBudget {
 public:
  static constexpr std::uint64_t kMax_ns = 200'000;
  static constexpr std::uint64_t kMin_ns = 500;

  // For a wait that begins at `now_ns`.
  std::uint64_t at(std::uint64_t now_ns) const {
    const std::uint64_t budget = budget_ns_.load(std::memory_order_relaxed);
    const bool crowded = now_ns < crowded_until_ns_.load(std::memory_order_relaxed);
    return crowded ? std::min(budget, kSpinAlone_ns) : budget;
  }
  // A yield at `now_ns` took that long. True: another thread ran.
  bool yielded(std::uint64_t now_ns, std::uint64_t took_ns) {
    if (took_ns < kYieldAlone_ns) return false;
    crowded_until_ns_.store(now_ns + std::min(took_ns * kCrowdedTimes, kCrowdedMax_ns),
                            std::memory_order_relaxed);
    return true;
  }
  // A wait has ended, spinning or asleep. The budget goes up at once and down slowly; waits longer than
  // spinning pays for reduce it.
  void learn(std::uint64_t waited_ns) {
    const std::uint64_t old = budget_ns_.load(std::memory_order_relaxed);
    std::uint64_t wanted = old - old / 8;
    if (waited_ns <= kMax_ns) wanted = std::max(waited_ns * kHeadroom, old - old / 16);
    budget_ns_.store(std::clamp(wanted, kMin_ns, kMax_ns), std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kHeadroom = 4;  // times the last wait
  static constexpr std::uint64_t kYieldAlone_ns = 3'000;
  static constexpr std::uint64_t kCrowdedTimes = 64;
  static constexpr std::uint64_t kCrowdedMax_ns = 1'000'000'000;

  std::atomic<std::uint64_t> budget_ns_{kMax_ns};
  std::atomic<std::uint64_t> crowded_until_ns_{0};
};

}  // namespace tf::cpu
