// SPDX-License-Identifier: Apache-2.0
// Whose process is at the other end of a TCP connection within this host. TCP itself does not say
// (SO_PEERCRED is for Unix sockets), but the kernel knows both ends of a loopback connection: sock_diag(7)
// tells the user of the other one, and /proc/net/tcp where a kernel has no sock_diag.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "transport/base/status.h"
#include "transport/net/address.h"

namespace tf::worker {

// The user that made the other socket of a connected loopback one. As sock_diag, it means the sockets of this
// network namespace, and numbers of this user namespace.
//
// kUnsupported: not a loopback TCP connection. kPeerLost: the other end has no process any more, or has begun
// to close (then the kernel names root, whoever it was). kUnavailable: the kernel does not tell, with the
// reason.
Result<uid_t> loopback_peer(int socket);

// The two ends of a connection, as the peer sees it.
struct LoopbackPair {
  net::SocketAddress peer;
  net::SocketAddress own;
};

// The two ways, for tests. Errors as above.
Result<uid_t> peer_by_sock_diag(const LoopbackPair& pair);
// `table`: what /proc/net/tcp (or tcp6, for the family of `pair`) has.
Result<uid_t> peer_by_table(const LoopbackPair& pair, std::string_view table);

}  // namespace tf::worker
