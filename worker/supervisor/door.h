// SPDX-License-Identifier: Apache-2.0
// Door: who may connect through the worker's Unix socket. Asked once for each connection, whatever it is
// going to be, before a byte of it is read. Belongs to the supervisor.
//
// These may: the worker's own user, the users of --allow-uid, and who is in a group of --allow-gid. Root is
// no exception, as with PostgreSQL's "peer": the command line says who comes in, and nothing else does. That
// keeps nobody out who can become the worker's user. It does keep out a root that cannot (in a container).
#pragma once

#include <sys/types.h>

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

  // Whether the process at the other end of a fresh connection may come in. If not, it was told and logged.
  bool admits(int socket);
  // The rule alone. `groups`: supplementary ones.
  bool admits(const net::PeerCredentials& peer, std::span<const gid_t> groups) const;

 private:
  void refuse(int socket, const std::string& why, const std::string& logged);

  const uid_t own_;
  const Guests guests_;
  LogLimit log_;  // of its own: who is refused without end must not silence what others cause
};

}  // namespace tf::worker
