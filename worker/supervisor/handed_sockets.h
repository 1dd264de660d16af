// SPDX-License-Identifier: Apache-2.0
// Sockets that a service manager has bound, and hands to the process that it starts (sd_listen_fds(3)): from
// descriptor 3 on, LISTEN_FDS of them, for the process LISTEN_PID.
#pragma once

#include <vector>

#include "transport/base/status.h"
#include "transport/net/socket.h"

namespace tf::worker {

inline constexpr int kHandedSocketsMax = 16;

// Those that this process was handed; none if the variables are not there, or are for another process. Takes
// the variables out of the environment, and keeps the descriptors from processes that are started. REQUIRES:
// no other thread runs yet. kInvalidArgument: a number out of range, or a descriptor that is no stream socket
// that listens.
Result<std::vector<net::Listener>> take_handed_sockets();

}  // namespace tf::worker
