// SPDX-License-Identifier: Apache-2.0
// TF_IO_TIMEOUT: how long a host may be silent before it counts as lost. Parsed here for all users: the
// client, the worker's control connections, and every transport.
#pragma once

#include <chrono>
#include <string_view>

#include "transport/base/status.h"

namespace tf::net {

inline constexpr std::chrono::seconds kIoTimeout{30};  // if the variable is not set
inline constexpr std::chrono::seconds kIoTimeoutMax{86'400};

// Seconds from 1 to kIoTimeoutMax. Empty: kIoTimeout; other text is kInvalidArgument.
Result<std::chrono::seconds> parse_io_timeout(std::string_view text);
Result<std::chrono::seconds> io_timeout_from_environment();

}  // namespace tf::net
