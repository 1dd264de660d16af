// SPDX-License-Identifier: Apache-2.0
// Starts the guard, a shell: it reads the group to end from its standard input, and acts when that ends.
#include "worker/runtime/cpu/rtc/guard.h"

#include "worker/runtime/cpu/rtc/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <vector>

extern char** environ;

namespace tf::cpu::rtc {
namespace {

constexpr std::chrono::seconds kRemovalTime(10);

// What is being killed may still have made a file: hence the second attempt.
constexpr char kScript[] = R"(trap "" HUP INT TERM
group=
while read -r line; do group=$line; done
[ -z "$group" ] || kill -s KILL -- "-$group"
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
)";

// In a session of its own, so that no terminal reaches it. -1: it could not be started.
pid_t start(int input, const std::string& directory) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::vector<std::string> words = {"sh", "-c", kScript, "hip-remote-guard", directory};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return error == 0 ? pid : -1;
}

}  // namespace

Guard::Guard(const std::string& directory) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  lifeline_ = net::OwnedFd(ends[0]);
  const net::OwnedFd input(ends[1]);
  if (lifeline_ && input) pid_ = start(input.get(), directory);
}

Guard::~Guard() {
  lifeline_.reset();
  if (pid_ > 0) static_cast<void>(wait_until_over(pid_, kRemovalTime));
}

void Guard::watch(pid_t group) {
  if (pid_ <= 0) return;
  const std::string line = (group == 0 ? std::string() : std::to_string(group)) + '\n';
  // Fails only when the guard is gone.
  [[maybe_unused]] const ssize_t sent = ::send(lifeline_.get(), line.data(), line.size(), MSG_NOSIGNAL);
}

}  // namespace tf::cpu::rtc
