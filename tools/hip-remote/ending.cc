// SPDX-License-Identifier: Apache-2.0
// Takes the signals that end a run, so that helpers are ended too.
#include "tools/hip-remote/ending.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace tf::tools {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

bool is_ignored(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Ending::Ending() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kSignals)
    if (!is_ignored(number)) ::sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, &before_);
  fd_ = net::OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Ending::~Ending() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

int Ending::take(bool& from_terminal) {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
  from_terminal = info.ssi_code == SI_KERNEL;
  const int number = static_cast<int>(info.ssi_signo);
  if (asked_ == 0) asked_ = number;
  return number;
}

void let_signals_through() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kSignals) ::sigaddset(&set, number);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace tf::tools
