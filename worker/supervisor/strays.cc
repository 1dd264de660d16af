// SPDX-License-Identifier: Apache-2.0
// Finds and kills what sessions have left behind.
#include "worker/supervisor/strays.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>

namespace tf::worker {
namespace {

// Of the supervisor's one thread.
std::set<pid_t> children() {
  std::set<pid_t> found;
  std::ifstream list(fmt::format("/proc/self/task/{}/children", ::getpid()));
  for (pid_t pid = 0; list >> pid;) found.insert(pid);
  return found;
}

}  // namespace

void Strays::adopt() {
  before_ = children();
  static_cast<void>(::prctl(PR_SET_CHILD_SUBREAPER, 1));  // Linux 3.4 and later
}

void Strays::kill(const std::function<bool(pid_t)>& known) const {
  for (const pid_t pid : children())
    if (!before_.contains(pid) && !known(pid)) ::kill(pid, SIGKILL);
}

}  // namespace tf::worker
