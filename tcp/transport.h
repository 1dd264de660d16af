// SPDX-License-Identifier: Apache-2.0
// The tcp transport: an endpoint is two stream connections, lane 0 messages and lane 1 bulk, and up to
// kPayloadLanesMax more for pieces of large payload. Any thread.
#pragma once

#include <memory>

#include "tcp/options.h"
#include "transport/net/transport.h"

namespace tf::tcp {

inline constexpr net::TransportKind kKind{3};  // on the wire

// With options from the environment, read at the first call.
const net::Transport& transport();
std::unique_ptr<net::Transport> make_transport(const Options& options);

}  // namespace tf::tcp
