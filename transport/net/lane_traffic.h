// SPDX-License-Identifier: Apache-2.0
// What this host's kernel has counted on a TCP connection.
#pragma once

#include <optional>
#include <string_view>

#include "transport/endpoint.h"

namespace tf::net {

// `name`: of the lane, a literal. Nothing: no TCP connection, or a kernel that does not count (before Linux
// 4.19). Any thread.
std::optional<LaneTraffic> traffic_of(int socket, std::string_view name);

}  // namespace tf::net
