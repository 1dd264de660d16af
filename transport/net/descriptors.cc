// SPDX-License-Identifier: Apache-2.0
// Unix sockets only: descriptors that travel with bytes, and who the peer is.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transport/net/socket.h"

namespace tf::net {
namespace {

constexpr std::size_t kControlBytes = CMSG_SPACE(kFdsPerMessageMax * sizeof(int));

struct ControlBuffer {
  alignas(cmsghdr) char bytes[kControlBytes]{};
};

// Takes ownership of every descriptor in `message`, whatever else happens.
void take_descriptors(msghdr& message, std::vector<OwnedFd>& fds) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t index = 0; index < count; ++index) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + index * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

struct Part {
  std::size_t bytes = 0;
  bool is_cut = false;  // a packet that was longer: the rest is lost
};

// What one recvmsg() brings. Waits for it. Nothing: the end, or an empty packet.
Result<Part> receive_part(int socket, std::span<std::byte> bytes, std::vector<OwnedFd>& fds,
                          Deadline deadline) {
  for (;;) {
    ControlBuffer control;
    iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      TF_RETURN_IF_ERROR(wait_readable(socket, deadline));
      continue;
    }
    if (got < 0) return Status::from_errno("recvmsg", errno);
    take_descriptors(message, fds);
    const bool cut = (message.msg_flags & MSG_CTRUNC) != 0;
    if (cut && fds.size() < kFdsPerMessageMax)
      return Status(Code::kResourceExhausted, "no descriptor is free for what the peer passed (ulimit -n)");
    if (cut || fds.size() > kFdsPerMessageMax)
      return Status(Code::kProtocol, "the peer passed more descriptors than kFdsPerMessageMax");
    return Part{static_cast<std::size_t>(got), (message.msg_flags & MSG_TRUNC) != 0};
  }
}

Status peer_closed() { return {Code::kPeerLost, "the peer closed the connection"}; }

bool has_hung_up(int socket) {
  pollfd polled{socket, POLLRDHUP, 0};
  return ::poll(&polled, 1, 0) > 0 && (polled.revents & (POLLRDHUP | POLLHUP)) != 0;
}

}  // namespace

Status send_with_fds(int socket, std::span<const std::byte> bytes, std::span<const int> fds,
                     Deadline deadline) {
  if (bytes.empty()) return {Code::kInvalidArgument, "descriptors travel with at least one byte"};
  if (fds.size() > kFdsPerMessageMax)
    return {Code::kInvalidArgument, "more than kFdsPerMessageMax descriptors in one message"};
  ControlBuffer control;
  // sendmsg does not write through it.
  iovec part{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  for (;;) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return write_all(socket, bytes.subspan(static_cast<std::size_t>(sent)), deadline);
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Status::from_errno("sendmsg", errno);
    TF_RETURN_IF_ERROR(wait_writable(socket, deadline));
  }
}

Status receive_with_fds(int socket, std::span<std::byte> bytes, std::vector<OwnedFd>& fds,
                        Deadline deadline) {
  if (bytes.empty()) return {Code::kInvalidArgument, "descriptors travel with at least one byte"};
  while (!bytes.empty()) {
    Result<Part> part = receive_part(socket, bytes, fds, deadline);
    if (!part) return part.status();
    if (part->bytes == 0) return peer_closed();
    bytes = bytes.subspan(part->bytes);
  }
  return Status::ok();
}

Status receive_packet_with_fds(int socket, std::span<std::byte> bytes, std::vector<OwnedFd>& fds,
                               Deadline deadline) {
  if (bytes.empty()) return {Code::kInvalidArgument, "descriptors travel with at least one byte"};
  Result<Part> part = receive_part(socket, bytes, fds, deadline);
  if (!part) return part.status();
  if (part->bytes == 0 && has_hung_up(socket)) return peer_closed();
  if (part->bytes == bytes.size() && !part->is_cut) return Status::ok();
  return {Code::kProtocol, "the peer sent a packet of another size than its packets have"};
}

Result<PeerCredentials> peer_credentials(int socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return Status::from_errno("getsockopt(SO_PEERCRED)", errno);
  // What TCP sockets answer, and Unix sockets that are not connected: the id that nobody has.
  if (credentials.uid == static_cast<uid_t>(-1) || credentials.gid == static_cast<gid_t>(-1))
    return Status(Code::kUnsupported, "only a connected Unix socket knows its peer's credentials");
  return PeerCredentials{.pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid};
}

Result<std::vector<gid_t>> peer_groups(int socket) {
  std::vector<gid_t> groups(64);
  for (;;) {
    socklen_t length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    const bool fits = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) == 0;
    const int error = errno;
    // ERANGE: `length` says how many there are. They are of one moment, so the second try fits.
    const bool again = !fits && error == ERANGE && length / sizeof(gid_t) > groups.size();
    if (!fits && !again) return Status::from_errno("getsockopt(SO_PEERGROUPS)", error);
    groups.resize(length / sizeof(gid_t));
    if (fits) return groups;
  }
}

}  // namespace tf::net
