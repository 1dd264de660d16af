// SPDX-License-Identifier: Apache-2.0
#include "tools/hip-remote/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "net/fd.h"

namespace tf::tools {
namespace {

volatile sig_atomic_t forwarded_child = 0;

void forward_signal(int number) {
  if (forwarded_child > 0) ::kill(static_cast<pid_t>(forwarded_child), number);
}

[[noreturn]] void exec_child(const Command& command, int error_fd) {
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

}  // namespace

Result<pid_t> start(const Command& command) {
  if (command.arguments.empty()) return Status{Code::kInvalidArgument, "no program given"};
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return Status::from_errno("pipe", errno);
  net::OwnedFd read_end(pipe_fds[0]);
  net::OwnedFd write_end(pipe_fds[1]);
  pid_t child = ::fork();
  if (child < 0) return Status::from_errno("fork", errno);
  if (child == 0) exec_child(command, write_end.get());
  write_end.reset();
  int error = 0;
  ssize_t got = ::read(read_end.get(), &error, sizeof error);  // 0 bytes: exec closed the pipe
  if (got == static_cast<ssize_t>(sizeof error)) {
    ::waitpid(child, nullptr, 0);
    return Status::from_errno("cannot run " + command.arguments[0], error);
  }
  return child;
}

Result<int> wait_for(pid_t child) {
  struct sigaction action {};
  struct sigaction old_int {};
  struct sigaction old_term {};
  action.sa_handler = forward_signal;
  forwarded_child = child;
  ::sigaction(SIGINT, &action, &old_int);
  ::sigaction(SIGTERM, &action, &old_term);
  int status = 0;
  pid_t done = -1;
  do {
    done = ::waitpid(child, &status, 0);
  } while (done < 0 && errno == EINTR);
  forwarded_child = 0;
  ::sigaction(SIGINT, &old_int, nullptr);
  ::sigaction(SIGTERM, &old_term, nullptr);
  if (done < 0) return Status::from_errno("waitpid", errno);
  return exit_code_of(status);
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

Result<std::string> capture(Command command, int& exit_code) {
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return Status::from_errno("pipe", errno);
  net::OwnedFd read_end(pipe_fds[0]);
  net::OwnedFd write_end(pipe_fds[1]);
  command.stdout_fd = write_end.get();
  Result<pid_t> child = start(command);
  if (!child) return child.status();
  write_end.reset();
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::read(read_end.get(), buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  }
  Result<int> code = wait_for(*child);
  if (!code) return code.status();
  exit_code = *code;
  return text;
}

}  // namespace tf::tools
