// SPDX-License-Identifier: Apache-2.0
// Yields: letting others run while this thread looks for something, and finding out whether there are any.
//
// A yield that nobody makes use of takes a third of a microsecond, or ten where processors are emulated; one
// that lets another thread run takes as long as that runs. Where yields are slow the time alone does not tell
// them apart: one takes 1.5 us and most take 5 to 8. There the system is asked whether the thread was
// displaced at all. Displaced for no longer than a few yields take, it was the kernel that did its work
// (packets, for one), which nobody should make room for by sleeping.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tf {

// The system's part, for tests to replace.
struct Scheduler {
  void (*yield)();
  // How often this thread was displaced by another while it could have gone on (getrusage(2), ru_nivcsw).
  std::uint64_t (*displacements)();

  static const Scheduler& real();
};

// What yields of a waiting role cost, learned. Any thread; relaxed, so races only cost accuracy.
class YieldCost {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // A yield took `time`, and `displaced` this thread; nothing where that is not known, which is taken for
  // yes. True: others want this processor.
  bool others_ran(Nanoseconds time, std::optional<bool> displaced);
  // Of one that nobody makes use of, by and large; zero: not known yet.
  Nanoseconds alone() const { return Nanoseconds(alone_ns_.load(std::memory_order_relaxed)); }
  // Whether the last was so slow that it is worth knowing why.
  bool was_slow() const { return was_slow_.load(std::memory_order_relaxed); }

  static constexpr bool is_quick(Nanoseconds time) { return time.count() <= kQuickNs; }

 private:
  static constexpr std::int64_t kQuickNs = 3'000;
  static constexpr std::int64_t kLateMaxNs = 100'000;  // never as long as another thread's slice
  static constexpr int kHeadroom = 4;  // of what a yield alone takes, for the kernel's own work
  static constexpr int kWeight = 8;    // of what was learned, beside one more yield

  void learn(std::int64_t took_ns);

  std::atomic<std::int64_t> alone_ns_{0};
  std::atomic<bool> was_slow_{false};
};

// The yields of one wait, of one thread.
class Yields {
 public:
  using Clock = std::chrono::steady_clock;
  struct Outcome {
    Clock::time_point end;
    Clock::duration time;
    bool others = false;  // want this processor
  };

  // Both outlive it.
  explicit Yields(YieldCost& cost, const Scheduler& scheduler = Scheduler::real())
      : cost_(cost), scheduler_(scheduler) {}

  Outcome yield();

 private:
  YieldCost& cost_;
  const Scheduler& scheduler_;
  std::optional<std::uint64_t> displacements_;  // so far; asked for where yields are slow
};

}  // namespace tf
