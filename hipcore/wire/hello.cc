// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes HELLO, and sends it over the control connection.
#include "hipcore/wire/hello.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "hipcore/wire/stranger.h"
#include "transport/net/socket.h"

namespace tf::protocol {
namespace {

constexpr auto kLastCode = static_cast<std::uint32_t>(Code::kInternal);

Status send_frame(const net::Stream& stream, std::uint32_t flags, std::span<const std::byte> payload,
                  Deadline deadline) {
  FrameHeader header;
  header.opcode = kOpHello;
  header.request_id = 1;
  header.flags = flags;
  header.payload_length = payload.size();
  std::vector<std::byte> frame(kFrameHeaderBytes + payload.size());
  write_header(header, frame.data());
  if (!payload.empty()) std::memcpy(frame.data() + kFrameHeaderBytes, payload.data(), payload.size());
  return net::write_all(stream, frame, deadline);
}

// Reads the header, or finds out what else is talking. If the peer has no more to say, the bytes received so
// far are enough.
Status receive_header(const net::Stream& stream, std::span<std::byte> bytes, Deadline deadline) {
  if (stream.records != nullptr) return net::read_all(stream, bytes, deadline);  // it is known who talks
  std::size_t have = 0;
  while (have < bytes.size()) {
    const Status ready = net::wait_readable(stream.socket, deadline);
    const ssize_t got =
        ready ? ::recv(stream.socket, bytes.data() + have, bytes.size() - have, MSG_DONTWAIT) : ssize_t{0};
    const int error = got < 0 ? errno : 0;
    if (error == EINTR || error == EAGAIN) continue;
    if (got > 0) have += static_cast<std::size_t>(got);
    if (std::string stranger = describe_stranger(bytes.first(have));
        !stranger.empty() && (got <= 0 || have >= 4))
      return {Code::kProtocol, std::move(stranger)};
    if (!ready) return ready;
    if (got == 0 || error == ECONNRESET)  // it hung up with our HELLO unread
      return {Code::kPeerLost,
              "the peer closed the connection without an answer: it is not a hip-worker, or it ended"};
    if (got < 0) return Status::from_errno("recv", error);
  }
  return Status::ok();
}

// Reads one HELLO frame. Another wire version is named as such, since the two sides may be of different
// releases; that is the one mismatch users meet in practice.
Result<std::vector<std::byte>> receive_frame(const net::Stream& stream, std::uint32_t flags,
                                             Deadline deadline) {
  std::array<std::byte, kFrameHeaderBytes> bytes;
  TF_RETURN_IF_ERROR(receive_header(stream, bytes, deadline));
  Result<FrameHeader> header = read_header(bytes, kHelloBytesMax);
  if (!header) return header.status();
  if (header->opcode != kOpHello || header->flags != flags)
    return Status(Code::kProtocol, "expected HELLO, got opcode " + std::to_string(header->opcode) +
                                       " with flags " + std::to_string(header->flags));
  std::vector<std::byte> payload(static_cast<std::size_t>(header->payload_length));
  TF_RETURN_IF_ERROR(net::read_all(stream, payload, deadline));
  return payload;
}

}  // namespace

Result<std::vector<std::byte>> encode(const HelloRequest& request) {
  std::vector<std::byte> buffer(kHelloBytesMax);
  Encoder out(buffer);
  out.field(request.wire_version);
  out.field(std::uint16_t{0});
  out.field(request.hip_major);
  out.field(request.schema_hash);
  out.array(request.token.bytes);
  out.field(request.capabilities);
  out.field(request.pid);
  out.field(request.transport, kTransportNameBytesMax);
  out.field(request.program, kProgramNameBytesMax);
  out.field(request.key, kKeyBytesMax);
  TF_RETURN_IF_ERROR(out.status());
  buffer.resize(out.written().size());
  return buffer;
}

Result<HelloRequest> decode_hello_request(std::span<const std::byte> payload) {
  Decoder in(payload);
  HelloRequest request;
  std::uint16_t reserved = 0;
  in.field(request.wire_version);
  in.field(reserved);
  in.field(request.hip_major);
  in.field(request.schema_hash);
  in.array(request.token.bytes);
  in.field(request.capabilities);
  in.field(request.pid);
  in.field(request.transport, kTransportNameBytesMax);
  in.field(request.program, kProgramNameBytesMax);
  in.field(request.key, kKeyBytesMax);
  TF_RETURN_IF_ERROR(in.finish());
  if (reserved != 0) return Status(Code::kProtocol, "reserved field of HELLO is not zero");
  if (request.token.is_zero()) return Status(Code::kProtocol, "HELLO names no endpoint token");
  return request;
}

Result<std::vector<std::byte>> encode(const HelloReply& reply) {
  std::vector<std::byte> buffer(kHelloBytesMax);
  Encoder out(buffer);
  out.field(static_cast<std::uint32_t>(reply.code));
  out.field(std::uint32_t{reply.streams_limited ? 1u : 0u});
  out.field(reply.session_id);
  out.field(reply.message, kHelloMessageBytesMax);
  out.field(reply.limits, kHelloLimitsBytesMax);
  out.field(reply.transport, kTransportNameBytesMax);
  encode(out, reply.snapshot);
  TF_RETURN_IF_ERROR(out.status());
  buffer.resize(out.written().size());
  return buffer;
}

Result<HelloReply> decode_hello_reply(std::span<const std::byte> payload) {
  Decoder in(payload);
  HelloReply reply;
  std::uint32_t code = 0;
  std::uint32_t streams_limited = 0;
  in.field(code);
  in.field(streams_limited);
  in.field(reply.session_id);
  in.field(reply.message, kHelloMessageBytesMax);
  in.field(reply.limits, kHelloLimitsBytesMax);
  in.field(reply.transport, kTransportNameBytesMax);
  decode(in, reply.snapshot);
  TF_RETURN_IF_ERROR(in.finish());
  if (code > kLastCode || streams_limited > 1)
    return Status(Code::kProtocol, "unknown status in the HELLO reply");
  reply.code = static_cast<Code>(code);
  reply.streams_limited = streams_limited != 0;
  return reply;
}

Status send_hello(const net::Stream& stream, const HelloRequest& request, Deadline deadline) {
  Result<std::vector<std::byte>> payload = encode(request);
  if (!payload) return payload.status();
  return send_frame(stream, 0, *payload, deadline);
}

Result<HelloReply> receive_hello_reply(const net::Stream& stream, Deadline deadline) {
  Result<std::vector<std::byte>> payload = receive_frame(stream, kFlagResponse, deadline);
  if (!payload) return payload.status();
  return decode_hello_reply(*payload);
}

Result<HelloRequest> receive_hello(const net::Stream& stream, Deadline deadline) {
  Result<std::vector<std::byte>> payload = receive_frame(stream, 0, deadline);
  if (!payload) return payload.status();
  return decode_hello_request(*payload);
}

Status send_hello_reply(const net::Stream& stream, const HelloReply& reply, Deadline deadline) {
  Result<std::vector<std::byte>> payload = encode(reply);
  if (!payload) return payload.status();
  return send_frame(stream, kFlagResponse, *payload, deadline);
}

}  // namespace tf::protocol
