// SPDX-License-Identifier: Apache-2.0
// A client of a real worker that says exactly what a test wants it to say.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "hipcore/wire/gen/messages.h"
#include "hipcore/wire/hello.h"
#include "hipcore/wire/protocol_hash.h"
#include "transport/net/transport.h"
#include "transport/request_queue.h"
#include "worker_process.h"

namespace tf::worker {

struct NoNotices final : MessageSink {
  Status on_message(const FrameHeader& header, std::span<const std::byte>) override {
    ++count;
    last_opcode = header.opcode;
    return Status::ok();
  }
  int count = 0;
  int last_opcode = 0;
};

// What the proxy does, without a proxy.
struct RawClient {
  RawClient(const WorkerProcess& worker, const net::Transport& transport) {
    const net::Address address =
        transport.reaches(worker.tcp()).is_ok() ? worker.tcp() : worker.unix_socket();
    status = connect(address, transport);
  }
  Status connect(const net::Address& address, const net::Transport& transport) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    Result<net::OwnedFd> socket = net::dial_lane(address, net::Attach{}, deadline);
    if (!socket) return socket.status();
    control = std::move(*socket);
    Result<net::Token> token = net::Token::random();
    if (!token) return token.status();
    protocol::HelloRequest hello;
    hello.schema_hash = protocol::kProtocolHash;
    hello.transport = transport.name();
    hello.token = *token;
    hello.program = "remote_test";
    TF_RETURN_IF_ERROR(protocol::send_hello(control.get(), hello, deadline));
    Result<protocol::HelloReply> reply = protocol::receive_hello_reply(control.get(), deadline);
    if (!reply) return reply.status();
    if (reply->code != Code::kOk) return {reply->code, reply->message};
    snapshot = reply->snapshot;
    Result<std::unique_ptr<Endpoint>> made = transport.connect(address, *token, deadline);
    if (!made) return made.status();
    endpoint = std::move(*made);
    queue = std::make_unique<RequestQueue>(*endpoint, notices);
    return Status::ok();
  }

  template <typename Request>
  Status post(const Request& request, std::span<const std::byte> tail = {}) {
    return queue->post(static_cast<std::uint16_t>(Request::kOp), kFlagNoReply,
                       std::as_bytes(std::span(&request, 1)), tail);
  }
  template <typename Request>
  Status call(const Request& request, std::span<std::byte> reply) {
    Result<Reply> got =
        queue->call(static_cast<std::uint16_t>(Request::kOp), 0, std::as_bytes(std::span(&request, 1)), {},
                    reply, Deadline::after(std::chrono::seconds(20)));
    return got.status();
  }
  // hipError_t of the answer, its fields in `body`.
  template <typename Request, typename Body>
  int ask(const Request& request, Body& body) {
    struct {
      std::int32_t error;
      std::uint32_t reserved;
      Body body;
    } reply{};
    const Status called = call(request, std::as_writable_bytes(std::span(&reply, 1)));
    EXPECT_TRUE(called.is_ok()) << called.to_string();
    body = reply.body;
    return reply.error;
  }
  template <typename Request>
  int ask(const Request& request) {
    std::int32_t reply[2] = {};
    const Status called = call(request, std::as_writable_bytes(std::span(reply)));
    EXPECT_TRUE(called.is_ok()) << called.to_string();
    return reply[0];
  }
  std::uint64_t lease(std::uint64_t bytes) {
    struct {
      std::int32_t error;
      std::uint32_t reserved;
      protocol::LeaseMemoryReply body;
    } reply{};
    protocol::LeaseMemoryRequest request{};
    request.bytes = bytes;
    const Status called = call(request, std::as_writable_bytes(std::span(&reply, 1)));
    EXPECT_TRUE(called.is_ok()) << called.to_string();
    EXPECT_EQ(reply.error, 0);
    return reply.body.address;
  }
  Status synchronize() {
    std::byte reply[8];
    return call(protocol::SynchronizeStreamRequest{}, reply);
  }

  net::OwnedFd control;
  protocol::WorkerSnapshot snapshot;
  NoNotices notices;
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<RequestQueue> queue;
  Status status;
};

}  // namespace tf::worker
