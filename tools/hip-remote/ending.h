// SPDX-License-Identifier: Apache-2.0
// Ending: requests to end this program (SIGINT, SIGTERM, SIGHUP), as something to wait for.
//
// While one exists the signals are blocked, and every wait for a child checks here too. So no process that we
// started, and no temporary file, is left behind. A signal that was ignored from the start stays ignored. One
// per process; children get the signals as usual (tools/hip-remote/process.cc).
#pragma once

#include <csignal>

#include "transport/net/fd.h"

namespace tf::tools {

class Ending {
 public:
  Ending();
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending();

  // Readable if there is something to take().
  int fd() const { return fd_.get(); }
  // The next signal received, or 0. `from_terminal`: Ctrl-C and the like, which the whole foreground group
  // gets.
  int take(bool& from_terminal);
  // The first that was taken, or 0.
  int asked() const { return asked_; }
  // As in a shell: 128 + signal. REQUIRES: asked() != 0
  int exit_code() const { return 128 + asked_; }

 private:
  sigset_t before_{};
  net::OwnedFd fd_;
  int asked_ = 0;
};

// For the child of fork(): restores the signals as they were before an Ending.
void let_signals_through();

}  // namespace tf::tools
