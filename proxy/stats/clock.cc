// SPDX-License-Identifier: Apache-2.0
// Reads both clocks, and makes nanoseconds of ticks.
#include "proxy/stats/clock.h"

#include <time.h>

#include <algorithm>

namespace tf::proxy::stats {
namespace {

constexpr int kAttempts = 8;
constexpr double kNsMax = 9e18;

std::uint64_t bounded(double ns) { return static_cast<std::uint64_t>(std::clamp(ns, 0.0, kNsMax)); }

}  // namespace

constinit std::atomic<bool> Clock::by_counter_{false};

void Clock::choose() {
  static const bool has_counter = has_steady_counter();
  by_counter_.store(has_counter, std::memory_order_relaxed);
}

std::uint64_t Clock::monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

ClockReading Clock::read() {
  if (!by_counter_.load(std::memory_order_relaxed)) {
    const std::uint64_t now = monotonic_ns();
    return {now, now};
  }
  ClockReading best;
  std::uint64_t least = UINT64_MAX;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t before = read_counter();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t between = read_counter() - before;
    if (between >= least) continue;
    least = between;
    best = {before + between / 2, ns};
  }
  return best;
}

void begin_log(ClockLog& log, const ClockReading& now) { log = {now, {now, now}, 0}; }

void add_reading(ClockLog& log, const ClockReading& now) {
  const std::uint64_t next = log.newest + 1;
  log.later[next % log.later.size()] = now;
  std::atomic_ref(log.newest).store(next, std::memory_order_release);  // in this order in the file, too
}

ClockScale::ClockScale(const ClockLog& log) : first_(log.first) {
  const ClockReading& last = log.later[log.newest % log.later.size()];
  if (last.ticks > first_.ticks && last.ns > first_.ns)
    ns_per_tick_ = static_cast<double>(last.ns - first_.ns) / static_cast<double>(last.ticks - first_.ticks);
}

std::uint64_t ClockScale::time_of(std::uint64_t ticks) const {
  const std::uint64_t first_ns = std::min<std::uint64_t>(first_.ns, static_cast<std::uint64_t>(kNsMax));
  if (ticks >= first_.ticks)
    return first_ns + bounded(static_cast<double>(ticks - first_.ticks) * ns_per_tick_);
  return first_ns - std::min(first_ns, bounded(static_cast<double>(first_.ticks - ticks) * ns_per_tick_));
}

std::uint64_t ClockScale::length_of(std::uint64_t ticks) const {
  return bounded(static_cast<double>(ticks) * ns_per_tick_);
}

}  // namespace tf::proxy::stats
