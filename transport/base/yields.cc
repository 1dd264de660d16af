// SPDX-License-Identifier: Apache-2.0
// Tells a yield that let another thread run from one that did not.
#include "transport/base/yields.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

namespace tf {
namespace {

void yield() { ::sched_yield(); }

// A yield that lets another thread run counts here too: this thread could have gone on.
std::uint64_t displacements() {
  rusage usage{};
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_nivcsw) : 0;
}

}  // namespace

const Scheduler& Scheduler::real() {
  static constexpr Scheduler kReal{.yield = tf::yield, .displacements = tf::displacements};
  return kReal;
}

bool YieldCost::others_ran(Nanoseconds time, std::optional<bool> displaced) {
  const std::int64_t took = time.count();
  const bool slow = !is_quick(time);
  was_slow_.store(slow, std::memory_order_relaxed);
  if (!slow || displaced == false) learn(took);
  if (!slow) return false;
  const std::int64_t usual = alone().count();
  // If yields are usually quick, and this one was slow although nobody preempted the thread, the host had
  // other work for the processor.
  if (displaced == false && !is_quick(alone())) return false;
  return took > std::clamp(usual * kHeadroom, kQuickNs, kLateMaxNs);
}

// A yield during which the whole machine was stopped is one among many.
void YieldCost::learn(std::int64_t took_ns) {
  const std::int64_t took = std::min(took_ns, kLateMaxNs / kHeadroom);
  const std::int64_t old = alone_ns_.load(std::memory_order_relaxed);
  alone_ns_.store(old == 0 ? took : old + (took - old) / kWeight, std::memory_order_relaxed);
}

Yields::Outcome Yields::yield() {
  if (!displacements_ && cost_.was_slow()) displacements_ = scheduler_.displacements();
  const Clock::time_point begin = Clock::now();
  scheduler_.yield();
  Outcome outcome{.end = Clock::now(), .time = {}};
  outcome.time = outcome.end - begin;
  std::optional<bool> displaced;
  if (!YieldCost::is_quick(outcome.time) && displacements_) {
    const std::uint64_t now = scheduler_.displacements();
    displaced = now != *displacements_;
    displacements_ = now;
  }
  outcome.others = cost_.others_ran(outcome.time, displaced);
  return outcome;
}

}  // namespace tf
