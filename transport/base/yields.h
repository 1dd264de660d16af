// SPDX-License-Identifier: Apache-2.0
// Yields: letting other threads run while this one polls, and finding out whether there are any.
//
// A yield that lets nobody run takes a third of a microsecond, or ten where processors are emulated. A yield
// that lets another thread run takes as long as that thread runs. Where yields are slow, the time alone does
// not tell the two apart: one takes 1.5 us and most take 5 to 8. There we ask the system whether the thread
// was preempted at all. If it was, but for no longer than a few yields take, the kernel did its own work
// (packets, for example); sleeping would not help anyone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tf {

// The system's part, for tests to replace.
struct Scheduler {
  void (*yield)();
  // How often this thread was preempted while it could have gone on (getrusage(2), ru_nivcsw).
  std::uint64_t (*displacements)();

  static const Scheduler& real();
};

// The learned cost of a yield, per waiting role. Any thread; relaxed, so races only cost accuracy.
class YieldCost {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // Records a yield that took `time`. `displaced`: whether the thread was preempted; unknown counts as yes.
  // True: others want this processor.
  bool others_ran(Nanoseconds time, std::optional<bool> displaced);
  // The typical time of a yield that lets nobody run; zero: not known yet.
  Nanoseconds alone() const { return Nanoseconds(alone_ns_.load(std::memory_order_relaxed)); }
  // Whether the last yield was so slow that the reason matters.
  bool was_slow() const { return was_slow_.load(std::memory_order_relaxed); }

  static constexpr bool is_quick(Nanoseconds time) { return time.count() <= kQuickNs; }

 private:
  static constexpr std::int64_t kQuickNs = 3'000;
  static constexpr std::int64_t kLateMaxNs = 100'000;  // shorter than any time slice
  static constexpr int kHeadroom = 4;                  // times a lone yield: room for the kernel's own work
  static constexpr int kWeight = 8;                    // of the learned value, against 1 for a new yield

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

  // Both arguments outlive this object.
  explicit Yields(YieldCost& cost, const Scheduler& scheduler = Scheduler::real())
      : cost_(cost), scheduler_(scheduler) {}

  Outcome yield();

 private:
  YieldCost& cost_;
  const Scheduler& scheduler_;
  std::optional<std::uint64_t> displacements_;  // so far; read only where yields are slow
};

}  // namespace tf
