// SPDX-License-Identifier: Apache-2.0
// See channel.h.
#include "worker/channel.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "net/socket.h"

namespace tf::worker {
namespace {

struct Wire {
  std::uint32_t kind = 0;
  std::uint32_t transport = 0;
  std::uint32_t lane = 0;
  std::uint16_t is_local = 0;
  std::uint16_t quiet = 0;
  std::uint64_t session_id = 0;
  std::array<std::uint8_t, 16> token{};
};
static_assert(sizeof(Wire) == 40 && std::has_unique_object_representations_v<Wire>);

bool carries_connection(Envelope kind) { return kind == Envelope::kControl || kind == Envelope::kLane; }

}  // namespace

Result<ChannelPair> make_channel() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    return Status::from_errno("socketpair", errno);
  return ChannelPair{net::OwnedFd(ends[0]), net::OwnedFd(ends[1])};
}

Status send_message(int channel, const ChannelMessage& message, Deadline deadline) {
  Wire wire;
  wire.kind = static_cast<std::uint32_t>(message.kind);
  wire.transport = static_cast<std::uint32_t>(message.attach.kind);
  wire.lane = message.attach.lane;
  wire.is_local = message.is_local ? 1 : 0;
  wire.quiet = message.quiet ? 1 : 0;
  wire.session_id = message.session_id;
  wire.token = message.attach.token.bytes;
  const int connection = message.connection.get();
  const std::span<const int> descriptors(&connection, message.connection ? 1 : 0);
  return net::send_with_fds(channel, std::as_bytes(std::span(&wire, 1)), descriptors, deadline);
}

Result<ChannelMessage> receive_message(int channel, Deadline deadline) {
  Wire wire;
  std::vector<net::OwnedFd> descriptors;
  TF_RETURN_IF_ERROR(
      net::receive_with_fds(channel, std::as_writable_bytes(std::span(&wire, 1)), descriptors, deadline));
  ChannelMessage message;
  message.kind = static_cast<Envelope>(wire.kind);
  if (wire.kind < static_cast<std::uint32_t>(Envelope::kReady) ||
      wire.kind > static_cast<std::uint32_t>(Envelope::kDrain))
    return Status(Code::kProtocol, "unknown envelope on the session channel");
  if (descriptors.size() != (carries_connection(message.kind) ? 1u : 0u))
    return Status(Code::kProtocol, "wrong number of descriptors on the session channel");
  message.attach = {net::Token{wire.token}, static_cast<net::TransportKind>(wire.transport), wire.lane};
  message.session_id = wire.session_id;
  message.is_local = wire.is_local != 0;
  message.quiet = wire.quiet != 0;
  if (!descriptors.empty()) message.connection = std::move(descriptors.front());
  return message;
}

}  // namespace tf::worker
