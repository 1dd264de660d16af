// SPDX-License-Identifier: Apache-2.0
// LogLimit: limits log lines that anybody can cause at will (garbage, scans, refusals). A burst first, then
// one per period. Suppressed lines are counted, and the next line that gets through says how many. One
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "worker/base/log.h"

namespace tf::worker {

inline constexpr unsigned kLogBurst = 20;                     // lines at once
inline constexpr std::chrono::milliseconds kLogPeriod{1000};  // then one per period

class LogLimit {
 public:
  using Clock = std::chrono::steady_clock;

  // `about`: what the lines are about, for the line that counts those left out.
  explicit LogLimit(std::string_view about = "about refused connections", unsigned burst = kLogBurst,
                    std::chrono::milliseconds period = kLogPeriod)
      : about_(about), burst_(burst), period_(period), tokens_(burst) {}

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    if (!allow(Clock::now())) return;
    tell_left_out();
    log(LogLevel::kWarning, format, std::forward<Args>(args)...);
  }
  // Whether a line may be written now; if not, counts it as left out.
  bool allow(Clock::time_point now);
  // Whether allow() would say no.
  bool exhausted(Clock::time_point now) const { return tokens_ == 0 && now - refilled_ < period_; }
  std::uint64_t left_out() const { return left_out_; }
  // Writes and clears the count, if there is one.
  void tell_left_out();

 private:
  std::string_view about_;
  unsigned burst_;
  std::chrono::milliseconds period_;
  unsigned tokens_;
  Clock::time_point refilled_{};
  std::uint64_t left_out_ = 0;
};

}  // namespace tf::worker
