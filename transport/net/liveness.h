// SPDX-License-Identifier: Apache-2.0
// Who counts as lost, and when. TF_IO_TIMEOUT (transport/net/io_timeout.h) is how long a host may be silent;
// how long a host that answers may be busy is nobody's to bound.
//
// What bounds what over TCP, where a host can vanish without a word:
//
//   control connection  Nothing is sent on it after the greeting, so the peer's kernel is asked whether it is
//                       there (keepalive), and the connection ends when nothing came back for the timeout.
//                       Whoever loses it ends the session, whatever the lanes are doing. watch_silence().
//   lane, idle          Keepalive as well: what lies between the hosts does not forget the lane, and if it
//                       did, that is found. watch_idle().
//   lane, data sent     No limit of ours. A peer whose program does not read has its window shut, and its
//                       kernel answers the probes of ours; when its buffers are full it may also drop data
//                       without a word (Linux before 6.6). Neither is to be told from a lane that is cut
//                       alone with data under way: that one ends when the kernel has sent the data again as
//                       often as it does (net.ipv4.tcp_retries2, a quarter of an hour).
//
// TCP_USER_TIMEOUT is for the control connection alone: a connection whose window stays shut for that long
// is ended by the kernel although the peer answers every probe (tcp(7); tcp_probe_timer() of Linux).
//
// A process that is stopped (SIGSTOP, a debugger) is busy: its kernel answers. One that is killed, or whose
// host shuts down, has its connections closed by its kernel, which is seen at once, over every transport.
// Over shm there is no other way to be lost; over rdma queue pairs have limits of their own (rdma/retries.h).
#pragma once

#include <chrono>

#include "transport/base/status.h"

namespace tf::net {

// Both do nothing for Unix sockets. kInvalidArgument: the timeout is not positive.
// A control connection: ends when the peer's host has been silent for `timeout`, at least 3 s.
Status watch_silence(int socket, std::chrono::milliseconds timeout);
// A lane: the same while it is idle; never while it has something to send.
Status watch_idle(int socket, std::chrono::milliseconds timeout);

}  // namespace tf::net
