// SPDX-License-Identifier: Apache-2.0
// Writes, reads and checks the attach frame.
#include "transport/net/attach.h"

#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "transport/frame.h"
#include "transport/net/socket.h"

namespace tf::net {
namespace {

// The payload as it stands on the wire.
struct AttachPayload {
  std::array<std::uint8_t, 16> token{};
  std::uint32_t kind = 0;
  std::uint32_t lane = 0;
  std::uint32_t security = 0;
  std::uint32_t lanes = 0;
};
static_assert(sizeof(AttachPayload) == 32 && offsetof(AttachPayload, kind) == 16);
static_assert(kFrameHeaderBytes + sizeof(AttachPayload) == kAttachFrameBytes);

constexpr std::uint32_t kLanesMax = 64;  // per endpoint; no transport has more

Status malformed(const std::string& what) { return {Code::kProtocol, "attach frame: " + what}; }

}  // namespace

Result<Token> Token::random() {
  Token token;
  std::size_t have = 0;
  while (have < token.bytes.size()) {
    const ssize_t got = ::getrandom(token.bytes.data() + have, token.bytes.size() - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::from_errno("getrandom", errno);
    have += static_cast<std::size_t>(got);
  }
  if (token.is_zero()) token.bytes[0] = 1;  // zero means "control connection"
  return token;
}

Status write_attach(int socket, const Attach& attach, Deadline deadline) {
  const FrameHeader header{
      .opcode = kOpAttach, .flags = kFlagNoReply, .payload_length = sizeof(AttachPayload)};
  AttachPayload payload;
  payload.token = attach.token.bytes;
  payload.kind = static_cast<std::uint32_t>(attach.kind);
  payload.lane = attach.lane;
  payload.lanes = attach.lanes;
  payload.security = static_cast<std::uint32_t>(attach.security);
  std::array<std::byte, kAttachFrameBytes> frame;
  write_header(header, frame.data());
  std::memcpy(frame.data() + kFrameHeaderBytes, &payload, sizeof payload);
  return write_all(socket, frame, deadline);
}

Result<Attach> read_attach(int socket, Deadline deadline) {
  std::array<std::byte, kAttachFrameBytes> frame;
  TF_RETURN_IF_ERROR(read_all(socket, frame, deadline));
  return decode_attach(frame);
}

Result<Attach> decode_attach(const std::array<std::byte, kAttachFrameBytes>& frame) {
  Result<FrameHeader> header = read_header(frame, sizeof(AttachPayload));
  if (!header) return header.status();
  if (header->opcode != kOpAttach)
    return malformed("opcode " + std::to_string(header->opcode) + " in its place");
  if (header->payload_length != sizeof(AttachPayload))
    return malformed("payload of " + std::to_string(header->payload_length) + " bytes, expected 32");
  if (header->flags != kFlagNoReply || header->request_id != 0)
    return malformed("flags or request id that an attach frame does not have");
  AttachPayload payload;
  std::memcpy(&payload, frame.data() + kFrameHeaderBytes, sizeof payload);
  Attach attach;
  attach.token.bytes = payload.token;
  if (payload.security > static_cast<std::uint32_t>(secure::Level::kEncrypt))
    return malformed("unknown security level " + std::to_string(payload.security));
  attach.security = static_cast<secure::Level>(payload.security);
  if (payload.kind > kTransportKindMax)
    return malformed("unknown transport kind " + std::to_string(payload.kind));
  attach.kind = static_cast<TransportKind>(payload.kind);
  if (attach.token.is_zero() != (attach.kind == TransportKind::kControl))
    return malformed("a zero token goes with a control connection and nothing else");
  const bool is_control = attach.kind == TransportKind::kControl;
  if (payload.lanes > (is_control ? 0 : kLanesMax))
    return malformed(std::to_string(payload.lanes) + " lanes are out of range");
  if (payload.lane >= (is_control ? 1 : kLanesMax))
    return malformed("lane " + std::to_string(payload.lane) + " is out of range");
  attach.lane = payload.lane;
  attach.lanes = payload.lanes;
  return attach;
}

Status check_lane(const Attach& lane, std::string_view transport, const Token& token, TransportKind kind,
                  std::uint32_t lanes) {
  const auto refuse = [&](Code code, const std::string& why) {
    return Status{code, std::string(transport) + ": " + why};
  };
  if (lane.token != token) return refuse(Code::kPermission, "the lane names another endpoint");
  if (lane.kind != kind) return refuse(Code::kProtocol, "a lane of another transport");
  if (lane.lane >= lanes) return refuse(Code::kProtocol, "there is no lane " + std::to_string(lane.lane));
  return Status::ok();
}

}  // namespace tf::net
