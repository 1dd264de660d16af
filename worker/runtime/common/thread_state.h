// SPDX-License-Identifier: Apache-2.0
// ThreadState: what the front keeps for each thread. A Backend's own is derived from it, and trivial, so that
// calls from destructors that run after main still find it.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::runtime {

struct ThreadState {
  int device = 0;
  hipError_t last_error = hipSuccess;
  // Kept for the program; see graph::Library::exchange_mode().
  hipStreamCaptureMode capture_mode = hipStreamCaptureModeGlobal;
};

}  // namespace tf::runtime
