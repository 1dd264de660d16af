// SPDX-License-Identifier: Apache-2.0
// Work on a device that need not be the thread's.
#pragma once

#include <hip/hip_runtime_api.h>

#include <utility>

#include "worker/runtime/common/backend.h"

namespace tf::runtime {

// Runs the body with that device the thread's. Called inside a call.
template <typename Body>
hipError_t on_device(int device, Body&& body) {
  const int before = Backend::thread().device;
  Backend::select_device(device);
  const hipError_t status = Backend::call(std::forward<Body>(body));
  if (before == device) return status;
  Backend::select_device(before);
  const hipError_t back = Backend::call([] { return hipSuccess; });  // the thread is ready again
  return status != hipSuccess ? status : back;
}

}  // namespace tf::runtime
