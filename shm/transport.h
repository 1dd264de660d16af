// SPDX-License-Identifier: Apache-2.0
// The shared-memory transport, for two processes on one host. They meet over the worker's Unix socket.
#pragma once

#include "transport/net/transport.h"

namespace tf::shm {

inline constexpr net::TransportKind kKind{1};  // on the wire

const net::Transport& transport();

}  // namespace tf::shm
