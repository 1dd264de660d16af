// SPDX-License-Identifier: Apache-2.0
// Dialling, listening, reading and writing with deadlines, passing descriptors.
#include "transport/net/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

namespace tf::net {
namespace {

constexpr int kListenBacklog = 4096;      // the kernel takes less if net.core.somaxconn is less
constexpr int kWaitSliceMax_ms = 60'000;  // poll(2) takes an int; longer waits go round

std::string socket_address_text(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(v4->sin_port));
  }
  if (address.storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  return "unix socket";
}

// As Address writes it; none: a Unix socket without a name, or neither Unix nor TCP.
std::optional<Address> address_of(const SocketAddress& bound) {
  if (bound.storage.ss_family == AF_UNIX) {
    const auto* local = reinterpret_cast<const sockaddr_un*>(&bound.storage);
    const std::size_t length = bound.length - offsetof(sockaddr_un, sun_path);
    if (length < 2) return std::nullopt;
    if (local->sun_path[0] == '\0')
      return Address::unix_socket("@" + std::string(local->sun_path + 1, length - 1));
    return Address::unix_socket(std::string(local->sun_path, ::strnlen(local->sun_path, length)));
  }
  char text[INET6_ADDRSTRLEN] = "";
  if (bound.storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&bound.storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    return Address::tcp(text, ntohs(v4->sin_port));
  }
  if (bound.storage.ss_family != AF_INET6) return std::nullopt;
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&bound.storage);
  ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
  return Address::tcp(text, ntohs(v6->sin6_port));
}

Result<OwnedFd> make_socket(int family) {
  OwnedFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return Status::from_errno("socket", errno);
  return fd;
}

int family_of(int socket) {
  int family = 0;
  socklen_t length = sizeof family;
  ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &length);
  return family;
}

void set_flag(int socket, int level, int option) {
  const int on = 1;
  ::setsockopt(socket, level, option, &on, sizeof on);  // a refused tuning option does no harm
}

// Options of dialled and accepted TCP sockets.
void tune_tcp(int socket) {
  if (family_of(socket) == AF_UNIX) return;
  set_flag(socket, IPPROTO_TCP, TCP_NODELAY);
  set_flag(socket, SOL_SOCKET, SO_KEEPALIVE);
}

Status wait_for(int socket, short events, Deadline deadline) {
  pollfd entry{.fd = socket, .events = events, .revents = 0};
  for (;;) {
    const int ready = ::poll(&entry, 1, deadline.poll_timeout_ms(kWaitSliceMax_ms));
    if (ready > 0) return Status::ok();  // POLLERR and POLLHUP show at the read or write that follows
    if (ready < 0 && errno != EINTR) return Status::from_errno("poll", errno);
    if (deadline.passed()) return {Code::kTimeout, "the deadline passed while waiting for a socket"};
  }
}

// EAGAIN of a Unix socket means that the listener's backlog is full: try again shortly.
Status begin_connect(int socket, const SocketAddress& address, Deadline deadline) {
  const auto* target = reinterpret_cast<const sockaddr*>(&address.storage);
  for (;;) {
    if (::connect(socket, target, address.length) == 0 || errno == EINPROGRESS) return Status::ok();
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Status::from_errno("connect", errno);
    if (deadline.passed()) return {Code::kTimeout, "connect: the listener's backlog stayed full"};
    ::poll(nullptr, 0, deadline.poll_timeout_ms(5));
  }
}

Status end_connect(int socket, Deadline deadline) {
  TF_RETURN_IF_ERROR(wait_for(socket, POLLOUT, deadline));
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
    return Status::from_errno("getsockopt", errno);
  return error == 0 ? Status::ok() : Status::from_errno("connect", error);
}

Result<std::vector<OwnedFd>> dial_one(const SocketAddress& address, unsigned count, Deadline deadline) {
  std::vector<OwnedFd> sockets;
  while (sockets.size() < count) {
    Result<OwnedFd> socket = make_socket(address.storage.ss_family);
    if (!socket) return socket.status();
    TF_RETURN_IF_ERROR(begin_connect(socket->get(), address, deadline));
    sockets.push_back(std::move(*socket));
  }
  for (const OwnedFd& socket : sockets) {
    TF_RETURN_IF_ERROR(end_connect(socket.get(), deadline));
    tune_tcp(socket.get());
  }
  return sockets;
}

}  // namespace

bool is_tcp(int socket) {
  int family = AF_UNIX;
  socklen_t length = sizeof family;
  return ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &length) == 0 &&
         (family == AF_INET || family == AF_INET6);
}

bool stays_on_host(int socket) {
  SocketAddress own;
  SocketAddress peer;
  own.length = peer.length = sizeof own.storage;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own.storage), &own.length) != 0) return false;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length) != 0) return false;
  if (own.storage.ss_family != peer.storage.ss_family) return false;
  if (own.storage.ss_family == AF_UNIX) return true;
  if (own.storage.ss_family == AF_INET)
    return reinterpret_cast<sockaddr_in*>(&own.storage)->sin_addr.s_addr ==
           reinterpret_cast<sockaddr_in*>(&peer.storage)->sin_addr.s_addr;
  return std::memcmp(&reinterpret_cast<sockaddr_in6*>(&own.storage)->sin6_addr,
                     &reinterpret_cast<sockaddr_in6*>(&peer.storage)->sin6_addr, sizeof(in6_addr)) == 0;
}

std::string peer_text(int socket) {
  SocketAddress peer;
  peer.length = sizeof peer.storage;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length) != 0) return "nowhere";
  return socket_address_text(peer);
}

Address address_reached(int socket, const Address& named) {
  SocketAddress peer;
  peer.length = sizeof peer.storage;
  if (named.is_unix() || ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length) != 0)
    return named;
  const bool scoped = peer.storage.ss_family == AF_INET6 &&
                      reinterpret_cast<const sockaddr_in6*>(&peer.storage)->sin6_scope_id != 0;
  return scoped ? named : address_of(peer).value_or(named);  // an Address has no place for a scope
}

std::string peer_network(int socket) {
  SocketAddress peer;
  peer.length = sizeof peer.storage;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length) != 0) return "nowhere";
  if (peer.storage.ss_family == AF_UNIX) return "unix socket";
  char text[INET6_ADDRSTRLEN] = "?";
  if (peer.storage.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(&peer.storage)->sin_addr, text, sizeof text);
    return text;
  }
  in6_addr address = reinterpret_cast<sockaddr_in6*>(&peer.storage)->sin6_addr;
  const bool is_one = IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_V4MAPPED(&address);
  if (!is_one) std::memset(&address.s6_addr[8], 0, 8);
  ::inet_ntop(AF_INET6, &address, text, sizeof text);
  return is_one ? text : std::string(text) + "/64";
}

Result<std::vector<OwnedFd>> dial_all(const Address& address, unsigned count, Deadline deadline) {
  Result<std::vector<SocketAddress>> candidates = address.resolve();
  if (!candidates) return candidates.status();
  std::string tried;
  Code code = Code::kUnavailable;
  for (const SocketAddress& candidate : *candidates) {
    Result<std::vector<OwnedFd>> sockets = dial_one(candidate, count, deadline);
    if (sockets) return sockets;
    code = sockets.code();
    if (!tried.empty()) tried += "; ";
    if (!address.is_unix()) tried += socket_address_text(candidate) + " ";
    tried += sockets.status().message();
  }
  return Status(code, "cannot reach " + address.to_string() + ": " + tried);
}

Result<OwnedFd> dial(const Address& address, Deadline deadline) {
  Result<std::vector<OwnedFd>> one = dial_all(address, 1, deadline);
  if (!one) return one.status();
  return std::move(one->front());
}

Result<OwnedFd> dial_lane(const Address& address, const Attach& attach, Deadline deadline) {
  Result<OwnedFd> socket = dial(address, deadline);
  if (!socket) return socket;
  TF_RETURN_IF_ERROR(write_attach(socket->get(), attach, deadline));
  return socket;
}

// --- Listener -------------------------------------------------------------------------------------------

namespace {

// Removes the socket file at `address` when nobody listens on it any more.
Status remove_stale(const Address& address, const SocketAddress& resolved) {
  struct stat info {};
  if (::lstat(address.path().c_str(), &info) != 0) return Status::ok();
  if (!S_ISSOCK(info.st_mode))
    return {Code::kUnavailable, address.to_string() + " exists and is not a socket"};
  Result<OwnedFd> probe = make_socket(AF_UNIX);
  if (!probe) return probe.status();
  const int connected =
      ::connect(probe->get(), reinterpret_cast<const sockaddr*>(&resolved.storage), resolved.length);
  if (connected == 0 || errno == EAGAIN || errno == EINPROGRESS)
    return {Code::kUnavailable, "another process already listens on " + address.to_string()};
  if (errno != ECONNREFUSED) return Status::from_errno("connect to " + address.to_string(), errno);
  if (::unlink(address.path().c_str()) != 0) return Status::from_errno("unlink " + address.path(), errno);
  return Status::ok();
}

Status bind_to(int socket, const SocketAddress& address) {
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address.storage), address.length) != 0)
    return Status::from_errno("bind", errno);
  return Status::ok();
}

Result<OwnedFd> bind_and_listen(const SocketAddress& address) {
  Result<OwnedFd> socket = make_socket(address.storage.ss_family);
  if (!socket) return socket;
  if (address.storage.ss_family != AF_UNIX) set_flag(socket->get(), SOL_SOCKET, SO_REUSEADDR);
  TF_RETURN_IF_ERROR(bind_to(socket->get(), address));
  if (::listen(socket->get(), kListenBacklog) != 0) return Status::from_errno("listen", errno);
  return socket;
}

Status give_to_group(const std::string& path, gid_t group) {
  if (::lchown(path.c_str(), static_cast<uid_t>(-1), group) == 0) return Status::ok();
  const Status failed = Status::from_errno("giving it to group " + std::to_string(group), errno);
  if (failed.code() != Code::kPermission) return failed;
  return {failed.code(), failed.message() + ": this user is not a member of that group"};
}

// Nobody can connect before listen(), so what is done to the file until then is done in time. umask and not
// chmod(), which would follow a link that has taken the file's place.
Result<OwnedFd> bind_file_and_listen(const SocketAddress& address, const std::string& path,
                                     const SocketFile& file) {
  Result<OwnedFd> socket = make_socket(AF_UNIX);
  if (!socket) return socket;
  const mode_t before = ::umask(0777 & ~file.mode);
  const Status bound = bind_to(socket->get(), address);
  ::umask(before);
  if (!bound) return bound;
  Status status = file.group ? give_to_group(path, *file.group) : Status::ok();
  if (status && ::listen(socket->get(), kListenBacklog) != 0) status = Status::from_errno("listen", errno);
  if (status) return socket;
  ::unlink(path.c_str());
  return status;
}

std::uint16_t bound_port(int socket) {
  SocketAddress own;
  own.length = sizeof own.storage;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own.storage), &own.length) != 0) return 0;
  if (own.storage.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in*>(&own.storage)->sin_port);
  return ntohs(reinterpret_cast<sockaddr_in6*>(&own.storage)->sin6_port);
}

}  // namespace

Result<Listener> Listener::open(const Address& address, const SocketFile& file) {
  Result<std::vector<SocketAddress>> candidates = address.resolve();
  if (!candidates) return candidates.status();
  const bool is_file = address.is_unix() && !address.path().starts_with('@');
  if (is_file) TF_RETURN_IF_ERROR(remove_stale(address, candidates->front()));
  Status last;
  for (const SocketAddress& candidate : *candidates) {
    Result<OwnedFd> socket =
        is_file ? bind_file_and_listen(candidate, address.path(), file) : bind_and_listen(candidate);
    if (!socket) {
      last = socket.status();
      continue;
    }
    Listener listener;
    listener.address_ = address.is_unix() ? address : Address::tcp(address.host(), bound_port(socket->get()));
    listener.fd_ = std::move(*socket);
    listener.has_made_file_ = is_file;
    return listener;
  }
  return Status(last.code(), "cannot listen on " + address.to_string() + ": " + last.message());
}

Result<Listener> Listener::adopt(OwnedFd socket) {
  int type = 0;
  int listens = 0;
  socklen_t length = sizeof type;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &length) != 0)
    return invalid_argument("it is no socket");
  length = sizeof listens;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &length);
  if (type != SOCK_STREAM || listens == 0) return invalid_argument("it is no stream socket that listens");
  SocketAddress bound;
  bound.length = sizeof bound.storage;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.length) != 0)
    return Status::from_errno("getsockname", errno);
  const std::optional<Address> address = address_of(bound);
  if (!address) return invalid_argument("it is neither a Unix socket with a name nor one of TCP");
  const int flags = ::fcntl(socket.get(), F_GETFL);
  if (flags < 0 || ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK) != 0 ||
      ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC) != 0)
    return Status::from_errno("fcntl", errno);
  Listener listener;
  listener.address_ = *address;
  listener.fd_ = std::move(socket);
  return listener;
}

Listener::~Listener() {
  // A moved-from listener has no descriptor and owns no file.
  if (fd_ && has_made_file_) ::unlink(address_.path().c_str());
}

Result<OwnedFd> Listener::accept() {
  for (;;) {
    OwnedFd socket(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) {
      tune_tcp(socket.get());
      return socket;
    }
    // Connections that died while queued are not the caller's concern.
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) return would_block();
    return Status::from_errno("accept", errno);
  }
}

// --- Whole reads and writes -----------------------------------------------------------------------------

Status wait_readable(int socket, Deadline deadline) { return wait_for(socket, POLLIN, deadline); }
Status wait_writable(int socket, Deadline deadline) { return wait_for(socket, POLLOUT, deadline); }

Status write_all(int socket, std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Status::from_errno("send", errno);
    TF_RETURN_IF_ERROR(wait_writable(socket, deadline));
  }
  return Status::ok();
}

Status read_all(int socket, std::span<std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
      continue;
    }
    if (got == 0) return {Code::kPeerLost, "the peer closed the connection"};
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Status::from_errno("recv", errno);
    TF_RETURN_IF_ERROR(wait_readable(socket, deadline));
  }
  return Status::ok();
}

}  // namespace tf::net
