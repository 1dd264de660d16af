// SPDX-License-Identifier: Apache-2.0
// An endpoint whose peer is a pair of bare sockets, so that it can misbehave.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tcp/bulk_lane.h"
#include "tcp/endpoint.h"
#include "tcp/probe.h"
#include "tcp/seal.h"
#include "tcp/stripes.h"
#include "tcp/transport.h"
#include "tests/support/endpoint_pair.h"
#include "transport/net/socket.h"

namespace tf::tcp {
namespace {

constexpr std::chrono::seconds kEndpointLimit(5);

class Counter final : public MessageSink {
 public:
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override {
    ++count;
    last = header;
    bytes += payload.size();
    return Status::ok();
  }
  int count = 0;
  std::size_t bytes = 0;
  FrameHeader last;
};

struct Bare {
  std::unique_ptr<Endpoint> endpoint;
  std::array<net::OwnedFd, 2> peer;
};

// As a peer writes it.
void write_sealed(FrameHeader header, std::byte* target) {
  header.magic = seal_of(header);
  write_header(header, target);
}

class BarePeer : public testing::TestWithParam<EngineKind> {
 protected:
  void SetUp() override {
    if (GetParam() == EngineKind::kUring && !probe().available.is_ok())
      GTEST_SKIP() << probe().available.message();
  }
  static Bare make() {
    Bare bare;
    std::vector<net::OwnedFd> ours(2);
    for (std::size_t lane = 0; lane < 2; ++lane) {
      int pair[2] = {-1, -1};
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
      ours[lane] = net::OwnedFd(pair[0]);
      bare.peer[lane] = net::OwnedFd(pair[1]);
    }
    Options options;
    options.engine = GetParam();
    Result<std::unique_ptr<Endpoint>> made = make_endpoint(std::move(ours), options);
    EXPECT_TRUE(made.is_ok()) << made.status().to_string();
    bare.endpoint = std::move(*made);
    return bare;
  }
  // Polls both planes until the endpoint fails.
  static Status until_failure(Endpoint& endpoint, MessageSink& sink) {
    const Deadline deadline = Deadline::after(kEndpointLimit);
    while (endpoint.status().is_ok() && !deadline.passed()) {
      (void)endpoint.poll(sink, 100).status();
      (void)endpoint.bulk().move_payload().status();
      (void)endpoint.wait(Interest::kBoth, Deadline::after(std::chrono::milliseconds(50)));
    }
    return endpoint.status();
  }
  static void write(const net::OwnedFd& socket, std::span<const std::byte> bytes) {
    EXPECT_TRUE(net::write_all(socket.get(), bytes, Deadline::after(kEndpointLimit)).is_ok());
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, BarePeer,
                         testing::Values(EngineKind::kAuto, EngineKind::kUring, EngineKind::kPoll));

TEST_P(BarePeer, FrameInSinglesArrivesWhole) {
  Bare bare = make();
  Counter sink;
  std::array<std::byte, kFrameHeaderBytes + 40> frame{};
  write_sealed({.opcode = 7, .request_id = 9, .payload_length = 40}, frame.data());
  for (const std::byte& byte : frame) {
    EXPECT_EQ(sink.count, 0);
    write(bare.peer[0], std::span(&byte, 1));
    (void)bare.endpoint->wait(Interest::kMessages, Deadline::after(std::chrono::milliseconds(1)));
    EXPECT_TRUE(bare.endpoint->poll(sink, 10).is_ok());
  }
  const Deadline deadline = Deadline::after(kEndpointLimit);
  while (sink.count == 0 && !deadline.passed()) EXPECT_TRUE(bare.endpoint->poll(sink, 10).is_ok());
  EXPECT_EQ(sink.last.request_id, 9u);
  EXPECT_EQ(sink.bytes, 40u);
}

TEST_P(BarePeer, GarbageIsNamedAfterWhatCameBefore) {
  for (const FrameHeader& bad :
       {FrameHeader{.opcode = 8}, FrameHeader{.version = 99}, FrameHeader{.payload_length = kMessageBytesMax},
        FrameHeader{.payload_length = ~0ull}}) {
    Bare bare = make();
    Counter sink;
    std::array<std::byte, 2 * kFrameHeaderBytes> frames{};
    write_sealed({.opcode = 7}, frames.data());
    if (bad.opcode == 8)
      write_header(bad, frames.data() + kFrameHeaderBytes);  // its seal is missing
    else
      write_sealed(bad, frames.data() + kFrameHeaderBytes);
    write(bare.peer[0], frames);
    EXPECT_EQ(until_failure(*bare.endpoint, sink).code(), Code::kProtocol);
    EXPECT_EQ(sink.count, 1);
  }
}

TEST_P(BarePeer, GarbageOnTheBulkLaneEndsTransfers) {
  Bare bare = make();
  Counter sink;
  std::vector<std::byte> target(100);
  BulkCompletion done;
  ASSERT_TRUE(bare.endpoint->bulk().receive(1, target, done).is_ok());
  ChunkHeader bad{.tag = 1, .bytes = kChunkBytesMax + 1};
  bad.seal = seal_of(bad);
  write(bare.peer[1], std::as_bytes(std::span(&bad, 1)));
  EXPECT_EQ(until_failure(*bare.endpoint, sink).code(), Code::kProtocol);
  ASSERT_TRUE(done.done());
  EXPECT_EQ(done.status().code(), Code::kProtocol);
}

// Also for whoever polls messages only, and learns of the message lane's end before the chunk.
TEST_P(BarePeer, GarbageOnTheBulkLaneIsTheReasonAfterTheLastMessage) {
  Bare bare = make();
  Counter sink;
  ChunkHeader bad{.tag = 1, .bytes = 1};
  bad.seal = ~seal_of(bad);
  write(bare.peer[1], std::as_bytes(std::span(&bad, 1)));
  ASSERT_EQ(::shutdown(bare.peer[0].get(), SHUT_WR), 0);
  const Deadline deadline = Deadline::after(kEndpointLimit);
  while (bare.endpoint->status().is_ok() && !deadline.passed()) {
    (void)bare.endpoint->poll(sink, 100).status();
    (void)bare.endpoint->wait(Interest::kMessages, Deadline::after(std::chrono::milliseconds(50)));
  }
  EXPECT_EQ(bare.endpoint->status().code(), Code::kProtocol) << bare.endpoint->status().to_string();
}

// One thread moves payload, another sends messages: both name the same reason, also in the moment between the
// lane's end and the endpoint's.
TEST_P(BarePeer, GarbageOnTheBulkLaneIsTheReasonForWhoSendsMessages) {
  for (int round = 0; round < 300; ++round) {
    Bare bare = make();
    ChunkHeader bad{.tag = 1, .bytes = 1};
    bad.seal = ~seal_of(bad);
    Status told;
    std::atomic<bool> sending{false};
    std::thread sender([&] {
      const Deadline deadline = Deadline::after(kEndpointLimit);
      while (told.is_ok() && !deadline.passed()) {
        Result<Slot> slot = bare.endpoint->reserve(kFrameHeaderBytes);
        if (slot)
          bare.endpoint->abandon(*slot);
        else
          told = slot.status();
        sending.store(true, std::memory_order_release);
      }
    });
    while (!sending.load(std::memory_order_acquire)) std::this_thread::yield();
    write(bare.peer[1], std::as_bytes(std::span(&bad, 1)));
    while (bare.endpoint->bulk().move_payload().is_ok()) std::this_thread::yield();
    sender.join();
    ASSERT_EQ(told.code(), Code::kProtocol) << told.to_string() << ", round " << round;
  }
}

TEST_P(BarePeer, OneLaneClosedAloneIsALoss) {
  for (const std::size_t lane : {0u, 1u}) {
    Bare bare = make();
    Counter sink;
    bare.peer[lane].reset();
    EXPECT_EQ(until_failure(*bare.endpoint, sink).code(), Code::kPeerLost) << lane;
  }
}

TEST(TcpTransport, ReachesEveryKindOfAddressAndRefusesOddLanes) {
  for (const char* text : {"127.0.0.1:0", "[::1]:0", "unix:@hip-remote-tcp-test"}) {
    Result<net::Listener> listener = net::Listener::open(net::Address::parse(text).value());
    ASSERT_TRUE(listener.is_ok()) << listener.status().to_string();
    Result<test::EndpointPair> pair = test::connect_pair(transport(), *listener);
    ASSERT_TRUE(pair.is_ok()) << text << " " << pair.status().to_string();
  }
  const net::Token token = net::Token::random().value();
  const auto acceptor = transport().acceptor(token);
  const auto attach = [&](const net::Token& of, net::TransportKind kind, std::uint32_t lane) {
    return acceptor->attach(net::OwnedFd(::socket(AF_INET, SOCK_STREAM, 0)), {of, kind, lane}).code();
  };
  EXPECT_EQ(attach({}, tcp::kKind, 0), Code::kPermission);
  EXPECT_EQ(attach(token, net::TransportKind{1}, 0), Code::kProtocol);
  EXPECT_EQ(attach(token, tcp::kKind, 2), Code::kProtocol);
  EXPECT_EQ(attach(token, tcp::kKind, 1), Code::kOk);
  EXPECT_EQ(attach(token, tcp::kKind, 1), Code::kProtocol);
  EXPECT_EQ(acceptor->finish().value(), nullptr);
}

// What whoever stages for a device goes by; both ends say the same.
TEST(TcpTransport, SaysHowManyLanesCarryAndWhatTheyStream) {
  for (const unsigned lanes : {1u, 3u}) {
    Options options;
    options.payload_lanes = lanes;
    const std::shared_ptr<const net::Transport> over_lanes = make_transport(options);
    Result<net::Listener> listener = test::listen_tcp();
    ASSERT_TRUE(listener.is_ok()) << listener.status().to_string();
    Result<test::EndpointPair> pair = test::connect_pair(*over_lanes, *listener);
    ASSERT_TRUE(pair.is_ok()) << pair.status().to_string();
    for (const auto& end : {std::ref(pair->client), std::ref(pair->server)}) {
      const BulkPlane& bulk = end.get()->bulk();
      EXPECT_EQ(bulk.lanes(), lanes);
      EXPECT_EQ(bulk.streams(kStreamedStripeMax), lanes > 1);
      EXPECT_FALSE(bulk.streams(kStreamedStripeMax + 1));
    }
  }
}

}  // namespace
}  // namespace tf::tcp
