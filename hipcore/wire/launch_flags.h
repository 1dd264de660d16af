// SPDX-License-Identifier: Apache-2.0
// What `flags` of Launch and BuildKernelNode say.
#pragma once

#include <cstdint>

namespace tf::protocol {

inline constexpr std::uint32_t kLaunchCooperative = 1;

}  // namespace tf::protocol
