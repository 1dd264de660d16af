// SPDX-License-Identifier: Apache-2.0
// Guard: a process beside this one that cleans up after a compilation when this one ends in the midst of it,
// killed or not: it ends what was started, and removes the directory. Belongs to one thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "transport/net/fd.h"

namespace tf::cpu::rtc {

class Guard {
 public:
  // Where no guard can be started there is none: what it is for is seldom.
  explicit Guard(const std::string& directory);
  // Removes the directory and waits for that.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Processes of `group` end with this process from now on; 0: there are none any more.
  void watch(pid_t group);

 private:
  net::OwnedFd lifeline_;  // a socket that is closed with this process, which is how the guard hears of it
  pid_t pid_ = -1;
};

}  // namespace tf::cpu::rtc
