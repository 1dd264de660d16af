// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: bytes of a hostile peer on the lanes of a tcp endpoint: messages, bulk, and two for pieces. The
// endpoint delivers what is whole, then tells of the end; it never waits for more. Headers that are otherwise
// plausible are sealed here: no mutation would hit upon a seal.
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "input.h"
#include "tcp/bulk_lane.h"
#include "tcp/seal.h"
#include "tcp/stripes.h"
#include "tcp/transport.h"
#include "transport/endpoint.h"
#include "transport/net/fd.h"

namespace {

constexpr std::uint32_t kLanes = tf::tcp::connections_for(2);
constexpr std::size_t kLandingBytes = 2 * tf::tcp::kPieceBytesMin + 100;

class Sink final : public tf::MessageSink {
 public:
  tf::Status on_message(const tf::FrameHeader& header, std::span<const std::byte> payload) override {
    if (header.payload_length != payload.size() || payload.size() > tf::kMessageBytesMax) __builtin_trap();
    return tf::Status::ok();
  }
};

bool make_pair(tf::net::OwnedFd& near, tf::net::OwnedFd& far) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return false;
  near = tf::net::OwnedFd(ends[0]);
  far = tf::net::OwnedFd(ends[1]);
  return true;
}

void seal(tf::FrameHeader& header) {
  if (header.magic == tf::kFrameMagic) header.magic = tf::tcp::seal_of(header);
}
void seal(tf::tcp::ChunkHeader& header) {
  if (header.seal == 0) header.seal = tf::tcp::seal_of(header);
}
void seal(tf::tcp::PieceHeader& header) {
  if (header.seal == 0) header.seal = tf::tcp::seal_of(header);
}
std::uint64_t body_of(const tf::FrameHeader& header) { return header.payload_length; }
std::uint64_t body_of(const tf::tcp::ChunkHeader& header) {
  return header.flags == tf::tcp::kChunkStripe ? 0 : header.bytes;
}
std::uint64_t body_of(const tf::tcp::PieceHeader& header) { return header.bytes; }

// Header by header, for as long as their lengths lead to another.
template <typename Header>
std::vector<std::byte> sealed(std::span<const std::byte> lane) {
  std::vector<std::byte> bytes(lane.begin(), lane.end());
  for (std::size_t at = 0; bytes.size() - at >= sizeof(Header);) {
    Header header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    seal(header);
    std::memcpy(bytes.data() + at, &header, sizeof header);
    at += sizeof header;
    if (body_of(header) > bytes.size() - at) break;
    at += static_cast<std::size_t>(body_of(header));
  }
  return bytes;
}

void drive(tf::Endpoint& endpoint) {
  Sink sink;
  const tf::Deadline deadline = tf::Deadline::after(std::chrono::seconds(10));
  for (;;) {
    if (!endpoint.poll(sink, 16) || !endpoint.bulk().move_payload()) return;
    if (deadline.passed()) __builtin_trap();
    static_cast<void>(endpoint.wait(tf::Interest::kBoth, tf::Deadline::after(std::chrono::milliseconds(10))));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tf::fuzz::Input input(data, size);
  tf::net::Token token;
  token.bytes[0] = 1;
  const std::unique_ptr<tf::net::Acceptor> acceptor = tf::tcp::transport().acceptor(token);
  tf::net::OwnedFd far[kLanes];
  std::size_t lengths[kLanes - 1];
  for (std::size_t& length : lengths) length = input.take<std::uint32_t>();
  std::vector<std::byte> bytes[kLanes];
  bytes[0] = sealed<tf::FrameHeader>(input.take_bytes(lengths[0]));
  bytes[1] = sealed<tf::tcp::ChunkHeader>(input.take_bytes(lengths[1]));
  bytes[2] = sealed<tf::tcp::PieceHeader>(input.take_bytes(lengths[2]));
  bytes[3] = sealed<tf::tcp::PieceHeader>(input.rest());
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    tf::net::OwnedFd near;
    if (!make_pair(near, far[lane])) return 0;
    if (!acceptor->attach(std::move(near), {token, tf::tcp::kKind, lane, kLanes}).is_ok()) return 0;
    static_cast<void>(::send(far[lane].get(), bytes[lane].data(), bytes[lane].size(), MSG_NOSIGNAL));
  }
  tf::Result<std::unique_ptr<tf::Endpoint>> endpoint = acceptor->finish();
  if (!endpoint || *endpoint == nullptr) __builtin_trap();  // all lanes are there
  std::vector<std::byte> landing(kLandingBytes);
  tf::BulkCompletion landed;
  tf::BulkCompletion thrown_away;
  const bool receiving = (*endpoint)->bulk().receive(1, landing, landed).is_ok();
  const bool discarding = (*endpoint)->bulk().discard(2, std::uint64_t{1} << 60, thrown_away).is_ok();
  for (tf::net::OwnedFd& lane : far) lane.reset();
  drive(**endpoint);
  endpoint->reset();
  if ((receiving && !landed.done()) || (discarding && !thrown_away.done())) __builtin_trap();
  return 0;
}
