// SPDX-License-Identifier: Apache-2.0
// When a peer counts as lost. TF_IO_TIMEOUT (transport/net/io_timeout.h) limits how long a host may be
// silent. Nothing limits how long a host that answers may be busy.
//
// The limits over TCP, where a host can vanish without a word:
//
//   control connection  Little is sent on it after the greeting. Keepalive asks the peer's kernel whether it
//                       is there; the connection ends when no answer came for the timeout. The side that
//                       loses it ends the session, whatever the lanes are doing. watch_silence().
//   lane, idle          Keepalive as well. It keeps the lane alive in whatever lies between the hosts, and
//                       finds out if the lane is lost nevertheless. watch_idle().
//   lane, data sent     No limit by what one side sees. A peer whose program does not read has a zero window,
//                       and its kernel answers our probes; when its buffers are full it may also drop data
//                       silently (Linux before 6.6). Neither can be told from a lane that alone was cut with
//                       data under way. Both sides together can tell: they compare what one has sent with
//                       what has arrived at the other (transport/lane_watch.h).
//
// TCP_USER_TIMEOUT is set on the control connection only: the kernel ends a connection whose window stays
// shut for that long, although the peer answers every probe (tcp(7); tcp_probe_timer() of Linux).
//
// A stopped process (SIGSTOP, a debugger) is busy: its kernel answers. If a process is killed or its host
// shuts down, its kernel closes the connections, which is seen at once, over every transport. Over shm there
// is no other way to be lost. Over rdma queue pairs have limits of their own (rdma/retries.h).
#pragma once

#include <chrono>

#include "transport/base/status.h"

namespace tf::net {

// Both do nothing for Unix sockets. kInvalidArgument: the timeout is not positive.
// A control connection: ends when the peer's host was silent for `timeout`, at least 3 s.
Status watch_silence(int socket, std::chrono::milliseconds timeout);
// A lane: the same while it is idle, but never while it has something to send.
Status watch_idle(int socket, std::chrono::milliseconds timeout);

}  // namespace tf::net
