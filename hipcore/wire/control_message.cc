// SPDX-License-Identifier: Apache-2.0
// Sends and receives the messages of the control connection.
#include "hipcore/wire/control_message.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hipcore/wire/control_wire.h"
#include "transport/net/socket.h"

namespace tf::protocol {
namespace {

struct Wire {
  std::uint64_t magic = 0;
  std::uint64_t number = 0;
};
static_assert(sizeof(Wire) == 16 && std::has_unique_object_representations_v<Wire>);

// Behind kTurnPayloadMagic and the cookie.
struct TurnWire {
  std::uint64_t bytes = 0;
};

constexpr std::size_t kSmallPayloadMax = 4096;  // leaves with the message's head

Status unknown() { return {Code::kProtocol, "an unknown message on the control connection"}; }

bool is_listed(const Wire& wire) {
  return std::ranges::find(kControlMagics, wire.magic) != std::end(kControlMagics);
}

// Behind kLanesMagic and their number.
Result<LaneReport> read_lanes(const net::Stream& stream, std::uint64_t count, Deadline deadline) {
  if (count == 0 || count > kLanesMax) return Status(Code::kProtocol, "a report about no lanes, or too many");
  LaneReport report;
  report.count = static_cast<std::size_t>(count);
  const std::span<std::uint64_t> sent = std::span(report.sent).first(report.count);
  TF_RETURN_IF_ERROR(net::read_all(stream, std::as_writable_bytes(sent), deadline));
  return report;
}

ControlMessage message_of(ControlMessage::Kind kind, std::uint64_t number) {
  ControlMessage message;
  message.kind = kind;
  message.number = number;
  return message;
}

constexpr std::uint64_t number_of(OutputStream stream) { return static_cast<std::uint64_t>(stream); }

}  // namespace

Status send_passed_file(int socket, std::uint64_t number, int file, Deadline deadline) {
  const Wire wire{kFileMagic, number};
  return net::send_with_fds(socket, std::as_bytes(std::span(&wire, 1)), {&file, 1}, deadline);
}

Status send_callback_done(const net::Stream& stream, std::uint64_t cookie, Deadline deadline) {
  const Wire wire{kCallbackDoneMagic, cookie};
  return net::write_all(stream, std::as_bytes(std::span(&wire, 1)), deadline);
}

Status send_turn_payload(const net::Stream& stream, std::uint64_t cookie, std::span<const std::byte> payload,
                         Deadline deadline) {
  const Wire wire{kTurnPayloadMagic, cookie};
  const TurnWire more{payload.size()};
  std::array<std::byte, sizeof wire + sizeof more + kSmallPayloadMax> message;  // one segment, one wake-up
  const std::size_t head = sizeof wire + sizeof more;
  std::memcpy(message.data(), &wire, sizeof wire);
  std::memcpy(message.data() + sizeof wire, &more, sizeof more);
  const std::span<const std::byte> first = payload.first(std::min(payload.size(), kSmallPayloadMax));
  std::memcpy(message.data() + head, first.data(), first.size());
  TF_RETURN_IF_ERROR(net::write_all(stream, std::span(message).first(head + first.size()), deadline));
  return net::write_all(stream, payload.subspan(first.size()), deadline);
}

Status send_mirror_order(const net::Stream& stream, std::span<const std::byte> order, Deadline deadline) {
  const Wire wire{kMirrorOrderMagic, order.size()};
  std::vector<std::byte> message(sizeof wire + order.size());  // one segment, one wake-up
  std::memcpy(message.data(), &wire, sizeof wire);
  std::memcpy(message.data() + sizeof wire, order.data(), order.size());
  return net::write_all(stream, message, deadline);
}

Status send_output_written(const net::Stream& stream, std::uint64_t bytes, Deadline deadline) {
  const Wire wire{kOutputWrittenMagic, bytes};
  return net::write_all(stream, std::as_bytes(std::span(&wire, 1)), deadline);
}

Status send_lanes(const net::Stream& stream, const LaneReport& report, Deadline deadline) {
  const Wire wire{kLanesMagic, report.count};
  std::array<std::byte, sizeof wire + sizeof report.sent> message;  // one segment, one wake-up
  const std::span<const std::byte> sent = std::as_bytes(std::span(report.sent).first(report.count));
  std::memcpy(message.data(), &wire, sizeof wire);
  std::memcpy(message.data() + sizeof wire, sent.data(), sent.size());
  return net::write_all(stream, std::span(message).first(sizeof wire + sent.size()), deadline);
}

Status send_output(const net::Stream& stream, const Output& output, Deadline deadline) {
  const std::span<const char> text = output.text;
  const Wire wire{kOutputMagic, number_of(output.stream) << 32 | text.size()};
  std::array<std::byte, sizeof wire + kOutputChunkMax> message;  // one segment, one wake-up
  std::memcpy(message.data(), &wire, sizeof wire);
  std::memcpy(message.data() + sizeof wire, text.data(), text.size());
  return net::write_all(stream, std::span(message).first(sizeof wire + text.size()), deadline);
}

Result<WorkerMessage> receive_worker_message(const net::Stream& stream,
                                             std::span<char, kOutputChunkMax> buffer, Deadline deadline) {
  Wire wire;
  TF_RETURN_IF_ERROR(net::read_all(stream, std::as_writable_bytes(std::span(&wire, 1)), deadline));
  if (wire.magic == kLanesMagic) {
    const Result<LaneReport> report = read_lanes(stream, wire.number, deadline);
    if (!report) return report.status();
    return WorkerMessage{{}, report.value()};
  }
  const std::uint64_t number = wire.number >> 32;
  const std::uint64_t bytes = wire.number & UINT32_MAX;
  const bool known = number == number_of(OutputStream::kOut) || number == number_of(OutputStream::kError);
  if (wire.magic != kOutputMagic || !known || bytes == 0 || bytes > kOutputChunkMax) return unknown();
  const std::span<char> text = buffer.first(static_cast<std::size_t>(bytes));
  TF_RETURN_IF_ERROR(net::read_all(stream, std::as_writable_bytes(text), deadline));
  return WorkerMessage{Output{static_cast<OutputStream>(number), text}, {}};
}

Result<ControlMessage> receive_control_message(const net::Stream& stream, Deadline deadline) {
  using Kind = ControlMessage::Kind;
  Wire wire;
  std::vector<net::OwnedFd> files;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&wire, 1));
  if (stream.records != nullptr)  // over TCP, which passes no files
    TF_RETURN_IF_ERROR(net::read_all(stream, bytes, deadline));
  else
    TF_RETURN_IF_ERROR(net::receive_with_fds(stream.socket, bytes, files, deadline));
  if (!is_listed(wire)) return unknown();
  if (wire.magic == kCallbackDoneMagic && files.empty()) return message_of(Kind::kCallbackDone, wire.number);
  if (wire.magic == kOutputWrittenMagic && files.empty())
    return message_of(Kind::kOutputWritten, wire.number);
  if (wire.magic == kLanesMagic && files.empty()) {
    const Result<LaneReport> report = read_lanes(stream, wire.number, deadline);
    if (!report) return report.status();
    ControlMessage message = message_of(Kind::kLanes, 0);
    message.lanes = report.value();
    return message;
  }
  if (wire.magic == kTurnPayloadMagic && files.empty()) {
    TurnWire more;
    TF_RETURN_IF_ERROR(net::read_all(stream, std::as_writable_bytes(std::span(&more, 1)), deadline));
    if (more.bytes == 0 || more.bytes > kTurnPayloadMax)
      return Status(Code::kProtocol,
                    "a payload of " + std::to_string(more.bytes) + " bytes for a copy in turn");
    ControlMessage message = message_of(Kind::kTurnPayload, wire.number);
    message.bytes = more.bytes;
    return message;
  }
  if (wire.magic == kMirrorOrderMagic && files.empty() && wire.number != 0 &&
      wire.number <= kMirrorOrderMax) {
    std::vector<std::byte> order(static_cast<std::size_t>(wire.number));
    TF_RETURN_IF_ERROR(net::read_all(stream, order, deadline));
    ControlMessage message = message_of(Kind::kMirrorOrder, 0);
    message.order = std::move(order);
    return message;
  }
  if (wire.magic == kFileMagic && files.size() == 1) {
    ControlMessage message = message_of(Kind::kFile, wire.number);
    message.file = std::move(files.front());
    return message;
  }
  return unknown();
}

}  // namespace tf::protocol
