// SPDX-License-Identifier: Apache-2.0
// The transports of this build, in order of preference, and the meaning of TF_TRANSPORT.
//
// The list is written out in transports.txt; nothing registers itself. Tests pass lists of their own, which
// must outlive what is returned from them. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "transport/base/status.h"
#include "transport/net/address.h"
#include "transport/net/transport.h"

namespace tf {

using TransportList = std::span<const net::Transport* const>;  // best first

// All of transports.txt, in its order. One that this build lacks is there, too: its available() says why.
TransportList transports();
// Their names. This constructs no transport; rdma, for one, reads its variables when it is constructed.
std::span<const std::string_view> transport_names();

// The transport to use for `address`. `wanted` is the value of TF_TRANSPORT: "" or "auto" takes the first one
// that reaches `address` and is available here; a name takes that one or fails. On failure the message lists
// every transport with "possible" or the reason why not.
Result<const net::Transport*> choose(std::string_view wanted, const net::Address& address,
                                     TransportList list = transports());

// "" or "auto".
bool is_any(std::string_view wanted);
// The first transport after `transport` in the list that is possible for `address`; nullptr: none.
const net::Transport* next_possible(const net::Transport& transport, const net::Address& address,
                                    TransportList list = transports());

// The list as text, one transport per line: "shm   not possible: ...".
std::string describe_transports(const net::Address& address, TransportList list = transports());

}  // namespace tf
