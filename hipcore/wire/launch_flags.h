// SPDX-License-Identifier: Apache-2.0
// What `flags` of Launch and BuildKernelNode say.
#pragma once

#include <cstdint>

namespace tf::protocol {

inline constexpr std::uint32_t kLaunchCooperative = 1;
// `grid` counts threads, not blocks: the last block of an axis has fewer than the others. Not of a graph's
// node.
inline constexpr std::uint32_t kLaunchThreads = 2;

}  // namespace tf::protocol
