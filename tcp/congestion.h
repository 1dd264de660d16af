// SPDX-License-Identifier: Apache-2.0
// Which congestion control a connection uses.
#pragma once

#include <string>
#include <string_view>

#include "transport/base/status.h"

namespace tf::tcp {

// Of TF_TCP_CONGESTION: empty, "system", or the kernel's name of one. Other text is kInvalidArgument.
Result<std::string> parse_congestion(std::string_view text);

// Sets it. Empty: cubic where the path is short (kShortPath_us), because bbr, the default of some systems,
// paces what it sends, which costs 40 % there; the system's own on longer paths. "system": the system's own.
// A name: that one, and kUnavailable if the kernel refuses it. Does nothing to a socket that is not TCP.
Status set_congestion(int socket, const std::string& wanted);

// For people: "reno", "cubic where a round trip takes less than 2 ms, else the system's".
std::string describe_congestion(const std::string& wanted);

// Round trips of a path on one host or inside a data centre.
inline constexpr unsigned kShortPath_us = 2000;

}  // namespace tf::tcp
