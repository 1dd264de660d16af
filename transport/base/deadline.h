// SPDX-License-Identifier: Apache-2.0
// Deadline: a point on the monotonic clock by which something must have happened. A value type.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tf {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline after(Clock::duration duration) { return Deadline(Clock::now() + duration); }
  static Deadline never() { return Deadline(Clock::time_point::max()); }
  static Deadline now() { return Deadline(Clock::now()); }

  bool is_never() const { return when_ == Clock::time_point::max(); }
  bool passed() const { return !is_never() && Clock::now() >= when_; }
  bool passed(Clock::time_point now) const { return now >= when_; }  // after a clock read
  // Zero once passed. REQUIRES: not never.
  std::chrono::nanoseconds remaining() const {
    return std::max(std::chrono::nanoseconds(0),
                    std::chrono::duration_cast<std::chrono::nanoseconds>(when_ - Clock::now()));
  }
  // For poll(2) and friends: -1 when never, rounded up, at most `cap_ms`.
  int poll_timeout_ms(int cap_ms = 1 << 30) const {
    if (is_never()) return cap_ms == 1 << 30 ? -1 : cap_ms;
    auto ms = std::chrono::ceil<std::chrono::milliseconds>(remaining()).count();
    return static_cast<int>(std::min<std::int64_t>(ms, cap_ms));
  }
  // The earlier of the two.
  Deadline sooner(Deadline other) const { return when_ < other.when_ ? *this : other; }

 private:
  explicit Deadline(Clock::time_point when) : when_(when) {}
  Clock::time_point when_;
};

}  // namespace tf
