// SPDX-License-Identifier: Apache-2.0
// HELLO: the first exchange on a control connection, after the attach frame with the zero token.
//
// Client to worker: one frame, opcode kOpHello, payload = HelloRequest. Worker to client: one frame, the same
// opcode, flag RESPONSE, payload = HelloReply, and behind it the descriptors of shared_files.h. Afterwards
// both may send what control_message.h lists. Nothing else ever travels on the control connection, and
// closing it ends the session. The send/receive helpers block until their deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/frame.h"
#include "transport/net/attach.h"
#include "transport/net/stream.h"

namespace tf::protocol {

inline constexpr std::uint16_t kOpHello = 0x0002;
inline constexpr std::size_t kHelloBytesMax = 1 << 20;  // payload, either direction
inline constexpr std::size_t kTransportNameBytesMax = 32;
inline constexpr std::size_t kProgramNameBytesMax = 256;
inline constexpr std::size_t kKeyBytesMax = 64;
inline constexpr std::size_t kHelloMessageBytesMax = 4096;
inline constexpr char kLimitsAfterWalls[] = "; limits: ";  // between the two, in HelloReply::message
inline constexpr std::size_t kHelloLimitsBytesMax = 1024;

// Client capabilities (HelloRequest::capabilities).
inline constexpr std::uint64_t kClientIsFar = 1u << 1;  // no memory is shared with it, even on the same host

struct HelloRequest {
  std::uint16_t wire_version = kWireVersion;
  std::uint64_t schema_hash = 0;  // hipcore/wire/protocol_hash.h
  std::string transport;          // "shm", "tcp", ... or "auto": the worker grants one (HelloReply)
  net::Token token;               // names the endpoint; not zero
  std::uint64_t capabilities = 0;
  std::uint32_t hip_major = 0;  // of the client library; for the log
  std::uint32_t pid = 0;
  std::string program;
  std::string key;  // reserved, empty
};

struct HelloReply {
  Code code = Code::kOk;
  std::string message;           // kOk: the session's walls and limits, in words; otherwise why there is none
  std::string limits;            // of the tenant, in the words of hip-worker --limit; empty: none
  bool streams_limited = false;  // making a stream may fail, so the client waits for the answer
  std::string transport;         // granted
  std::uint64_t session_id = 0;
  WorkerSnapshot snapshot;
};

// Payloads (without frame header). decode fails with kProtocol for anything a correct peer does not send,
// trailing bytes included.
Result<std::vector<std::byte>> encode(const HelloRequest& request);
Result<std::vector<std::byte>> encode(const HelloReply& reply);
Result<HelloRequest> decode_hello_request(std::span<const std::byte> payload);
Result<HelloReply> decode_hello_reply(std::span<const std::byte> payload);

// Client side: send, then receive.
Status send_hello(const net::Stream& stream, const HelloRequest& request, Deadline deadline);
// Also Ok for a reply that refuses: check HelloReply::code.
Result<HelloReply> receive_hello_reply(const net::Stream& stream, Deadline deadline);
// Worker side.
Result<HelloRequest> receive_hello(const net::Stream& stream, Deadline deadline);
Status send_hello_reply(const net::Stream& stream, const HelloReply& reply, Deadline deadline);

}  // namespace tf::protocol
