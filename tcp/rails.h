// SPDX-License-Identifier: Apache-2.0
// Rails: several addresses of one worker, which a client's payload connections go to in turn, so that large
// payload crosses several network interfaces. Messages stay on the address that the session was opened with.
#pragma once

#include <string>
#include <vector>

#include "tcp/options.h"
#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/address.h"
#include "transport/net/fd.h"

namespace tf::tcp {

struct DialledRails {
  std::vector<net::OwnedFd> sockets;  // the connections of an endpoint, by number
  std::vector<std::string> remarks;   // of rails that nobody answers on, for the log
};

// Connects to `worker` and, for payload, to `rails`; to `worker` if there are none, or none answers. A rail
// that does not answer soon, or not for every connection, is left out, and the others get its connections.
Result<DialledRails> dial_rails(const net::Address& worker, const std::vector<net::Address>& rails,
                                const Layout& layout, Deadline deadline);

}  // namespace tf::tcp
