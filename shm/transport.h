// SPDX-License-Identifier: Apache-2.0
// The shared-memory transport: two processes of one host, met over the worker's Unix socket.
#pragma once

#include "transport/net/transport.h"

namespace tf::shm {

const net::Transport& transport();

}  // namespace tf::shm
