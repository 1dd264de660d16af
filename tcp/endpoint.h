// SPDX-License-Identifier: Apache-2.0
// The tcp transport's Endpoint: a message lane and a bulk lane, each its own connection, so that neither
// delays the other. Threads as in transport/endpoint.h.
#pragma once

#include <memory>

#include "tcp/options.h"
#include "tcp/protection.h"
#include "transport/endpoint.h"
#include "transport/net/fd.h"

namespace tf::tcp {

// Takes ownership of two connected sockets whose attach frames, and proofs, are done.
Result<std::unique_ptr<Endpoint>> make_endpoint(net::OwnedFd message_socket, net::OwnedFd bulk_socket,
                                                const Options& options, const Protection& protection = {});

}  // namespace tf::tcp
