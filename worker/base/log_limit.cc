// SPDX-License-Identifier: Apache-2.0
// Limits log lines that anybody can cause.
#include "worker/base/log_limit.h"

#include <algorithm>

namespace tf::worker {

bool LogLimit::allow(Clock::time_point now) {
  const auto periods = (now - refilled_) / period_;
  if (periods > 0) {
    tokens_ = static_cast<unsigned>(std::min<std::int64_t>(burst_, tokens_ + periods));
    refilled_ = now;
  }
  if (tokens_ == 0) {
    ++left_out_;
    return false;
  }
  --tokens_;
  return true;
}

void LogLimit::tell_left_out() {
  if (const std::uint64_t count = std::exchange(left_out_, 0); count != 0)
    log(LogLevel::kWarning, "{} lines {} were left out", count, about_);
}

}  // namespace tf::worker
