// SPDX-License-Identifier: Apache-2.0
// ThreadState: the front's state for each thread. A Backend derives its own from it; that is trivial, so that
// calls from destructors that run after main() still find it.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::runtime {

struct ThreadState {
  int device = 0;
  bool has_chosen = false;              // a device, by hipSetDevice
  hipError_t last_error = hipSuccess;   // hipGetLastError's
  hipError_t last_result = hipSuccess;  // of the thread's last call
  // Stored for the program; see graph::Library::exchange_mode().
  hipStreamCaptureMode capture_mode = hipStreamCaptureModeGlobal;
};

}  // namespace tf::runtime
