// SPDX-License-Identifier: Apache-2.0
// Access rights to memory, as programs set them for pools and mappings.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "worker/runtime/common/device.h"

namespace tf::runtime {

inline constexpr std::size_t kAccessMax = 256;  // descriptors in one call

inline bool is_device(const hipMemLocation* place) {
  return place && place->type == hipMemLocationTypeDevice && valid_device(place->id);
}

// hipErrorInvalidDevice where only a device is wrong.
inline hipError_t check_access(const hipMemAccessDesc* wishes, std::size_t count) {
  if (!wishes || count == 0 || count > kAccessMax) return hipErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i) {
    if (wishes[i].location.type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
    if (!valid_device(wishes[i].location.id)) return hipErrorInvalidDevice;
  }
  return hipSuccess;
}

}  // namespace tf::runtime
