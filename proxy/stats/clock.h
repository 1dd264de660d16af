// SPDX-License-Identifier: Apache-2.0
// Clock: the time of records and traces, in ticks, and what ticks mean.
//
// A tick is one of the processor's counter (counter.h), which is read in a third of the time that
// clock_gettime() takes; where there is no such counter, a nanosecond of CLOCK_MONOTONIC. Files hold ticks.
// Beside them stands a ClockLog: what both clocks showed at the beginning, and again later. From that,
// readers make nanoseconds of CLOCK_MONOTONIC. So the rate is measured over the run itself.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "proxy/stats/counter.h"

namespace tf::proxy::stats {

// The same moment by both clocks.
struct ClockReading {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;
};

// Lies in a file that a process maps and writes while it runs.
struct ClockLog {
  ClockReading first;
  // The newest one is later[newest % 2]: a process that is killed while it writes the other leaves this one.
  std::array<ClockReading, 2> later{};
  std::uint64_t newest = 0;
};
static_assert(std::is_trivially_copyable_v<ClockLog>);

class Clock {
 public:
  // Chooses the counter or CLOCK_MONOTONIC, at the first use in a process. Any thread.
  static void choose();

  // REQUIRES: choose()
  static std::uint64_t now() {
    return by_counter_.load(std::memory_order_relaxed) ? read_counter() : monotonic_ns();
  }
  static std::uint64_t monotonic_ns();
  // The closest of a few attempts: off by less than a microsecond, unless the thread loses its processor in
  // each.
  static ClockReading read();

 private:
  // Never changes after choose().
  static std::atomic<bool> by_counter_;
};

// One writer at a time.
void begin_log(ClockLog& log, const ClockReading& now);
void add_reading(ClockLog& log, const ClockReading& now);

// Turns the ticks of one file into nanoseconds. The log may hold anything.
class ClockScale {
 public:
  explicit ClockScale(const ClockLog& log);
  // Of CLOCK_MONOTONIC. Never falls as ticks grow.
  std::uint64_t time_of(std::uint64_t ticks) const;
  std::uint64_t length_of(std::uint64_t ticks) const;

 private:
  ClockReading first_;
  double ns_per_tick_ = 1;
};

}  // namespace tf::proxy::stats
