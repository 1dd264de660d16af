// SPDX-License-Identifier: Apache-2.0
// Starts processes, waits for them, and reads their output.
#include "tools/hip-remote/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "transport/net/fd.h"

namespace tf::tools {
namespace {

constexpr std::chrono::milliseconds kHelperGrace{3'000};

[[noreturn]] void exec_child(const Command& command, int error_fd, pid_t parent) {
  if (command.helper) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);  // it has ended before it could be noticed
  }
  let_signals_through();
  for (const auto& [name, value] : command.environment) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
  if (command.keep_fd >= 0) ::fcntl(command.keep_fd, F_SETFD, 0);
  if (command.stdout_fd >= 0) ::dup2(command.stdout_fd, STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  int error = errno;
  (void)!::write(error_fd, &error, sizeof error);
  ::_exit(127);
}

int exit_code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

Result<int> reap(pid_t child) {
  int status = 0;
  pid_t done = -1;
  do {
    done = ::waitpid(child, &status, 0);
  } while (done < 0 && errno == EINTR);
  if (done < 0) return Status::from_errno("waitpid", errno);
  return exit_code_of(status);
}

// Waits: true when the child has ended, false when there is something to take from `ending`.
Result<bool> ended_or_asked(pid_t child, const Ending& ending) {
  net::OwnedFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!process) return Status::from_errno("pidfd_open", errno);
  pollfd entries[] = {{process.get(), POLLIN, 0}, {ending.fd(), POLLIN, 0}};
  while (::poll(entries, std::size(entries), -1) < 0) {
    if (errno != EINTR) return Status::from_errno("poll", errno);
  }
  return entries[0].revents != 0;
}

// A helper with all that it started.
void end_group(pid_t leader) {
  ::kill(-leader, SIGTERM);
  end(leader, kHelperGrace);
  ::kill(-leader, SIGKILL);  // what has not followed
}

}  // namespace

Result<pid_t> start(const Command& command) {
  if (command.arguments.empty()) return Status{Code::kInvalidArgument, "no program given"};
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return Status::from_errno("pipe", errno);
  net::OwnedFd read_end(pipe_fds[0]);
  net::OwnedFd write_end(pipe_fds[1]);
  const pid_t self = ::getpid();
  pid_t child = ::fork();
  if (child < 0) return Status::from_errno("fork", errno);
  if (child == 0) exec_child(command, write_end.get(), self);
  write_end.reset();
  int error = 0;
  ssize_t got = ::read(read_end.get(), &error, sizeof error);  // 0 bytes: exec closed the pipe
  if (got == static_cast<ssize_t>(sizeof error)) {
    ::waitpid(child, nullptr, 0);
    return Status::from_errno("cannot run " + command.arguments[0], error);
  }
  return child;
}

Result<int> wait_for(pid_t child, Ending& ending) {
  for (;;) {
    Result<bool> over = ended_or_asked(child, ending);
    if (!over) return over.status();
    if (*over) return reap(child);
    bool from_terminal = false;
    const int number = ending.take(from_terminal);
    if (number != 0 && !from_terminal) ::kill(child, number);
  }
}

int end(pid_t child, std::chrono::milliseconds grace) {
  ::kill(child, SIGTERM);
  int status = 0;
  auto until = std::chrono::steady_clock::now() + grace;
  while (std::chrono::steady_clock::now() < until) {
    pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done == child) return exit_code_of(status);
    if (done < 0) return 0;  // already reaped
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return exit_code_of(status);
}

Result<int> run_helper(Command command, Ending& ending) {
  command.helper = true;
  Result<pid_t> child = start(command);
  if (!child) return child.status();
  Result<bool> over = ended_or_asked(*child, ending);
  if (!over) return over.status();
  if (*over) return reap(*child);
  bool from_terminal = false;
  ending.take(from_terminal);
  end_group(*child);
  return ending.exit_code();
}

Result<std::string> capture(Command command, Ending& ending, int& exit_code) {
  net::OwnedFd file(::memfd_create("output", MFD_CLOEXEC));
  if (!file) return Status::from_errno("memfd_create", errno);
  command.stdout_fd = file.get();
  const Result<int> code = run_helper(std::move(command), ending);
  if (!code) return code.status();
  exit_code = code.value();
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::pread(file.get(), buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

}  // namespace tf::tools
