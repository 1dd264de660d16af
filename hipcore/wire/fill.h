// SPDX-License-Identifier: Apache-2.0
// FillRequest::flags.
#pragma once

#include <cstdint>

namespace tf::protocol {

// The form of hipMemset without a stream: it belongs to the null stream, and the runtime may wait for it.
inline constexpr std::uint32_t kFillSynchronous = 1;

}  // namespace tf::protocol
