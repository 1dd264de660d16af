// SPDX-License-Identifier: Apache-2.0
// ServiceManager: what systemd, or whoever else has set NOTIFY_SOCKET, hears of the worker: that it is ready,
// that it reads its keys again, that it is stopping, and that it still turns. The protocol is that of
// sd_notify(3), one datagram for each state; it is kept here and not taken from libsystemd, which would bring
// its own dependencies along.
//
// Belongs to the supervisor's thread. Nothing here blocks, and nothing fails: who does not listen misses
// something.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "transport/base/deadline.h"
#include "transport/net/fd.h"

namespace tf::worker {

class ServiceManager {
 public:
  // Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment: sessions have nothing to
  // report. REQUIRES: no other thread runs yet. Without NOTIFY_SOCKET all that follows does nothing.
  ServiceManager();

  // Clients are served from now on, or again. `status`: one line for `systemctl status`.
  void ready(const std::string& status);
  void reloading();
  void stopping();
  // From each turn of the loop: says so twice within the time that the service manager waits (WatchdogSec=).
  void turns();
  // When turns() is due; never without a watchdog.
  Deadline next() const { return period_ ? due_ : Deadline::never(); }

 private:
  void tell(const std::string& state);

  net::OwnedFd socket_;  // connected to it; none: nobody wants to know
  std::optional<std::chrono::microseconds> period_;
  Deadline due_ = Deadline::now();
};

}  // namespace tf::worker
