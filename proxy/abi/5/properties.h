// SPDX-License-Identifier: Apache-2.0
// hipDeviceProp_t as HIP 5 lays it out, from our own snapshot. Pure functions.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/wire/device_snapshot.h"

namespace tf::proxy::abi5 {

static_assert(sizeof(hipDeviceProp_t) == 792, "this library is built for programs of HIP 5");

void to_hip(const protocol::DeviceProperties& from, hipDeviceProp_t& to);

// How many of the nonzero fields of `wish` the candidate meets; for hipChooseDevice.
int matches(const hipDeviceProp_t& wish, const hipDeviceProp_t& candidate);

}  // namespace tf::proxy::abi5
