// SPDX-License-Identifier: Apache-2.0
// Landlock: which files the calling process, and all that it starts, may reach from now on. Declared here,
// because Debian 12's headers know its second version only; what the kernel has is asked at run time.
#pragma once

#include <cstdint>
#include <string>

#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::worker {

class Landlock {
 public:
  enum class Access {
    kRead,    // files and folders are read, programs run
    kDevice,  // read, written and asked by ioctl(2); nothing is made
    kOwn      // all that a folder of one's own needs
  };

  // The version of the kernel's interface; 0: it has none, or does not allow it here.
  static int version();

  // All files, and TCP connections, are closed to begin with; with version 6, so are signals to others and
  // abstract sockets.
  static Result<Landlock> make();

  // Opens what lies at `path` and below it. What is not there stays closed.
  void open(const std::string& path, Access access);
  // The same for an open file.
  Status open(int file, Access access);

  // For the calling thread and all that it starts, as often as there are threads. REQUIRES: no_new_privs is
  // set
  Status close_the_rest() const;

  bool holds_signals() const { return version_ >= kSignalsSince; }

 private:
  static constexpr int kSignalsSince = 6;

  Landlock(int version, net::OwnedFd rules) : version_(version), rules_(std::move(rules)) {}

  int version_;
  net::OwnedFd rules_;
};

}  // namespace tf::worker
