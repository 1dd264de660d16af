// SPDX-License-Identifier: Apache-2.0
// The first frame on every connection to a worker: what the connection is for.
//
// Frame: opcode kOpAttach, payload 32 bytes, no reply.
//   offset  size  field
//   0       16    token     all zero: this is a control connection and HELLO follows;
//                           otherwise the endpoint that this connection is a lane of
//   16      4     kind      TransportKind that the lane belongs to; 0 on a control connection
//   20      4     lane      0, 1, ... in the order the transport defines
//   24      4     security  the level (transport/secure/level.h) that the client wants, or that its session
//   has:
//                           if it is not none, a control connection goes on with the handshake, and a lane
//                           with its proof (lanes.h)
//   28      4     lanes     what lanes the endpoint has, in the transport's own terms; 0: those that it
//                           always has
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"
#include "transport/secure/level.h"
#include "transport/secure/session.h"

namespace tf::net {

inline constexpr std::uint16_t kOpAttach = 0x0001;

// Names one endpoint. It cannot be guessed, so knowing it is the right to attach.
struct Token {
  std::array<std::uint8_t, 16> bytes{};
  bool is_zero() const { return *this == Token{}; }
  friend bool operator==(const Token&, const Token&) = default;
  friend auto operator<=>(const Token&, const Token&) = default;
  // From the kernel's random source.
  static Result<Token> random();
};

// Which transport a lane belongs to. Each has its own number: kKind in its transport.h.
enum class TransportKind : std::uint32_t { kControl = 0 };
inline constexpr std::uint32_t kTransportKindMax = 63;  // a kind of no transport is refused by check_lane()

struct Attach {
  Token token;
  TransportKind kind = TransportKind::kControl;
  std::uint32_t lane = 0;
  std::uint32_t lanes = 0;
  secure::Level security = secure::Level::kNone;
  secure::Proof proof{};  // not in the frame: what a lane of a session with keys was proven with, once it was
};

inline constexpr std::size_t kAttachFrameBytes = 24 + 32;

// The check that every transport makes on a lane: it belongs to endpoint `token`, is of the right `kind`, and
// its number is below `lanes`. The refusal names `transport`.
Status check_lane(const Attach& lane, std::string_view transport, const Token& token, TransportKind kind,
                  std::uint32_t lanes);

// Write the attach frame to a fresh connection; read and validate one. Both block until `deadline`.
// read_attach consumes exactly kAttachFrameBytes and nothing after them.
Status write_attach(int socket, const Attach& attach, Deadline deadline);
Result<Attach> read_attach(int socket, Deadline deadline);
// Decodes one whole attach frame (for servers that read without blocking).
Result<Attach> decode_attach(const std::array<std::byte, kAttachFrameBytes>& frame);

}  // namespace tf::net
