// SPDX-License-Identifier: Apache-2.0
// Runs a client's handshake (transport/secure/handshake.h) over a fresh control connection.
#pragma once

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/secure/handshake.h"

namespace tf::net {

// What the peer's first byte is, without taking it: whether it speaks TLS. kPeerLost: it has hung up.
Result<bool> answers_in_tls(int socket, Deadline deadline);

// Sends and receives until the session stands. A failure is told to the peer, as far as TLS has words for it.
Status run_handshake(int socket, secure::Handshake& handshake, Deadline deadline);

}  // namespace tf::net
