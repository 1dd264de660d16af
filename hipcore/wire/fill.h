// SPDX-License-Identifier: Apache-2.0
// FillRequest::flags.
#pragma once

#include <cstdint>

namespace tf::protocol {

// The form of hipMemset without a stream: it is work of the null stream, and done before any later request of
// any stream.
inline constexpr std::uint32_t kFillSynchronous = 1;

}  // namespace tf::protocol
