// SPDX-License-Identifier: Apache-2.0
// Moves the bytes of a handshake, for a client, which may wait.
#include "transport/net/prove.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <span>

#include "transport/net/socket.h"

namespace tf::net {
namespace {

constexpr std::byte kTlsHandshake{22};  // the type of the first record; also of an alert there: 21
constexpr std::byte kTlsAlert{21};

Status send_pending(int socket, secure::Handshake& handshake, Deadline deadline) {
  const Status sent = write_all(socket, handshake.to_send(), deadline);
  handshake.to_send().clear();
  return sent;
}

// At least one byte. Before the handshake is over the worker sends only what belongs to it.
Result<std::size_t> receive_some(int socket, std::span<std::byte> bytes, int flags, Deadline deadline) {
  for (;;) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | flags);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0 || errno == ECONNRESET)
      return Status(Code::kPeerLost, "the peer closed the connection during the handshake");
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Status::from_errno("recv", errno);
    if (Status ready = wait_readable(socket, deadline); !ready.is_ok()) return ready;
  }
}

}  // namespace

Result<bool> answers_in_tls(int socket, Deadline deadline) {
  std::array<std::byte, 1> first;
  const Result<std::size_t> got = receive_some(socket, first, MSG_PEEK, deadline);
  if (!got) return got.status();
  return first[0] == kTlsHandshake || first[0] == kTlsAlert;
}

Status run_handshake(int socket, secure::Handshake& handshake, Deadline deadline) {
  std::array<std::byte, 4096> buffer;
  for (;;) {
    if (handshake.done()) return send_pending(socket, handshake, deadline);
    TF_RETURN_IF_ERROR(send_pending(socket, handshake, deadline));
    Result<std::size_t> got = receive_some(socket, buffer, 0, deadline);
    if (!got) return got.status();
    if (Status taken = handshake.take(std::span(buffer).first(*got)); !taken.is_ok()) {
      static_cast<void>(send_pending(socket, handshake, Deadline::now()));
      return taken;
    }
  }
}

}  // namespace tf::net
