// SPDX-License-Identifier: Apache-2.0
// A forked process that plays the other half of a test. Start it while the process has one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>

namespace tf::test {

class PeerProcess {
 public:
  // The child runs `body` and exits with 0, or with 1 if a GoogleTest expectation failed in it.
  static PeerProcess start(const std::function<void()>& body);

  PeerProcess(PeerProcess&& other) noexcept;
  PeerProcess& operator=(PeerProcess&&) = delete;
  ~PeerProcess();  // kills and reaps a child that is still there

  bool started() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  void kill();  // SIGKILL, and reaps
  // The child's exit status; -1 if it was killed or did not end in time (then it is killed).
  int wait(std::chrono::seconds limit);

 private:
  explicit PeerProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
};

}  // namespace tf::test
