// SPDX-License-Identifier: Apache-2.0
// Tries transports in order until one connects.
#include "proxy/session/best_transport.h"

#include <string>

#include "proxy/base/log.h"

namespace tf::proxy {

Result<Connected> connect_over_best(TransportList list, const net::Address& address,
                                    const ConnectOver& attempt, Deadline deadline) {
  const Result<const net::Transport*> best = choose("auto", address, list);
  if (!best) return best.status();
  for (const net::Transport* transport = best.value();;) {
    if (is_debug())
      log_debug("transport " + std::string(transport->name()) + "; towards " + address.to_string() + ":\n" +
                describe_transports(address, list));
    const net::Transport* const next = next_possible(*transport, address, list);
    const Deadline own = next == nullptr ? deadline : Deadline::after(deadline.remaining() / 2);
    Result<Connected> parts = attempt(*transport, own);
    if (parts || next == nullptr || deadline.passed()) return parts;
    log_debug(std::string(transport->name()) + " cannot be used: " + parts.status().message());
    transport = next;
  }
}

}  // namespace tf::proxy
