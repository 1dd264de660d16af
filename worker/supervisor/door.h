// SPDX-License-Identifier: Apache-2.0
// Door: who may connect through the worker's Unix socket, or through its TCP port on loopback if no keys are
// needed there. Asked once for each connection, whatever it is going to be, before a byte of it is read.
// Belongs to the supervisor.
//
// These may: the worker's own user, the users of --allow-uid, and, through the Unix socket, who is in a group
// of
// --allow-gid (of a TCP connection the kernel tells the user only). Root is
// no exception, as with PostgreSQL's "peer": the command line says who comes in, and nothing else does. That
// keeps nobody out who can become the worker's user. It does keep out a root that cannot (in a container).
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "transport/net/socket.h"
#include "worker/base/log_limit.h"
#include "worker/base/options.h"

namespace tf::worker {

class Door {
 public:
  Door(uid_t own, Guests guests) : own_(own), guests_(std::move(guests)) {}

  // The user at the other end of a fresh connection, if it may come in; `is_unix`: it is a Unix socket's,
  // else one of loopback TCP. If not, it was told and logged.
  std::optional<uid_t> admit(int socket, bool is_unix);
  // The rule alone. `groups`: supplementary ones.
  bool admits(const net::PeerCredentials& peer, std::span<const gid_t> groups) const;
  bool admits(uid_t user) const;

 private:
  std::optional<uid_t> admit_unix(int socket);
  std::optional<uid_t> admit_loopback(int socket);
  void refuse(int socket, const std::string& why, const std::string& logged);

  const uid_t own_;
  const Guests guests_;
  LogLimit log_;  // of its own: who is refused without end must not silence what others cause
};

}  // namespace tf::worker
