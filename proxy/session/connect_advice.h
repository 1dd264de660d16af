// SPDX-License-Identifier: Apache-2.0
// What people can do about a worker that cannot be reached: said once, where the address is known.
#pragma once

#include "proxy/base/environment.h"
#include "transport/base/status.h"
#include "transport/net/address.h"

namespace tf::proxy {

// `failure` of opening a connection to `address`: nobody listens there, or nobody answers.
Status advise_unreachable(const Status& failure, const net::Address& address, const Settings& settings);
// `failure` of the handshake on a connection that was opened: silence, or the wrong words.
Status advise_handshake(const Status& failure, const net::Address& address, const Settings& settings);

}  // namespace tf::proxy
