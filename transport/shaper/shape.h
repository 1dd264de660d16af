// SPDX-License-Identifier: Apache-2.0
// Shape: the round trip time and rate of a simulated network. Values, and arithmetic on a clock that the
// caller reads.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "transport/base/deadline.h"
#include "transport/base/status.h"

namespace tf::shaper {

using Time = Deadline::Clock::time_point;

inline constexpr std::chrono::seconds kRttMax{10};
inline constexpr std::uint64_t kRateMin = 1'000;                  // bit/s
inline constexpr std::uint64_t kRateMax = 10'000'000'000'000ull;  // 10 Tbit/s

struct Shape {
  std::chrono::nanoseconds rtt{0};
  std::uint64_t bits_per_second = 0;  // 0: unlimited
};

// "rtt=100us,rate=10Gbit": either or both. Times in ns, us, ms, s; rates in bit, kbit, Mbit, Gbit (per
// second). kInvalidArgument says what is wrong and what is possible.
Result<Shape> parse_shape(std::string_view text);

// One direction of one plane: a wire that carries one thing after another.
class Link {
 public:
  explicit Link(const Shape& shape) : delay_(shape.rtt / 2), bits_per_second_(shape.bits_per_second) {}

  // Puts `bytes` on the wire, at `now` or after what is on it. Returns when the last of them arrives.
  Time send(Time now, std::size_t bytes) { return send(now, now, bytes); }
  // The same for bytes whose sender began to send at `began` and was done by `now`.
  Time send(Time began, Time now, std::size_t bytes) {
    free_ = std::max(began, free_) + serialisation(bytes);
    return std::max(free_, now) + delay_;
  }
  // When the wire is free again.
  Time free() const { return free_; }

 private:
  std::chrono::nanoseconds serialisation(std::size_t bytes) const {
    if (bits_per_second_ == 0) return std::chrono::nanoseconds(0);
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(bytes) * 8e9 / static_cast<double>(bits_per_second_)));
  }

  std::chrono::nanoseconds delay_;
  std::uint64_t bits_per_second_;
  Time free_{};
};

}  // namespace tf::shaper
