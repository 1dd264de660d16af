// SPDX-License-Identifier: Apache-2.0
// Advice for users whose worker cannot be reached. Added once, where the address is known.
#pragma once

#include "proxy/base/environment.h"
#include "transport/base/status.h"
#include "transport/net/address.h"

namespace tf::proxy {

// `failure` to open a connection to `address`: nothing listens there, or nothing answers.
Status advise_unreachable(const Status& failure, const net::Address& address, const Settings& settings);
// `failure` of the handshake on an open connection: silence, or an unexpected answer.
Status advise_handshake(const Status& failure, const net::Address& address, const Settings& settings);

}  // namespace tf::proxy
