// SPDX-License-Identifier: Apache-2.0
// Peer: one thread's hands on an endpoint in a test. Every operation drives both planes and has a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "transport/endpoint.h"

namespace tf::test {

struct Message {
  FrameHeader header;
  std::vector<std::byte> payload;
};

class Peer final : private MessageSink {
 public:
  static constexpr std::chrono::seconds kStepTimeout{20};  // a test that waits longer is stuck

  explicit Peer(std::unique_ptr<Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}

  Endpoint& endpoint() { return *endpoint_; }
  BulkPlane& bulk() { return endpoint_->bulk(); }
  void close() { endpoint_.reset(); }
  bool is_closed() const { return endpoint_ == nullptr; }  // then every step below is kClosed

  // Publishes one message; drives the endpoint while there is no room.
  Status send(std::uint16_t opcode, std::uint32_t id, std::span<const std::byte> payload = {},
              std::uint32_t flags = 0);
  // The next message.
  Result<Message> receive();
  // Until the transfer is done; its status.
  Status await(const BulkCompletion& completion);
  // Moves what can be moved; if that is nothing, sleeps until something can be.
  Status drive(Deadline deadline);
  // Drives until the endpoint fails; that failure, or kTimeout.
  Status until_failure(std::chrono::milliseconds limit);
  std::size_t inbox() const { return inbox_.size(); }

 private:
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override;

  std::unique_ptr<Endpoint> endpoint_;
  std::deque<Message> inbox_;
};

// One attempt: kWouldBlock when there is no room.
Status try_publish(Endpoint& endpoint, std::uint16_t opcode, std::uint32_t id,
                   std::span<const std::byte> payload, std::uint32_t flags = 0);

// Bytes that differ by seed and position, and the place where `bytes` differ from them (npos: nowhere).
std::vector<std::byte> pattern(std::size_t bytes, std::uint64_t seed);
void fill_pattern(std::span<std::byte> target, std::uint64_t seed);
std::size_t find_mismatch(std::span<const std::byte> bytes, std::uint64_t seed);
inline constexpr std::size_t kNoMismatch = static_cast<std::size_t>(-1);

}  // namespace tf::test
