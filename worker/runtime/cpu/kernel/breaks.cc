// SPDX-License-Identifier: Apache-2.0
// How often a thread looks at the clock between blocks; see breaks.h.
#include "worker/runtime/cpu/kernel/breaks.h"

#include <algorithm>
#include <utility>

namespace tf::cpu {
namespace {

// Looks this far apart find a break that is due soon enough. Those that are closer are wasted.
constexpr Breaks::Nanoseconds kTooClose = Breaks::kEvery / 8;
constexpr Breaks::Nanoseconds kTooFar = Breaks::kEvery / 2;

}  // namespace

bool Breaks::is_due(Nanoseconds now) {
  const Nanoseconds between = now - std::exchange(looked_at_, now);
  if (last_ == 0) {
    last_ = now;
  } else if (between < kTooClose) {
    apart_ = std::min(2 * apart_, kMostBlocks);
  } else if (between > kTooFar) {
    apart_ = 1;
  }
  left_ = apart_;
  return now - last_ >= every_;
}

void Breaks::ended(Nanoseconds now) {
  every_ = std::clamp(kApart * (now - looked_at_), kEvery, kLongest);
  looked_at_ = last_ = now;
}

}  // namespace tf::cpu
