// SPDX-License-Identifier: Apache-2.0
// What a launch and a kernel in a graph have in common. Pure functions.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "hipcore/graph/work.h"
#include "hipcore/wire/device_snapshot.h"
#include "proxy/module/kernel_layout.h"

namespace tf::proxy {

inline constexpr std::uint32_t kLaunchCooperative = 1;  // `flags` on the wire

// What AMD's runtime refuses at the call.
hipError_t check_shape(const protocol::DeviceProperties& device, const KernelLayout& layout,
                       const LaunchShape& shape);
LaunchShape shape_of(const graph::KernelWork& work);

}  // namespace tf::proxy
