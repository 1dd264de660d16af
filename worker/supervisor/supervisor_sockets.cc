// SPDX-License-Identifier: Apache-2.0
// Where the worker listens: sockets that a service manager has handed to it, and those that it opens itself.
#include <algorithm>
#include <utility>

#include "worker/supervisor/handed_sockets.h"
#include "worker/supervisor/supervisor.h"

namespace tf::worker {

// A handed socket stands in for the option that would open one of its kind, and what holds for that option
// holds for it.
Status Supervisor::take_listeners() {
  Result<std::vector<net::Listener>> handed = take_handed_sockets();
  if (!handed) return handed.status();
  for (net::Listener& listener : *handed) {
    const net::Address& address = listener.address();
    if (address.is_unix()) {
      options_.socket = address.path();
    } else if (options_.no_tcp) {
      return invalid_argument("the service manager hands over " + address.to_string() +
                              ", and --no-tcp forbids it");
    } else if (options_.keys.key_file.empty() && !address.is_local()) {
      return {Code::kPermission,
              "the service manager hands over " + address.to_string() +
                  ": anyone who can reach this address could run code here. Off loopback it takes "
                  "--key-file and --authorized-keys (docs/operating.md)"};
    } else {
      options_.tcp = true;
      options_.listen = address.host();
      options_.port = address.port();
    }
    listeners_.push_back(std::move(listener));
  }
  if (!listeners_.empty() && options_.socket_is_default && !has_listener(true)) options_.socket.clear();
  return Status::ok();
}

bool Supervisor::has_listener(bool is_unix) const {
  return std::ranges::any_of(listeners_,
                             [&](const net::Listener& one) { return one.address().is_unix() == is_unix; });
}

Status Supervisor::open_listeners() {
  if (options_.tcp && !has_listener(false)) {
    Result<net::Listener> listener = net::Listener::open(net::Address::tcp(options_.listen, options_.port));
    if (!listener) return listener.status();
    options_.port = listener->address().port();
    listeners_.push_back(std::move(*listener));
    // "localhost" means ::1 to some programs; without IPv6 nobody will ask for it.
    if (options_.listen == "127.0.0.1") {
      Result<net::Listener> v6 = net::Listener::open(net::Address::tcp("::1", options_.port));
      if (v6) listeners_.push_back(std::move(*v6));
    }
  }
  if (!options_.socket.empty() && !has_listener(true)) {
    Result<net::Listener> listener =
        net::Listener::open(net::Address::unix_socket(options_.socket), options_.socket_file);
    if (!listener) return listener.status();
    listeners_.push_back(std::move(*listener));
  }
  return Status::ok();
}

}  // namespace tf::worker
