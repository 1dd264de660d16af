// SPDX-License-Identifier: Apache-2.0
// The channel between the supervisor and one of its session processes: fixed-size envelopes over a Unix
// seqpacket socket pair, with connections passed as descriptors. Both ends are ours, but each checks what it
// receives, since a session process runs what its client makes it run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "hipcore/limits/device_limits.h"
#include "hipcore/wire/device_snapshot.h"
#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/attach.h"
#include "transport/net/fd.h"
#include "transport/secure/session.h"
#include "worker/base/limits.h"

namespace tf::worker {

// The numbers of descriptors in a session process: the channel's, and that of the page of turns
// (worker/runtime/common/turn_page.h). LastWords has one between them.
inline constexpr int kSessionChannelFd = 3;
inline constexpr int kTurnsFd = 5;
inline constexpr std::size_t kOffersPerSessionMax = 128;  // that one session may have

enum class Envelope : std::uint32_t {
  kReady = 1,    // session -> supervisor: warm, waiting for a client
  kControl = 2,  // supervisor -> session: serve this control connection
  kExpect = 3,   // session -> supervisor: lanes with this token are mine
  kLane = 4,     // supervisor -> session: a lane of your endpoint
  kDrain = 5,    // supervisor -> session: finish and exit
  // For memory that sessions of this worker share (memory/sharing.h); its name is attach.token.
  kOffer = 6,     // session -> supervisor: keep this memory for anybody who knows its name
  kWithdraw = 7,  // session -> supervisor: no longer
  kWant = 8,      // session -> supervisor: asks for the memory with this name
  kAnswer = 9,    // supervisor -> session: the reply to each of these
  kTaken = 10,    // session -> supervisor: kControl arrived, no other process needs to serve it
  kGrant = 11,    // supervisor -> session: before kControl: what its client may have
  kFindSession =
      12,  // session -> supervisor: asks for one row of its tenant's other sessions; also a kAnswer
};

// What a session shares: a part of some physical memory, or an event.
struct SharedPiece {
  enum class Kind : std::uint32_t { kNone = 0, kLease = 1, kPhysical = 2, kEvent = 3, kAllocation = 4 };
  Kind kind = Kind::kNone;
  std::int32_t device = 0;
  std::uint64_t whole_bytes = 0;  // of the physical memory
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
  // kEvent and kAllocation (a lease that is an ordinary allocation): the runtime's hipIpcEventHandle_t or
  // hipIpcMemHandle_t. Clients never see it.
  std::array<std::uint8_t, 64> ticket{};
};

// What a session may have of its tenant's share.
struct Grant {
  LimitValues limits{};
  std::uint32_t slot = 0;           // of the tenant's page, which comes with it if there is one
  hipcore::DeviceLimits devices{};  // what the host's manager says
};

// Another session of the same tenant, as the supervisor knows it.
struct SessionRow {
  bool known = false;       // false: there are not so many
  std::uint32_t index = 0;  // kFindSession: which is asked for
  std::uint64_t session = 0;
  std::uint64_t client_pid = 0;
  std::uint64_t worker_pid = 0;
  std::uint64_t age_ms = 0;
  std::array<std::uint64_t, protocol::kDevicesMax> memory_bytes{};
  std::string peer;  // cut to kPeerBytesMax
};

inline constexpr std::size_t kPeerBytesMax = 64;
inline constexpr std::size_t kWhomBytesMax = 1536;     // the rest is cut
inline constexpr std::size_t kTransportBytesMax = 32;  // likewise

struct ChannelMessage {
  Envelope kind = Envelope::kReady;
  net::Attach attach;            // kExpect (token), kLane
  std::uint64_t session_id = 0;  // kControl
  // kOffer, kWant and the kAnswer to them. kReady: how many devices there are. kExpect: the client's pid.
  std::uint64_t number = 0;
  SharedPiece piece;        // kOffer; kAnswer: kind is kNone when the answer is no
  Grant grant;              // kGrant
  SessionRow row;           // kFindSession, and the kAnswer to it, whose `whom` is the program
  bool is_local = false;    // kControl: came over the Unix socket
  bool quiet = false;       // kControl: log nothing if no session can be set up
  secure::Session session;  // kControl: what its client has proven; level none: nothing
  // For the log. kControl: who that is; kReady: the walls around the process; kExpect: the client's program.
  std::string whom;
  std::string transport;  // kExpect: what was granted, for the log
  // kControl, kLane. kOffer: the memory; kAnswer: the memory, if wanted; kGrant: the tenant's page.
  net::OwnedFd connection;
};

struct ChannelPair {
  net::OwnedFd supervisor;  // close-on-exec, non-blocking
  net::OwnedFd session;
};
Result<ChannelPair> make_channel();

// Waits for `deadline` at most. The caller keeps message.connection.
Status send_message(int channel, const ChannelMessage& message, Deadline deadline);
// kPeerLost: the other end is gone. kTimeout: nothing arrived.
Result<ChannelMessage> receive_message(int channel, Deadline deadline);

}  // namespace tf::worker
