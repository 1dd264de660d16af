// SPDX-License-Identifier: Apache-2.0
// The shared-memory transport, for two processes on one host. They meet over the worker's Unix socket.
#pragma once

#include "transport/net/transport.h"

namespace tf::shm {

const net::Transport& transport();

}  // namespace tf::shm
