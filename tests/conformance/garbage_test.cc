// SPDX-License-Identifier: Apache-2.0
// A hostile client: it attaches lanes correctly and then writes whatever it likes. The server's side must end
// with a named failure, soon, without harm. For transports that have lanes.
#include <random>
#include <thread>

#include "tests/conformance/fixture.h"
#include "transport/net/attach.h"

namespace tf::conformance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Garbage : public Conformance {
 protected:
  // The server's view: what became of the endpoint whose lanes a hostile client fed. Ok: still waiting for
  // more.
  Status serve(net::Listener& listener, const net::Token& token, Deadline deadline) const {
    Result<std::unique_ptr<Endpoint>> endpoint =
        test::accept_endpoint(listener, GetParam().backend->transport(), token, deadline);
    if (!endpoint) return endpoint.status();
    test::Peer peer(std::move(*endpoint));
    std::vector<std::byte> memory(1000);
    BulkCompletion received;
    Status status = peer.bulk().receive(1, memory, received);
    while (status.is_ok() && !deadline.passed()) {
      status = peer.drive(deadline);
      while (peer.inbox() > 0) (void)peer.receive();
    }
    peer.close();
    EXPECT_TRUE(received.done());
    return status;
  }

  using Feed = std::function<void(int socket, std::uint32_t lane)>;

  // Opens lanes 0, 1, ... with a correct attach frame each, and feeds each, until the server's side has
  // ended.
  Status attack(const Feed& feed) const {
    const Backend& backend = *GetParam().backend;
    Result<net::Listener> listener = backend.listen();
    Result<net::Token> token = net::Token::random();
    EXPECT_TRUE(listener.is_ok() && token.is_ok());
    const Deadline deadline = Deadline::after(seconds(2));
    Status verdict;
    std::atomic<bool> ended{false};
    std::thread serving([&] {
      verdict = serve(*listener, *token, deadline);
      ended.store(true, std::memory_order_release);  // pairs with the load below
    });
    std::vector<net::OwnedFd> lanes;
    for (std::uint32_t lane = 0; lane < kLanes && !ended.load(std::memory_order_acquire); ++lane) {
      Result<net::OwnedFd> socket =
          net::dial_lane(listener->address(), {.token = *token, .kind = kind(), .lane = lane}, deadline);
      if (!socket) break;
      feed(socket->get(), lane);
      lanes.push_back(std::move(*socket));
      std::this_thread::sleep_for(milliseconds(5));
    }
    const Deadline patience = Deadline::after(milliseconds(300));
    while (!ended.load(std::memory_order_acquire) && !patience.passed())
      std::this_thread::sleep_for(milliseconds(2));
    lanes.clear();  // whoever still waits for more sees the loss
    serving.join();
    return verdict;
  }

  net::TransportKind kind() const { return GetParam().backend->transport().kind(); }
  net::TransportKind other_kind() const { return net::TransportKind{static_cast<std::uint32_t>(kind()) + 1}; }

  static constexpr std::uint32_t kLanes = 3;
};
INSTANTIATE_TEST_SUITE_P(All, Garbage, testing::ValuesIn(with_lanes()), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Garbage);

bool named(const Status& status) {
  const Code code = status.code();
  return code == Code::kProtocol || code == Code::kPeerLost || code == Code::kInvalidArgument ||
         code == Code::kPermission || code == Code::kTimeout;
}

TEST_P(Garbage, RandomBytesEndTheEndpoint) {
  std::minstd_rand random(11);
  for (int round = 0; round < 5; ++round) {
    const Status verdict = attack([&](int socket, std::uint32_t) {
      std::vector<std::byte> bytes(1 + random() % 4000);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      (void)net::write_all(socket, bytes, Deadline::after(milliseconds(200)));
    });
    EXPECT_TRUE(named(verdict)) << verdict.to_string();
    EXPECT_FALSE(verdict.is_ok());
  }
}

TEST_P(Garbage, PlausibleHeadersWithWrongLengthsEndTheEndpoint) {
  const std::vector<FrameHeader> headers = {{.opcode = 1, .payload_length = UINT64_MAX},
                                            {.opcode = 1, .payload_length = kMessageBytesMax},
                                            {.magic = 0, .opcode = 1},
                                            {.version = 77, .opcode = 1},
                                            {.opcode = 1, .flags = 0xfff0}};
  for (const FrameHeader& header : headers) {
    const Status verdict = attack([&](int socket, std::uint32_t) {
      std::vector<std::byte> bytes(200);
      write_header(header, bytes.data());
      (void)net::write_all(socket, bytes, Deadline::after(milliseconds(200)));
    });
    EXPECT_TRUE(named(verdict)) << verdict.to_string();
  }
}

TEST_P(Garbage, SilenceAndEarlyCloseEndTheEndpoint) {
  const Status verdict = attack([](int, std::uint32_t) {});
  EXPECT_TRUE(named(verdict)) << verdict.to_string();
}

// A lane that comes twice, and one that does not exist.
TEST_P(Garbage, StrangeLanesAreRefused) {
  const net::Transport& transport = GetParam().backend->transport();
  Result<net::Listener> listener = GetParam().backend->listen();
  Result<net::Token> token = net::Token::random();
  ASSERT_TRUE(listener.is_ok() && token.is_ok());
  const std::unique_ptr<net::Acceptor> acceptor = transport.acceptor(*token);
  const auto attach = [&](std::uint32_t lane, net::TransportKind as) {
    Result<net::OwnedFd> client = net::dial(listener->address(), Deadline::after(seconds(1)));
    EXPECT_TRUE(net::wait_readable(listener->fd(), Deadline::after(seconds(1))).is_ok());
    Result<net::OwnedFd> server = listener->accept();
    EXPECT_TRUE(server.is_ok());
    return acceptor->attach(std::move(*server), {.token = *token, .kind = as, .lane = lane});
  };
  EXPECT_FALSE(attach(63, kind()).is_ok());
  EXPECT_FALSE(attach(0, other_kind()).is_ok());
  Status first = attach(0, kind());
  // The first may already fail where attaching speaks to the client, which has left.
  if (first.is_ok()) {
    EXPECT_FALSE(attach(0, kind()).is_ok());
  }
}

}  // namespace
}  // namespace tf::conformance
