// SPDX-License-Identifier: Apache-2.0
// Bytes of a hostile peer on the lanes of a tcp endpoint: messages, bulk, two for pieces, and perhaps one for
// receipts. The endpoint delivers what is whole, then tells of the end; it never waits for more. Headers that
// are otherwise plausible are sealed here: no mutation would hit upon a seal.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "input.h"
#include "tcp/bulk_lane.h"
#include "tcp/receipt_lane.h"
#include "tcp/seal.h"
#include "tcp/stripes.h"
#include "tcp/transport.h"
#include "transport/endpoint.h"
#include "transport/net/fd.h"

namespace tf::fuzz {

constexpr std::size_t kLandingBytes = 2 * tcp::kPieceBytesMin + 100;

class Sink final : public MessageSink {
 public:
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override {
    if (header.payload_length != payload.size() || payload.size() > kMessageBytesMax) __builtin_trap();
    return Status::ok();
  }
};

inline bool make_pair(net::OwnedFd& near, net::OwnedFd& far) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return false;
  near = net::OwnedFd(ends[0]);
  far = net::OwnedFd(ends[1]);
  return true;
}

inline void seal(FrameHeader& header) {
  if (header.magic == kFrameMagic) header.magic = tcp::seal_of(header);
}
inline void seal(tcp::ChunkHeader& header) {
  if (header.seal == 0) header.seal = tcp::seal_of(header);
}
inline void seal(tcp::PieceHeader& header) {
  if (header.seal == 0) header.seal = tcp::seal_of(header);
}
inline void seal(tcp::Receipt& receipt) {
  if (receipt.seal == 0) receipt.seal = tcp::seal_of(receipt);
}
inline std::uint64_t body_of(const tcp::Receipt&) { return 0; }
inline std::uint64_t body_of(const FrameHeader& header) { return header.payload_length; }
inline std::uint64_t body_of(const tcp::ChunkHeader& header) {
  return header.flags == tcp::kChunkStripe ? 0 : header.bytes;
}
inline std::uint64_t body_of(const tcp::PieceHeader& header) { return header.is_void() ? 0 : header.bytes; }

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

inline void drive(Endpoint& endpoint) {
  Sink sink;
  const Deadline deadline = Deadline::after(std::chrono::seconds(10));
  for (;;) {
    if (!endpoint.poll(sink, 16) || !endpoint.bulk().move_payload()) return;
    if (deadline.passed()) __builtin_trap();
    static_cast<void>(endpoint.wait(Interest::kBoth, Deadline::after(std::chrono::milliseconds(10))));
  }
}

// The lanes' bytes by number. The last lane gets what the others leave.
inline std::vector<std::vector<std::byte>> take_lanes(Input& input, const tcp::Layout& layout) {
  std::vector<std::size_t> lengths(layout.connections() - 1);
  for (std::size_t& length : lengths) length = input.take<std::uint32_t>();
  std::vector<std::vector<std::byte>> lanes;
  for (std::uint32_t lane = 0; lane < layout.connections(); ++lane) {
    const std::span<const std::byte> bytes =
        lane < lengths.size() ? input.take_bytes(lengths[lane]) : input.rest();
    if (lane == tcp::kMessageConnection)
      lanes.push_back(sealed<FrameHeader>(bytes));
    else if (lane == tcp::kBulkConnection)
      lanes.push_back(sealed<tcp::ChunkHeader>(bytes));
    else if (layout.is_piece(lane))
      lanes.push_back(sealed<tcp::PieceHeader>(bytes));
    else
      lanes.push_back(sealed<tcp::Receipt>(bytes));
  }
  return lanes;
}

inline void feed_endpoint(Input& input, const tcp::Layout& layout) {
  net::Token token;
  token.bytes[0] = 1;
  const std::unique_ptr<net::Acceptor> acceptor = tcp::transport().acceptor(token);
  const std::vector<std::vector<std::byte>> bytes = take_lanes(input, layout);
  std::vector<net::OwnedFd> far(bytes.size());
  for (std::uint32_t lane = 0; lane < bytes.size(); ++lane) {
    net::OwnedFd near;
    if (!make_pair(near, far[lane])) return;
    if (!acceptor->attach(std::move(near), {token, tcp::kKind, lane, layout.to_attach()}).is_ok()) return;
    static_cast<void>(::send(far[lane].get(), bytes[lane].data(), bytes[lane].size(), MSG_NOSIGNAL));
  }
  Result<std::unique_ptr<Endpoint>> endpoint = acceptor->finish();
  if (!endpoint || *endpoint == nullptr) __builtin_trap();  // all lanes are there
  // A device reads the second half, which the lanes therefore write another way. A piece may lie in both.
  std::vector<std::byte> landing(kLandingBytes / 2);
  std::vector<std::byte> for_device(kLandingBytes - landing.size());
  BulkCompletion landed;
  BulkCompletion landed_for_device;
  BulkCompletion thrown_away;
  BulkPlane& bulk = (*endpoint)->bulk();
  bulk.expect_device_reads(for_device);
  const bool receiving = bulk.receive(1, landing, landed).is_ok();
  const bool receiving_more = bulk.receive(1, for_device, landed_for_device).is_ok();
  const bool discarding = bulk.discard(2, std::uint64_t{1} << 60, thrown_away).is_ok();
  for (net::OwnedFd& lane : far) lane.reset();
  drive(**endpoint);
  endpoint->reset();
  if (receiving && !landed.done()) __builtin_trap();
  if (receiving_more && !landed_for_device.done()) __builtin_trap();
  if (discarding && !thrown_away.done()) __builtin_trap();
}

}  // namespace tf::fuzz
