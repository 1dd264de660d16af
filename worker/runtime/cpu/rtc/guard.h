// SPDX-License-Identifier: Apache-2.0
// Guard: a second process that cleans up after a compilation if this one ends during it, killed or not: it
// ends the processes started, and removes the directory. Belongs to one thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "transport/net/fd.h"

namespace tf::cpu::rtc {

class Guard {
 public:
  // If no guard can be started there is none: it is rarely needed.
  explicit Guard(const std::string& directory);
  // Removes the directory, and waits for that.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // From now on the processes of `group` end with this process; 0: there are none any more.
  void watch(pid_t group);

 private:
  net::OwnedFd lifeline_;  // a socket that closes with this process, which tells the guard
  pid_t pid_ = -1;
};

}  // namespace tf::cpu::rtc
