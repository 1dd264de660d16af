// SPDX-License-Identifier: Apache-2.0
// Endpoint over a shared segment. After the handshake the lane's Unix socket carries nothing; its end tells
// each side that the other is gone.
#pragma once

#include <memory>

#include "shm/segment.h"
#include "transport/endpoint.h"
#include "transport/net/fd.h"

namespace tf::shm {

Result<std::unique_ptr<tf::Endpoint>> make_endpoint(Segment segment, net::OwnedFd socket, Side side);

}  // namespace tf::shm
