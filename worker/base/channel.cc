// SPDX-License-Identifier: Apache-2.0
// Sends and receives the messages between supervisor and sessions.
#include "worker/base/channel.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "transport/net/socket.h"

namespace tf::worker {
namespace {

struct Wire {
  std::uint32_t kind = 0;
  std::uint32_t transport = 0;
  std::uint32_t lane = 0;
  std::uint16_t is_local = 0;
  std::uint16_t quiet = 0;
  std::uint32_t lanes = 0;
  std::uint32_t unused = 0;
  std::uint64_t session_id = 0;
  std::array<std::uint8_t, 16> token{};
  std::uint64_t number = 0;
  std::uint32_t piece_kind = 0;
  std::int32_t device = 0;
  std::uint64_t whole_bytes = 0;
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
  std::array<std::uint8_t, 64> ticket{};
  std::uint32_t level = 0;
  std::uint32_t cipher = 0;
  std::array<std::uint8_t, 32> secret{};
  std::array<std::uint8_t, 32> proof{};
  std::array<char, kWhomBytesMax> whom{};  // zeros behind the text
  std::array<char, kTransportBytesMax> transport_name{};
  LimitValues limits{};
  hipcore::DeviceLimits device_limits{};
  std::uint32_t row_known = 0;
  std::uint32_t row_index = 0;
  std::uint64_t client_pid = 0;
  std::uint64_t worker_pid = 0;
  std::uint64_t age_ms = 0;
  std::array<std::uint64_t, protocol::kDevicesMax> memory_bytes{};
  std::array<char, kPeerBytesMax> peer{};
};
static_assert(sizeof(Wire) ==
                  1856 + 32 + 8 * protocol::kDevicesMax + kPeerBytesMax + 16 * hipcore::kDeviceLimitsMax &&
              std::has_unique_object_representations_v<Wire>);

// A part of it is secret.
struct Wipe {
  ~Wipe() { ::explicit_bzero(wire.secret.data(), wire.secret.size()); }
  Wire& wire;
};

bool right_descriptors(Envelope kind, std::size_t count) {
  switch (kind) {
    case Envelope::kControl:
    case Envelope::kLane: return count == 1;
    case Envelope::kGrant:
    case Envelope::kOffer:
    case Envelope::kAnswer: return count <= 1;
    default: return count == 0;
  }
}

void write_row(const SessionRow& row, Wire& wire) {
  wire.row_known = row.known ? 1 : 0;
  wire.row_index = row.index;
  wire.client_pid = row.client_pid;
  wire.worker_pid = row.worker_pid;
  wire.age_ms = row.age_ms;
  wire.memory_bytes = row.memory_bytes;
  std::copy_n(row.peer.data(), std::min(row.peer.size(), kPeerBytesMax), wire.peer.begin());
}

void read_row(const Wire& wire, SessionRow& row) {
  row.known = wire.row_known != 0;
  row.index = wire.row_index;
  row.session = wire.session_id;
  row.client_pid = wire.client_pid;
  row.worker_pid = wire.worker_pid;
  row.age_ms = wire.age_ms;
  row.memory_bytes = wire.memory_bytes;
  row.peer.assign(wire.peer.begin(), std::ranges::find(wire.peer, '\0'));
}

}  // namespace

Result<ChannelPair> make_channel() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    return Status::from_errno("socketpair", errno);
  return ChannelPair{net::OwnedFd(ends[0]), net::OwnedFd(ends[1])};
}

Status send_message(int channel, const ChannelMessage& message, Deadline deadline) {
  Wire wire;
  const Wipe wipe{wire};
  wire.kind = static_cast<std::uint32_t>(message.kind);
  wire.transport = static_cast<std::uint32_t>(message.attach.kind);
  wire.lane = message.attach.lane;
  wire.lanes = message.attach.lanes;
  wire.is_local = message.is_local ? 1 : 0;
  wire.quiet = message.quiet ? 1 : 0;
  wire.session_id = message.session_id;
  wire.token = message.attach.token.bytes;
  wire.number = message.number;
  wire.piece_kind = static_cast<std::uint32_t>(message.piece.kind);
  wire.device = message.piece.device;
  wire.whole_bytes = message.piece.whole_bytes;
  wire.first = message.piece.first;
  wire.bytes = message.piece.bytes;
  wire.ticket = message.piece.ticket;
  wire.level = static_cast<std::uint32_t>(message.session.level);
  wire.cipher = static_cast<std::uint32_t>(message.session.cipher);
  std::ranges::copy(message.session.secret.bytes(), wire.secret.begin());
  wire.proof = message.attach.proof;
  std::copy_n(message.whom.data(), std::min(message.whom.size(), kWhomBytesMax), wire.whom.begin());
  std::copy_n(message.transport.data(), std::min(message.transport.size(), kTransportBytesMax),
              wire.transport_name.begin());
  wire.limits = message.grant.limits;
  wire.device_limits = message.grant.devices;
  write_row(message.row, wire);
  if (message.row.known) wire.session_id = message.row.session;
  if (message.kind == Envelope::kGrant) wire.lane = message.grant.slot;
  const int connection = message.connection.get();
  const std::span<const int> descriptors(&connection, message.connection ? 1 : 0);
  return net::send_with_fds(channel, std::as_bytes(std::span(&wire, 1)), descriptors, deadline);
}

Result<ChannelMessage> receive_message(int channel, Deadline deadline) {
  Wire wire;
  const Wipe wipe{wire};
  std::vector<net::OwnedFd> descriptors;
  TF_RETURN_IF_ERROR(net::receive_packet_with_fds(channel, std::as_writable_bytes(std::span(&wire, 1)),
                                                  descriptors, deadline));
  ChannelMessage message;
  message.kind = static_cast<Envelope>(wire.kind);
  if (wire.kind < static_cast<std::uint32_t>(Envelope::kReady) ||
      wire.kind > static_cast<std::uint32_t>(Envelope::kFindSession))
    return Status(Code::kProtocol, "unknown envelope on the session channel");
  if (!right_descriptors(message.kind, descriptors.size()))
    return Status(Code::kProtocol, "wrong number of descriptors on the session channel");
  message.attach = {net::Token{wire.token}, static_cast<net::TransportKind>(wire.transport), wire.lane,
                    wire.lanes};
  message.attach.proof = wire.proof;
  message.grant = {wire.limits, wire.lane, wire.device_limits};
  message.session_id = wire.session_id;
  read_row(wire, message.row);
  message.is_local = wire.is_local != 0;
  message.quiet = wire.quiet != 0;
  message.number = wire.number;
  if (wire.piece_kind > static_cast<std::uint32_t>(SharedPiece::Kind::kAllocation))
    return Status(Code::kProtocol, "unknown kind of memory on the session channel");
  message.piece = {static_cast<SharedPiece::Kind>(wire.piece_kind),
                   wire.device,
                   wire.whole_bytes,
                   wire.first,
                   wire.bytes,
                   wire.ticket};
  if (wire.level > static_cast<std::uint32_t>(secure::Level::kEncrypt))
    return Status(Code::kProtocol, "unknown security level on the session channel");
  message.session.level = static_cast<secure::Level>(wire.level);
  message.session.cipher = static_cast<secure::Cipher>(wire.cipher);
  std::ranges::copy(wire.secret, message.session.secret.data());
  message.whom.assign(wire.whom.begin(), std::ranges::find(wire.whom, '\0'));
  message.transport.assign(wire.transport_name.begin(), std::ranges::find(wire.transport_name, '\0'));
  if (!descriptors.empty()) message.connection = std::move(descriptors.front());
  return message;
}

}  // namespace tf::worker
