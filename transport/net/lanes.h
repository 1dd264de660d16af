// SPDX-License-Identifier: Apache-2.0
// Lanes: what makes the lanes of one session its own. Also how they are proven, if the session has keys
// (transport/secure/lane_proof.h).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/address.h"
#include "transport/net/attach.h"
#include "transport/net/fd.h"
#include "transport/secure/session.h"

namespace tf::net {

struct Lanes {
  Lanes() = default;
  Lanes(const Token& of) : token(of) {}  // NOLINT: implicit, a session without keys is its token
  Lanes(const Token& of, std::shared_ptr<const secure::Session> keys) : token(of), session(std::move(keys)) {}

  // Whether the lanes themselves are to be encrypted.
  bool encrypted() const { return session != nullptr && session->level == secure::Level::kEncrypt; }

  Token token;
  std::shared_ptr<const secure::Session> session;  // null: without keys
  std::uint32_t layout = 0;                        // Attach::lanes
};

// A client's end of a lane.
struct DialledLane {
  OwnedFd socket;
  secure::Proof proof{};  // what its keys follow from; zeros without keys
};

// A client's: dials, writes the attach frame, and proves the lane. kPermission: what answers is not the
// worker of the session, or no longer has it.
Result<DialledLane> dial_lane(const Address& address, const Lanes& lanes, TransportKind kind,
                              std::uint32_t lane, Deadline deadline);
// What dial_lane() does with fresh connections, which become lanes 0, 1, ..., in as many round trips as one
// takes.
Result<std::vector<DialledLane>> attach_lanes(std::vector<OwnedFd> sockets, const Lanes& lanes,
                                              TransportKind kind, Deadline deadline);

// A worker's, where one may block: the rest of what dial_lane() does, after the attach frame was read. Writes
// attach.proof.
Status accept_proof(int socket, const Lanes& lanes, Attach& attach, Deadline deadline);

}  // namespace tf::net
