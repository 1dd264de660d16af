// SPDX-License-Identifier: Apache-2.0
#include "tests/support/peer_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>
#include <utility>

#include "transport/base/deadline.h"

namespace tf::test {

PeerProcess PeerProcess::start(const std::function<void()>& body) {
  std::fflush(nullptr);  // else the child prints what the parent had buffered
  const pid_t pid = ::fork();
  if (pid != 0) return PeerProcess(pid);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  body();
  std::fflush(nullptr);
  ::_exit(testing::Test::HasFailure() ? 1 : 0);
}

PeerProcess::PeerProcess(PeerProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}

PeerProcess::~PeerProcess() { kill(); }

void PeerProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int PeerProcess::wait(std::chrono::seconds limit) {
  const Deadline deadline = Deadline::after(limit);
  while (pid_ > 0) {
    int state = 0;
    if (::waitpid(pid_, &state, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    }
    if (deadline.passed()) kill();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return -1;
}

}  // namespace tf::test
