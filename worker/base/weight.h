// SPDX-License-Identifier: Apache-2.0
// Weights of sessions where the host's processors are the device. A plain function.
#pragma once

#include <cstdint>

#include "worker/base/limits.h"

namespace tf::worker {

// The nice(7) value that gives a session's threads such a part of what one with kWeightMax gets: each step is
// a fifth less (sched(7): 1.25 to 1).
constexpr int nice_of_weight(std::uint64_t weight) {
  int nice = 0;
  for (double part = static_cast<double>(kWeightMax) * 0.9; nice < 19 && part > static_cast<double>(weight);
       part *= 0.8)
    ++nice;
  return nice;
}

}  // namespace tf::worker
