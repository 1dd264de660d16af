// SPDX-License-Identifier: Apache-2.0
// Which of AMD's defects a runtime has.
#pragma once

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

inline constexpr int kRocm56 = 50'600'000;  // hipRuntimeGetVersion() of ROCm 5.6

// A runtime that does not tell its version counts as older.
inline bool is_older_than(int version, const protocol::HipTable& runtime) {
  int found = 0;
  return runtime.hipRuntimeGetVersion(&found) != hipSuccess || found < version;
}

}  // namespace tf::worker
