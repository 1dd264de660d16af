// SPDX-License-Identifier: Apache-2.0
// SpinBudget: how long it is worth looking before sleeping, learned from how long waits have lasted lately. A
// sleep counts with what waking up took, so that two threads that both sleep find out that looking pays: the
// answer of a sleeper takes 40 to 150 us in virtual machines. While others want the processor nobody looks
// for longer than without yielding: who yields is put last, and waits for the slices of all of them. Any
// thread; races only cost accuracy.
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
  // A yield at `now_ns` took that long. True: another thread has run meanwhile.
  bool yielded(std::uint64_t now_ns, std::uint64_t took_ns) {
    if (took_ns < kYieldAlone_ns) return false;
    crowded_until_ns_.store(now_ns + std::min(took_ns * kCrowdedTimes, kCrowdedMax_ns),
                            std::memory_order_relaxed);
    return true;
  }
  // A wait has ended, spinning or asleep. Up at once and down slowly; longer ones than looking can pay for
  // are a reason to look less.
  void learn(std::uint64_t waited_ns) {
    const std::uint64_t old = budget_ns_.load(std::memory_order_relaxed);
    std::uint64_t wanted = old - old / 8;
    if (waited_ns <= kMax_ns) wanted = std::max(waited_ns * kHeadroom, old - old / 16);
    budget_ns_.store(std::clamp(wanted, kMin_ns, kMax_ns), std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kHeadroom = 4;  // times the wait that ended lately
  static constexpr std::uint64_t kYieldAlone_ns = 3'000;
  static constexpr std::uint64_t kCrowdedTimes = 64;
  static constexpr std::uint64_t kCrowdedMax_ns = 1'000'000'000;

  std::atomic<std::uint64_t> budget_ns_{kMax_ns};
  std::atomic<std::uint64_t> crowded_until_ns_{0};
};

}  // namespace tf::cpu
