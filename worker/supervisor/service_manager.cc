// SPDX-License-Identifier: Apache-2.0
// Sends datagrams to the socket of sd_notify(3).
#include "worker/supervisor/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "transport/base/status.h"
#include "worker/base/log.h"
#include "worker/supervisor/taken_variables.h"

namespace tf::worker {
namespace {

// "/PATH" or "@NAME".
Result<net::OwnedFd> connect_to(const std::string& where) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (where.size() < 2 || (where[0] != '/' && where[0] != '@') || where.size() >= sizeof address.sun_path)
    return invalid_argument("neither a path nor an abstract name");
  std::memcpy(address.sun_path, where.data(), where.size());
  if (where[0] == '@') address.sun_path[0] = '\0';
  net::OwnedFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return Status::from_errno("socket", errno);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + where.size());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0)
    return Status::from_errno("connect", errno);
  return socket;
}

std::int64_t monotonic_us() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000000 + now.tv_nsec / 1000;
}

}  // namespace

ServiceManager::ServiceManager() {
  const std::string where = take_variable("NOTIFY_SOCKET");
  const std::optional<std::int64_t> period_us = positive_number(take_variable("WATCHDOG_USEC"));
  const std::string whom = take_variable("WATCHDOG_PID");
  if (where.empty()) return;
  Result<net::OwnedFd> socket = connect_to(where);
  if (!socket) {
    log(LogLevel::kWarning, "NOTIFY_SOCKET={}: nobody hears there that this worker is ready: {}", where,
        socket.status().message());
    return;
  }
  socket_ = std::move(*socket);
  if (period_us && (whom.empty() || positive_number(whom) == ::getpid()))
    period_ = std::chrono::microseconds(*period_us) / 2;
}

void ServiceManager::ready(const std::string& status) { tell("READY=1\nSTATUS=" + status); }

// The time tells systemd's Type=notify-reload which reload this is; Type=notify does not look at it.
void ServiceManager::reloading() { tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_us())); }

void ServiceManager::stopping() { tell("STOPPING=1"); }

void ServiceManager::turns() {
  if (!period_ || !due_.passed()) return;
  due_ = Deadline::after(*period_);
  tell("WATCHDOG=1");
}

void ServiceManager::tell(const std::string& state) {
  if (!socket_) return;
  if (::send(socket_.get(), state.data(), state.size(), MSG_NOSIGNAL) < 0)
    log(LogLevel::kWarning, "the service manager does not hear of '{}': {}",
        std::string_view(state).substr(0, state.find('\n')), std::strerror(errno));
}

}  // namespace tf::worker
