// SPDX-License-Identifier: Apache-2.0
// "auto": the best transport that works. What this machine can do the worker's may not, nor the network
// between them, so one that cannot connect is followed by the next.
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

// By `attempt`, over the first of `list` that is possible towards `address` and connects. Each has half of
// what is left until `deadline`, the last one all of it. The failure is that of the last attempt; those
// before are logged (TF_DEBUG).
Result<Connected> connect_over_best(TransportList list, const net::Address& address,
                                    const ConnectOver& attempt, Deadline deadline);

}  // namespace tf::proxy
