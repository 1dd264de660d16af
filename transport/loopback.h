// SPDX-License-Identifier: Apache-2.0
// Loopback: two endpoints in one process, joined by memory. The reference implementation of Endpoint: as
// simple as the contract allows, with every limit that real transports have. For tests and in-process use.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "transport/endpoint.h"

namespace tf {

struct LoopbackOptions {
  std::size_t queue_bytes = 256 * 1024;       // messages in flight, per direction
  std::size_t bulk_pipe_bytes = 1024 * 1024;  // payload in flight, per direction
};

// The two endpoints may be used by different threads, and destroyed in any order.
std::pair<std::unique_ptr<Endpoint>, std::unique_ptr<Endpoint>> make_loopback_pair(
    LoopbackOptions options = {});

}  // namespace tf
