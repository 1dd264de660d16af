// SPDX-License-Identifier: Apache-2.0
// SessionCounts: what a session says that it has counted (SessionTally), as numbers that the supervisor can
// add up. A session process may write anything there, so of what it says this much is believed: a number
// never falls, and between two looks it grows no faster than the fastest machine could count. So a liar can
// spoil metrics only a little, and never makes a counter fall or run over. Belongs to the supervisor.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "worker/base/session_tally.h"

namespace tf::worker {

struct SessionCounts {
  static constexpr std::size_t kCalls = 0;  // of each domain: with an answer, posted
  static constexpr std::size_t kBytes = kCalls + 2 * kCallDomains;
  static constexpr std::size_t kRefused = kBytes + 4;
  static constexpr std::size_t kFaults = kRefused + kLimits;
  static constexpr std::size_t kWaits = kFaults + static_cast<std::size_t>(SessionFault::kEnd);
  static constexpr std::size_t kWaitTotal = kWaits + WaitTimes::kBuckets;  // nanoseconds
  static constexpr std::size_t kEnd = kWaitTotal + 1;

  std::array<std::uint64_t, kEnd> values{};

  std::uint64_t calls(std::size_t domain, bool posted) const {
    return values[kCalls + 2 * domain + (posted ? 1 : 0)];
  }
  std::uint64_t all_calls() const;
  std::uint64_t round_trips() const;  // calls with an answer
  // Messages and payload.
  std::uint64_t bytes_to_worker() const { return values[kBytes] + values[kBytes + 2]; }
  std::uint64_t bytes_to_client() const { return values[kBytes + 1] + values[kBytes + 3]; }

  // Up to the largest number.
  SessionCounts& operator+=(const SessionCounts& other);
};

SessionCounts read_counts(const SessionTally& tally);

// What the supervisor has believed of one session so far.
class BelievedCounts {
 public:
  using Clock = std::chrono::steady_clock;

  explicit BelievedCounts(Clock::time_point now = Clock::now()) : looked_(now) {}
  // What is new in `said`, and believed.
  SessionCounts take(const SessionCounts& said, Clock::time_point now = Clock::now());

 private:
  SessionCounts seen_;
  Clock::time_point looked_;
};

}  // namespace tf::worker
