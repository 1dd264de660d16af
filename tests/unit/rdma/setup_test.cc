// SPDX-License-Identifier: Apache-2.0
// Ends that never become an endpoint: each attempt is over in time, says why, and leaves nothing behind. What
// is waited for is given in: little, or more than any test takes.
#include <string>
#include <thread>

#include "rdma/handshake.h"
#include "rdma/transport.h"
#include "tests/unit/rdma/endpoints_fixture.h"

namespace tf::rdma {
namespace {

constexpr std::chrono::milliseconds kShort{30};
constexpr std::chrono::milliseconds kSetupEndless{3'600'000};
constexpr std::chrono::seconds kStuck{60};  // a test that takes longer waits for the wrong thing

class SetupTest : public EndpointsTest {
 protected:
  void SetUp() override {
    Result<net::Listener> listener = test::listen_tcp();
    Result<net::Token> token = net::Token::random();
    ASSERT_TRUE(listener.is_ok() && token.is_ok());
    listener_.emplace(std::move(*listener));
    token_ = *token;
  }

  // What the worker's end says of the one lane that comes.
  Status serve(const SetupPatience& patience) {
    const Options options{.device = {.name = "fake1"}, .retries = {}, .setup = patience, .loss = {}};
    const auto transport = make_transport(*fabric_.verbs(), options);
    const Deadline stuck = Deadline::after(kStuck);
    TF_RETURN_IF_ERROR(net::wait_readable(listener_->fd(), stuck));
    Result<net::OwnedFd> socket = listener_->accept();
    if (!socket) return socket.status();
    Result<net::Attach> attach = net::read_attach(socket->get(), stuck);
    if (!attach) return attach.status();
    return transport->acceptor(token_)->attach(std::move(*socket), *attach);
  }
  Status dial(const SetupPatience& patience, Deadline deadline) {
    const Options options{.device = {.name = "fake0"}, .retries = {}, .setup = patience, .loss = {}};
    return make_transport(*fabric_.verbs(), options)
        ->connect(listener_->address(), token_, deadline)
        .status();
  }
  // A client that is none: attached, and then it does what it likes.
  net::OwnedFd attach() {
    Result<net::OwnedFd> socket =
        net::dial_lane(listener_->address(), {token_, rdma::kKind, 0}, Deadline::after(kStuck));
    EXPECT_TRUE(socket.is_ok()) << socket.status().to_string();
    return socket ? std::move(*socket) : net::OwnedFd();
  }
  static Hello plausible() {
    Hello hello;
    hello.mtu = IBV_MTU_1024;
    hello.global = 1;
    hello.reads_asked = hello.reads_answered = 4;
    hello.messages.ring_bytes = kMessageRingBytes;
    hello.bulk.ring_bytes = kBulkRingBytes;
    return hello;
  }
  static void expect(const Status& status, Code code, const std::string& words) {
    EXPECT_EQ(status.code(), code) << status.to_string();
    EXPECT_NE(status.message().find(words), std::string::npos) << status.to_string();
  }

  std::optional<net::Listener> listener_;
  net::Token token_;
};

// --- The probe --------------------------------------------------------------------------------------------

TEST_F(SetupTest, ALinkThatIsCutIsFoundWhileConnecting) {
  fabric_.cut_link("fake0", "fake1");
  Status at_worker;
  std::thread worker([&] { at_worker = serve({.hello = kSetupEndless, .probe = kSetupEndless}); });
  const Status at_client = dial({.hello = kSetupEndless, .probe = kSetupEndless}, Deadline::after(kStuck));
  worker.join();
  expect(at_client, Code::kPeerLost, "the peer does not answer");
  expect(at_client, Code::kPeerLost, "; from fake0, port 1, GID 2 ::ffff:10.9.0.1 (RoCE v2)");
  EXPECT_EQ(at_worker.code(), Code::kPeerLost) << "the client's socket has closed: " << at_worker.to_string();
}

// A queue pair may be told to try for longer than anybody waits for a connection.
TEST_F(SetupTest, TheProbeHasItsOwnLimit) {
  fabric_.cut_link("fake0", "fake1");
  fabric_.set_retry_time(kSetupEndless);
  std::thread worker([&] { (void)serve({.hello = kSetupEndless, .probe = kSetupEndless}); });
  const Deadline deadline = Deadline::after(kStuck);
  const Status at_client = dial({.hello = kSetupEndless, .probe = kShort}, deadline);
  EXPECT_FALSE(deadline.passed());
  worker.join();
  expect(at_client, Code::kTimeout, "did not answer in time; from fake0, port 1");
}

TEST_F(SetupTest, TheProbeEndsAtTheCallersDeadline) {
  fabric_.cut_link("fake0", "fake1");
  fabric_.set_retry_time(kSetupEndless);
  std::thread worker([&] { (void)serve({.hello = kSetupEndless, .probe = kSetupEndless}); });
  const Deadline stuck = Deadline::after(kStuck);
  const Status at_client = dial({.hello = kSetupEndless, .probe = kStuck}, Deadline::after(10 * kShort));
  EXPECT_FALSE(stuck.passed());
  worker.join();
  EXPECT_EQ(at_client.code(), Code::kTimeout) << at_client.to_string();
}

// --- Silence ----------------------------------------------------------------------------------------------

TEST_F(SetupTest, AClientThatAttachesAndSaysNothingIsLetGo) {
  Status at_worker;
  std::thread worker([&] { at_worker = serve({.hello = kShort, .probe = kSetupEndless}); });
  const net::OwnedFd socket = attach();
  // It is told why, and its socket closes.
  const Deadline stuck = Deadline::after(kStuck);
  const Result<Hello> answer = receive_hello(socket.get(), stuck);
  expect(answer.status(), Code::kTimeout, "the worker refused");
  EXPECT_EQ(receive_hello(socket.get(), stuck).code(), Code::kPeerLost);
  worker.join();
  EXPECT_EQ(at_worker.code(), Code::kTimeout) << at_worker.to_string();
}

TEST_F(SetupTest, AClientThatSaysHalfAHelloIsLetGo) {
  Status at_worker;
  std::thread worker([&] { at_worker = serve({.hello = kShort, .probe = kSetupEndless}); });
  const net::OwnedFd socket = attach();
  const Deadline stuck = Deadline::after(kStuck);
  const Hello hello = plausible();
  EXPECT_TRUE(net::write_all(socket.get(), std::as_bytes(std::span(&hello, 1)).first(200), stuck).is_ok());
  EXPECT_EQ(receive_hello(socket.get(), stuck).code(), Code::kTimeout);
  worker.join();
  EXPECT_EQ(at_worker.code(), Code::kTimeout) << at_worker.to_string();
}

// By then the worker has queue pairs and memory for it.
TEST_F(SetupTest, AClientThatIsNeverReadyIsLetGo) {
  Status at_worker;
  std::thread worker([&] { at_worker = serve({.hello = 10 * kShort, .probe = kSetupEndless}); });
  const net::OwnedFd socket = attach();
  const Deadline stuck = Deadline::after(kStuck);
  EXPECT_TRUE(send_hello(socket.get(), plausible(), stuck).is_ok());
  Result<Hello> answer = receive_hello(socket.get(), stuck);  // the worker's own, if it was quick enough
  if (answer) answer = receive_hello(socket.get(), stuck);
  expect(answer.status(), Code::kTimeout, "the worker refused");
  worker.join();
  EXPECT_EQ(at_worker.code(), Code::kTimeout) << at_worker.to_string();
  EXPECT_EQ(fabric_.live_objects(), 0u);
}

// Nobody accepts, or nobody answers: to the client it is the same.
TEST_F(SetupTest, AWorkerThatNeverSaysHelloEndsTheAttemptAtTheCallersDeadline) {
  const Deadline stuck = Deadline::after(kStuck);
  const Status status = dial({.hello = kSetupEndless, .probe = kSetupEndless}, Deadline::after(kShort));
  EXPECT_EQ(status.code(), Code::kTimeout) << status.to_string();
  EXPECT_FALSE(stuck.passed());
  EXPECT_EQ(fabric_.live_objects(), 0u);
}

TEST_F(SetupTest, AWorkerThatGoesAwayEndsTheAttemptAtOnce) {
  Status at_client;
  std::thread client(
      [&] { at_client = dial({.hello = kSetupEndless, .probe = kSetupEndless}, Deadline::after(kStuck)); });
  const Deadline stuck = Deadline::after(kStuck);
  EXPECT_TRUE(net::wait_readable(listener_->fd(), stuck).is_ok());
  {
    Result<net::OwnedFd> socket = listener_->accept();
    ASSERT_TRUE(socket.is_ok());
    EXPECT_TRUE(net::read_attach(socket->get(), stuck).is_ok());
    EXPECT_TRUE(receive_hello(socket->get(), stuck).is_ok());
  }
  client.join();
  EXPECT_EQ(at_client.code(), Code::kPeerLost) << at_client.to_string();
  EXPECT_FALSE(stuck.passed());
}

// --- Defaults and the environment -------------------------------------------------------------------------

// The worker must not go before a client has given its probe up.
TEST(SetupPatience, TheProbeIsShorterThanTheWorkersWait) {
  const SetupPatience patience;
  EXPECT_LT(patience.probe, patience.hello);
  EXPECT_GT(patience.probe, std::chrono::seconds(0));
}

}  // namespace
}  // namespace tf::rdma
