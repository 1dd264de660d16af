// SPDX-License-Identifier: Apache-2.0
// The transports of this build, in order of preference, and the meaning of TF_TRANSPORT.
//
// The list is written out in transports.txt; nothing registers itself. Functions that use a list take another one
// too; it must outlive what they return from it. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "transport/base/status.h"
#include "transport/net/address.h"
#include "transport/net/transport.h"

namespace tf {

using TransportList = std::span<const net::Transport* const>;  // best first

// Those of transports.txt, in its order.
TransportList transports();
// Their names. No transport is made for it: rdma reads its variables when it is.
std::span<const std::string_view> transport_names();

// The transport to use towards `address`. `wanted` is the value of TF_TRANSPORT: "" or "auto" takes the first
// one that works here; a name takes that one or fails. On failure the message lists every transport with
// "possible" or the reason why not.
Result<const net::Transport*> choose(std::string_view wanted, const net::Address& address,
                                     TransportList list = transports());

// "" or "auto".
bool is_any(std::string_view wanted);
// The best transport behind `transport` in the list that is possible towards `address`; nullptr: none.
const net::Transport* next_possible(const net::Transport& transport, const net::Address& address,
                                    TransportList list = transports());

// The list as text, one transport per line: "shm   not possible: ...".
std::string describe_transports(const net::Address& address, TransportList list = transports());

}  // namespace tf
