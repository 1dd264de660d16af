// SPDX-License-Identifier: Apache-2.0
// Checks of device numbers in the front.
#pragma once

#include <hip/hip_runtime_api.h>

#include "worker/runtime/common/api.h"

namespace tf::runtime {

inline bool valid_device(int ordinal) { return ordinal >= 0 && ordinal < Backend::device_count(); }

// The frame of functions that need an existing device, but not a ready one.
template <typename Body>
hipError_t with_device(int ordinal, Body&& body) {
  return host_api([&]() -> hipError_t { return valid_device(ordinal) ? body() : hipErrorInvalidDevice; });
}

}  // namespace tf::runtime
