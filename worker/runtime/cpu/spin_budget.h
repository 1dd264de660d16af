// SPDX-License-Identifier: Apache-2.0
// SpinBudget: how long it is worth looking before sleeping, learned from how long waits have lasted lately. A
// sleep counts with what waking up took, so that two threads that both sleep find out that looking pays: the
// answer of a sleeper takes 40 to 150 us in virtual machines. Any thread; races only cost accuracy.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tf::cpu {

class SpinBudget {
 public:
  static constexpr std::uint64_t kMax_ns = 200'000;
  static constexpr std::uint64_t kMin_ns = 500;

  std::uint64_t current_ns() const { return budget_ns_.load(std::memory_order_relaxed); }
  // A wait has ended, spinning or asleep. Up at once and down slowly; longer ones than looking can pay for are
  // a reason to look less.
  void learn(std::uint64_t waited_ns) {
    const std::uint64_t old = current_ns();
    std::uint64_t wanted = old - old / 8;
    if (waited_ns <= kMax_ns) wanted = std::max(waited_ns * kHeadroom, old - old / 16);
    budget_ns_.store(std::clamp(wanted, kMin_ns, kMax_ns), std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kHeadroom = 4;  // times the wait that ended lately

  std::atomic<std::uint64_t> budget_ns_{kMax_ns};
};

}  // namespace tf::cpu
