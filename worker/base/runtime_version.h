// SPDX-License-Identifier: Apache-2.0
// What differs between releases of AMD's runtime.
#pragma once

#include "hipcore/wire/gen/hip_table.h"

namespace tf::worker {

// hipRuntimeGetVersion() of these releases.
inline constexpr int kRocm56 = 50'600'000;
inline constexpr int kRocm60 = 60'000'000;
inline constexpr int kRocm61 = 60'100'000;
inline constexpr int kRocm70 = 70'000'000;

// A runtime that does not tell its version counts as older.
inline bool is_older_than(int version, const protocol::HipTable& runtime) {
  int found = 0;
  return runtime.hipRuntimeGetVersion(&found) != hipSuccess || found < version;
}

// The one value that hipIpcOpenMemHandle() of AMD's runtime takes for its flags
// (hipIpcMemLazyEnablePeerAccess).
inline unsigned ipc_open_flags(const protocol::HipTable& runtime) {
  return is_older_than(kRocm60, runtime) ? 0 : 1;
}

}  // namespace tf::worker
