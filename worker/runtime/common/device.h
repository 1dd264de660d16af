// SPDX-License-Identifier: Apache-2.0
// What the front asks about the number of a device.
#pragma once

#include <hip/hip_runtime_api.h>

#include "worker/runtime/common/api.h"

namespace tf::runtime {

inline bool valid_device(int ordinal) { return ordinal >= 0 && ordinal < Backend::device_count(); }

// A frame of what needs no device to be ready, but one that there is.
template <typename Body>
hipError_t with_device(int ordinal, Body&& body) {
  return host_api([&]() -> hipError_t { return valid_device(ordinal) ? body() : hipErrorInvalidDevice; });
}

}  // namespace tf::runtime
