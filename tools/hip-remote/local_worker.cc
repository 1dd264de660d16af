// SPDX-License-Identifier: Apache-2.0
// Starts a worker for `run --local` and ends it afterwards.
#include "tools/hip-remote/local_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "transport/factory/factory.h"
#include "transport/net/address.h"
#include "transport/net/fd.h"

namespace tf::tools {
namespace {

constexpr int kReadyTimeoutMs = 20'000;
constexpr std::chrono::milliseconds kEndGrace{6'000};

// Reads the worker's "ready <port> <socket>\n" line.
Result<std::string> read_ready_line(int fd, const Ending& ending) {
  std::string line;
  char c = 0;
  for (;;) {
    pollfd waiters[] = {{fd, POLLIN, 0}, {ending.fd(), POLLIN, 0}};
    int ready = ::poll(waiters, std::size(waiters), kReadyTimeoutMs);
    if (ready == 0) return Status{Code::kTimeout, "hip-worker was not ready within 20 s"};
    if (ready < 0 && errno == EINTR) continue;
    if (waiters[1].revents != 0) return Status{Code::kClosed, "asked to end"};
    ssize_t got = ::read(fd, &c, 1);
    if (got <= 0)
      return Status{Code::kUnavailable, "hip-worker ended before it was ready; see its messages above"};
    if (c == '\n') return line;
    line.push_back(c);
  }
}

// Whether this names one transport, and that one reaches a TCP address: then it is used over TCP.
bool goes_over_tcp(std::string_view name) {
  const net::Address loopback = net::Address::tcp("127.0.0.1", 1);  // any port
  return std::ranges::any_of(transports(), [&](const net::Transport* transport) {
    return transport->name() == name && transport->reaches(loopback).is_ok();
  });
}

Command command_of(const Layout& layout, const LocalWorkerOptions& options, bool needs_port,
                   const std::string& socket, int ready_fd) {
  Command command;
  std::vector<std::string>& words = command.arguments;
  words = {layout.program("hip-worker").string(), "--socket", socket, "--ready-fd", std::to_string(ready_fd)};
  if (needs_port)
    words.insert(words.end(), {"--port", "0"});
  else
    words.push_back("--no-tcp");  // whatever variables say
  if (!options.runtime.empty()) words.insert(words.end(), {"--runtime", options.runtime});
  for (const std::string& path : options.readable) words.insert(words.end(), {"--readable", path});
  if (!options.walls) words.push_back("--no-sandbox");
  words.push_back(options.verbose ? "-v" : "--quiet");
  command.keep_fd = ready_fd;
  command.helper = true;
  // The worker loads the real runtime: it must not find our own proxy through the caller's settings. And it
  // offers all of its devices, since the program's side picks those that these variables name.
  command.environment = {{"LD_PRELOAD", std::nullopt},
                         {"TF_DEVICE_ID", std::nullopt},
                         {"ROCR_VISIBLE_DEVICES", std::nullopt},
                         {"HIP_VISIBLE_DEVICES", std::nullopt},
                         {"CUDA_VISIBLE_DEVICES", std::nullopt}};
  return command;
}

}  // namespace

Result<LocalWorker> LocalWorker::start(const Layout& layout, const LocalWorkerOptions& options,
                                       const Ending& ending) {
  LocalWorker worker;
  worker.transport_ = options.transport;
  std::string pattern = (std::filesystem::temp_directory_path() / "hip-remote-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return Status::from_errno("mkdtemp " + pattern, errno);
  worker.directory_ = pattern;
  worker.socket_ = pattern + "/worker.sock";
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return Status::from_errno("pipe", errno);
  net::OwnedFd read_end(pipe_fds[0]);
  net::OwnedFd write_end(pipe_fds[1]);
  const bool needs_port = goes_over_tcp(options.transport);
  Result<pid_t> child =
      tf::tools::start(command_of(layout, options, needs_port, worker.socket_, write_end.get()));
  if (!child) return child.status();
  worker.pid_ = *child;
  write_end.reset();
  Result<std::string> line = read_ready_line(read_end.get(), ending);
  if (!line) return line.status();
  constexpr std::string_view kReady = "ready ";
  if (!line->starts_with(kReady))
    return Status{Code::kProtocol, "hip-worker wrote '" + *line + "' instead of 'ready'"};
  std::from_chars(line->data() + kReady.size(), line->data() + line->size(), worker.port_);
  if (needs_port && worker.port_ == 0)
    return Status{Code::kProtocol, "hip-worker's ready line has no port: '" + *line + "'"};
  return worker;
}

LocalWorker::LocalWorker(LocalWorker&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      transport_(std::move(other.transport_)),
      port_(other.port_),
      socket_(std::move(other.socket_)),
      directory_(std::exchange(other.directory_, {})) {}

LocalWorker::~LocalWorker() {
  if (pid_ > 0) end(pid_, kEndGrace);
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

EnvironmentChanges LocalWorker::environment() const {
  EnvironmentChanges changes{{"TF_WORKER_HOST", std::nullopt},
                             {"TF_WORKER_PORT", std::nullopt},
                             {"TF_WORKER_SOCKET", socket_},
                             {"TF_TRANSPORT", transport_},
                             {"TF_SECURITY", "none"}};  // it is private, and has no keys
  if (port_ == 0) return changes;
  changes["TF_WORKER_HOST"] = "127.0.0.1";
  changes["TF_WORKER_PORT"] = std::to_string(port_);
  changes["TF_WORKER_SOCKET"] = std::nullopt;
  return changes;
}

}  // namespace tf::tools
