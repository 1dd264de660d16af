// SPDX-License-Identifier: Apache-2.0
// Two connected endpoints of any transport, made the way a worker and its client make them.
#pragma once

#include <memory>

#include "transport/endpoint.h"
#include "transport/net/socket.h"
#include "transport/net/transport.h"

namespace tf::test {

inline constexpr std::chrono::seconds kConnectTimeout(10);

// A listening address that nothing else in this machine uses: an abstract Unix socket, or a loopback port.
Result<net::Listener> listen_unix();
Result<net::Listener> listen_tcp();

// Worker side: accepts lanes on `listener` until the endpoint that `token` names is complete.
Result<std::unique_ptr<Endpoint>> accept_endpoint(net::Listener& listener, const net::Transport& transport,
                                                  const net::Token& token, Deadline deadline);

struct EndpointPair {
  std::unique_ptr<Endpoint> client;
  std::unique_ptr<Endpoint> server;
};

// Both ends in this process; a helper thread accepts and has ended when this returns.
Result<EndpointPair> connect_pair(const net::Transport& transport, net::Listener& listener);
// The same where each end has a transport of its own. A failure is the client's, if it has one.
Result<EndpointPair> connect_pair(const net::Transport& client_side, const net::Transport& worker_side,
                                  net::Listener& listener);

}  // namespace tf::test
