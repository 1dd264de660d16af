// SPDX-License-Identifier: Apache-2.0
// Commands with a deadline; see process.h.
#include "worker/runtime/cpu/rtc/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

extern char** environ;

namespace tf::cpu::rtc {
namespace {

// Stdin from nowhere, stdout and stderr into the file, a process group of its own; undone by the destructor.
class SpawnSetup {
 public:
  explicit SpawnSetup(const std::string& output_path) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, 1, output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions_, 1, 2);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  int spawn(pid_t& pid, char* const* arguments) {
    return posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Whether the process ended within the limit.
bool wait_until_over(pid_t pid, std::chrono::milliseconds limit) {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return true;  // no pidfd on this kernel: waitpid() below waits without a limit
  const auto end = std::chrono::steady_clock::now() + limit;
  int ready = 0;
  do {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wanted{descriptor, POLLIN, 0};
    ready = poll(&wanted, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
  } while (ready < 0 && errno == EINTR);
  close(descriptor);
  return ready > 0;
}

}  // namespace

Result<int> run_command(const std::vector<std::string>& command, const std::string& output_path,
                        std::chrono::seconds limit) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  SpawnSetup setup(output_path);
  pid_t pid = 0;
  const int error = setup.spawn(pid, arguments.data());
  if (error != 0) return Status::from_errno("starting " + command.front(), error);
  const bool in_time = wait_until_over(pid, limit);
  if (!in_time) kill(-pid, SIGKILL);
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = waitpid(pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  if (!in_time) return Status{Code::kTimeout, command.front() + " took too long and was ended"};
  // An application that ignores SIGCHLD takes the status away; the files tell whether it worked.
  if (reaped < 0) return 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace tf::cpu::rtc
