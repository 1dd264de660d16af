// SPDX-License-Identifier: Apache-2.0
// Commands with a deadline; see process.h.
#include "worker/runtime/cpu/rtc/process.h"

#include "worker/runtime/cpu/rtc/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

extern char** environ;

namespace tf::cpu::rtc {
namespace {

constexpr unsigned long kGraceSeconds = 2;  // from SIGXCPU to SIGKILL

// Empty stdin, stdout and stderr into the file, a separate process group; undone by the destructor.
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

  int spawn(pid_t& pid, char* const* arguments, char* const* environment) {
    return posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments, environment);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Whether it ended within the limit; not reaped.
bool has_ended(pid_t pid, std::chrono::milliseconds limit) {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return true;  // no pidfd on this kernel: reap() waits without a limit
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

// False: the application ignores SIGCHLD, so the status is lost.
bool reap(pid_t pid, int& status) {
  pid_t reaped = 0;
  do {
    reaped = waitpid(pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  return reaped == pid;
}

// Ours with another TMPDIR, as `name=value` words that live as long as `variable`.
std::vector<char*> environment_with(std::string& variable) {
  std::vector<char*> words;
  for (char** word = environ; *word != nullptr; ++word)
    if (!std::string_view(*word).starts_with("TMPDIR=")) words.push_back(*word);
  words.push_back(variable.data());
  words.push_back(nullptr);
  return words;
}

// A shell that sets the limits and becomes the command. Lower limits that there are already stay.
std::vector<std::string> with_limits(const std::vector<std::string>& command, const Limits& limits) {
  std::string script;
  const auto limit = [&](const char* option, unsigned long value) {
    script += "ulimit " + std::string(option) + " " + std::to_string(value) + " 2>/dev/null || :; ";
  };
  limit("-c", 0);
  // The first says what it is, the second cannot be ignored.
  limit("-S -t", limits.seconds);
  limit("-H -t", limits.seconds + kGraceSeconds);
  limit("-v", limits.address_space_kib);
  limit("-f", limits.file_kib * 2);  // in blocks of 512 bytes
  std::vector<std::string> words = {"/bin/sh", "-c", script + "exec \"$@\"", "hiprtc"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace

bool wait_until_over(pid_t pid, std::chrono::milliseconds limit) {
  int ignored = 0;
  return has_ended(pid, limit) && (reap(pid, ignored), true);
}

Result<int> run_command(const std::vector<std::string>& command, const Surroundings& surroundings,
                        std::chrono::seconds limit) {
  const std::vector<std::string> words =
      surroundings.limits ? with_limits(command, *surroundings.limits) : command;
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::string place = "TMPDIR=" + surroundings.temporary_files;
  SpawnSetup setup(surroundings.output_path);
  pid_t pid = 0;
  const int error = surroundings.temporary_files.empty()
                        ? setup.spawn(pid, arguments.data(), environ)
                        : setup.spawn(pid, arguments.data(), environment_with(place).data());
  if (error != 0) return Status::from_errno("starting " + command.front(), error);
  if (surroundings.guard != nullptr) surroundings.guard->watch(pid);
  const bool in_time = has_ended(pid, limit);
  if (!in_time) kill(-pid, SIGKILL);
  // Before it is reaped: afterwards another process may get its number.
  if (surroundings.guard != nullptr) surroundings.guard->watch(0);
  int status = 0;
  const bool known = reap(pid, status);
  if (!in_time) return Status{Code::kTimeout, command.front() + " took too long and was ended"};
  if (!known) return 0;  // the files tell whether it worked
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace tf::cpu::rtc
