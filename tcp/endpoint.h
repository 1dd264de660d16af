// SPDX-License-Identifier: Apache-2.0
// The tcp transport's Endpoint: a message lane, a bulk lane and perhaps piece lanes, each its own connection,
// so that none delays another. Threads as in transport/endpoint.h; each piece lane has one besides.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tcp/options.h"
#include "tcp/protection.h"
#include "transport/endpoint.h"
#include "transport/net/fd.h"

namespace tf::tcp {

// Takes ownership of connected sockets, by number (options.h), whose attach frames and proofs are done.
// REQUIRES: as many as some Layout with options.recoverable has. `remarks`: for take_remarks().
Result<std::unique_ptr<Endpoint>> make_endpoint(std::vector<net::OwnedFd> sockets, const Options& options,
                                                const Protection& protection = {},
                                                std::vector<std::string> remarks = {});

}  // namespace tf::tcp
