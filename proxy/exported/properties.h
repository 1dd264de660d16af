// SPDX-License-Identifier: Apache-2.0
// hipDeviceProp_t as HIP 5 lays it out, from our own snapshot. Pure functions.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/wire/device_snapshot.h"

namespace tf::proxy {

static_assert(sizeof(hipDeviceProp_t) == 792, "the form of HIP 5, which later majors call R0000");

void to_hip(const protocol::DeviceProperties& from, hipDeviceProp_t& to);

}  // namespace tf::proxy
