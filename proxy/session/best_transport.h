// SPDX-License-Identifier: Apache-2.0
// "auto": the best transport that works. The worker, or the network between, may not support what this
// machine does, so if one transport cannot connect the next one is tried.
#pragma once

#include <functional>

#include "proxy/session/connect.h"
#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/factory/factory.h"
#include "transport/net/address.h"
#include "transport/net/transport.h"

namespace tf::proxy {

// Connects over one transport, by the deadline.
using ConnectOver = std::function<Result<Connected>(const net::Transport&, Deadline)>;

// Calls `attempt` for the transports of `list` that are possible towards `address`, until one connects. Each
// attempt gets half of the time left until `deadline`, the last one all of it. Returns the failure of the
// last attempt; earlier ones are logged (TF_DEBUG).
Result<Connected> connect_over_best(TransportList list, const net::Address& address,
                                    const ConnectOver& attempt, Deadline deadline);

}  // namespace tf::proxy
