// SPDX-License-Identifier: Apache-2.0
// Loopback: two endpoints in one process, joined by memory. The reference for what an Endpoint does: as
// simple as the contract allows, with every bound that real transports have. For tests and in-process use.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "transport/endpoint.h"

namespace tf {

struct LoopbackOptions {
  std::size_t queue_bytes = 256 * 1024;       // messages on their way, per direction
  std::size_t bulk_pipe_bytes = 1024 * 1024;  // payload on its way, per direction
};

// The threads of the two endpoints are independent; each endpoint may be destroyed before the other.
std::pair<std::unique_ptr<Endpoint>, std::unique_ptr<Endpoint>> make_loopback_pair(
    LoopbackOptions options = {});

}  // namespace tf
