// SPDX-License-Identifier: Apache-2.0
// What client and worker say on the control connection, at any time after HELLO: outside the order of
// requests and replies, so that no number of these can hold it up.
//
// The client: a file that the worker is to map (MapHostFile), with the number by which the request names it:
// only if the client is on the worker's host. That a host function has run, so that the stream behind it goes
// on: the requests in front of such a message could be waiting for that very stream. The same with the
// payload of a copy in turn (CopyInTurn). What the worker's mirror is to do before such a function runs, or
// behind it. How much of the output it has written.
//
// Both: how many bytes they have sent on each lane (transport/lane_watch.h).
//
// The worker: what kernels print, while they run. Not more than kOutputInFlightMax before the client has
// written it: the connection always has room for that much, so it never looks silent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/lane_watch.h"
#include "transport/net/fd.h"
#include "transport/net/stream.h"

namespace tf::protocol {

// Limit on files that are in flight or not yet named by a request. One more ends the session.
inline constexpr std::size_t kPassedFilesMax = 16;

struct ControlMessage {
  enum class Kind { kFile, kCallbackDone, kTurnPayload, kOutputWritten, kMirrorOrder, kLanes };
  Kind kind = Kind::kFile;
  // kFile: the file's. kCallbackDone: the cookie of HostCallback or CopyInTurn. kTurnPayload: the cookie of
  // CopyInTurn. kOutputWritten: bytes since the beginning
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;       // kTurnPayload: what the receiver is to read from the stream now
  net::OwnedFd file;             // kFile
  std::vector<std::byte> order;  // kMirrorOrder: not looked at (hipcore/mirror/order.h)
  LaneReport lanes;              // kLanes
};

inline constexpr std::size_t kTurnPayloadMax = 512 << 10;  // bytes
inline constexpr std::size_t kMirrorOrderMax = 512 << 10;  // bytes

inline constexpr std::size_t kOutputChunkMax = 16 * 1024;  // bytes in one message
// Sent and not yet known to be written. A message that begins below may end beyond.
inline constexpr std::size_t kOutputInFlightMax = 32 * 1024;

enum class OutputStream : std::uint32_t { kOut = 1, kError = 2 };
// Any bytes; a view of what was received.
struct Output {
  OutputStream stream = OutputStream::kOut;
  std::span<const char> text;
};

// What a client receives: one of both.
struct WorkerMessage {
  std::optional<Output> output;
  std::optional<LaneReport> lanes;
};

// Both sides.
Status send_lanes(const net::Stream& stream, const LaneReport& report, Deadline deadline);

// Client side. One call at a time per connection.
Status send_passed_file(int socket, std::uint64_t number, int file, Deadline deadline);
Status send_callback_done(const net::Stream& stream, std::uint64_t cookie, Deadline deadline);
// The stream goes on when it has arrived. REQUIRES: 0 < payload.size() <= kTurnPayloadMax
Status send_turn_payload(const net::Stream& stream, std::uint64_t cookie, std::span<const std::byte> payload,
                         Deadline deadline);
// REQUIRES: 0 < order.size() <= kMirrorOrderMax
Status send_mirror_order(const net::Stream& stream, std::span<const std::byte> order, Deadline deadline);
Status send_output_written(const net::Stream& stream, std::uint64_t bytes, Deadline deadline);
// An output's text goes into `buffer`. kProtocol: something else came.
Result<WorkerMessage> receive_worker_message(const net::Stream& stream,
                                             std::span<char, kOutputChunkMax> buffer, Deadline deadline);
// Worker side. kProtocol: something else came.
Result<ControlMessage> receive_control_message(const net::Stream& stream, Deadline deadline);
// REQUIRES: 0 < output.text.size() <= kOutputChunkMax
Status send_output(const net::Stream& stream, const Output& output, Deadline deadline);

}  // namespace tf::protocol
