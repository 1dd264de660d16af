// SPDX-License-Identifier: Apache-2.0
// A control connection in records, and the handshake and proofs of lanes over real sockets.
#include "transport/net/stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "transport/net/lanes.h"
#include "transport/net/prove.h"
#include "transport/net/records.h"
#include "transport/net/socket.h"
#include "transport/secure/handshake.h"

namespace tf::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Deadline stream_soon() { return Deadline::after(seconds(10)); }

std::pair<OwnedFd, OwnedFd> make_pair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

std::shared_ptr<secure::Session> make_session(std::uint8_t seed) {
  EXPECT_TRUE(secure::load_library().is_ok());
  auto session = std::make_shared<secure::Session>();
  session->level = secure::Level::kAuth;
  session->secret.data()[0] = seed;
  return session;
}

class StreamTest : public testing::Test {
 protected:
  void SetUp() override {
    auto [client, worker] = make_pair();
    const auto session = make_session(1);
    client_ = OwnedStream(std::move(client), Records::make(*session, secure::Side::kClient).value());
    worker_ = OwnedStream(std::move(worker), Records::make(*session, secure::Side::kWorker).value());
  }
  static std::vector<std::byte> text(std::size_t bytes) {
    std::vector<std::byte> made(bytes);
    for (std::size_t index = 0; index < bytes; ++index) made[index] = static_cast<std::byte>(index * 3);
    return made;
  }
  OwnedStream client_;
  OwnedStream worker_;
};

TEST_F(StreamTest, CarriesWhatIsWrittenInPiecesOfAnySize) {
  const std::vector<std::byte> sent = text(200'000);  // some records
  std::thread writer([&] { EXPECT_TRUE(write_all(client_.stream(), sent, stream_soon()).is_ok()); });
  std::vector<std::byte> got(sent.size());
  std::span<std::byte> rest(got);
  for (std::size_t step = 1; !rest.empty(); step = step * 3 + 1) {
    const std::size_t bytes = std::min(step, rest.size());
    ASSERT_TRUE(read_all(worker_.stream(), rest.first(bytes), stream_soon()).is_ok());
    rest = rest.subspan(bytes);
  }
  writer.join();
  EXPECT_EQ(got, sent);
  ASSERT_TRUE(write_all(worker_.stream(), text(5), stream_soon()).is_ok());
  std::array<std::byte, 5> back;
  EXPECT_TRUE(read_all(client_.stream(), back, stream_soon()).is_ok());
}

TEST_F(StreamTest, NothingIsReadableOnTheWay) {
  constexpr std::string_view kWords = "the name of a program";
  ASSERT_TRUE(write_all(client_.stream(), std::as_bytes(std::span(kWords)), stream_soon()).is_ok());
  std::array<char, 200> raw{};
  ASSERT_GT(::recv(worker_.get(), raw.data(), raw.size(), 0), 0);
  EXPECT_EQ(std::string_view(raw.data(), raw.size()).find(kWords.substr(0, 8)), std::string_view::npos);
}

TEST_F(StreamTest, AChangedByteEndsIt) {
  for (std::size_t at = 0; at < 8 + 4 + 16; ++at) {
    SetUp();
    ASSERT_TRUE(write_all(client_.stream(), text(4), stream_soon()).is_ok());
    std::array<std::byte, 8 + 4 + 16> record;
    ASSERT_TRUE(read_all(worker_.get(), record, stream_soon()).is_ok());
    record[at] ^= std::byte{1};
    auto [client, worker] = make_pair();
    const OwnedStream spoiled(std::move(worker),
                              Records::make(*make_session(1), secure::Side::kWorker).value());
    ASSERT_TRUE(write_all(client.get(), record, stream_soon()).is_ok());
    std::array<std::byte, 4> plain;
    EXPECT_EQ(read_all(spoiled.stream(), plain, stream_soon()).code(), Code::kProtocol) << at;
  }
}

TEST_F(StreamTest, APeerThatHangsUpIsLost) {
  client_ = OwnedStream();
  std::array<std::byte, 1> byte;
  EXPECT_EQ(read_all(worker_.stream(), byte, stream_soon()).code(), Code::kPeerLost);
}

TEST_F(StreamTest, HalfARecordHasADeadline) {
  std::array<std::byte, 8> header{};
  const std::uint32_t lengths[2] = {100, ~100u};
  std::memcpy(header.data(), lengths, sizeof lengths);
  ASSERT_TRUE(write_all(client_.get(), header, stream_soon()).is_ok());
  std::array<std::byte, 1> byte;
  EXPECT_EQ(read_all(worker_.stream(), byte, Deadline::after(milliseconds(20))).code(), Code::kTimeout);
}

// --- Lanes ------------------------------------------------------------------------------------------------

class LaneTest : public testing::Test {
 protected:
  static constexpr TransportKind kKind{5};
  void SetUp() override {
    Result<Listener> listener = Listener::open(Address::tcp("127.0.0.1", 0));
    ASSERT_TRUE(listener.is_ok());
    listener_ = std::make_unique<Listener>(std::move(*listener));
  }
  // What the two ends say of a lane.
  std::pair<Status, Status> meet(const Lanes& clients, const Lanes& workers) {
    Status worker(Code::kInternal);
    std::thread accepting([&] {
      EXPECT_TRUE(wait_readable(listener_->fd(), stream_soon()).is_ok());
      Result<OwnedFd> socket = listener_->accept();
      ASSERT_TRUE(socket.is_ok());
      Result<Attach> attach = read_attach(socket->get(), stream_soon());
      ASSERT_TRUE(attach.is_ok());
      worker = accept_proof(socket->get(), workers, *attach, stream_soon());
      workers_proof_ = attach->proof;
    });
    Result<DialledLane> client = dial_lane(listener_->address(), clients, kKind, 1, stream_soon());
    accepting.join();
    if (client) clients_proof_ = client->proof;
    return {client.status(), worker};
  }
  std::unique_ptr<Listener> listener_;
  const Token token_ = Token::random().value();
  secure::Proof clients_proof_{};
  secure::Proof workers_proof_{};
};

TEST_F(LaneTest, IsProvenToBothEnds) {
  const auto [client, worker] = meet({token_, make_session(1)}, {token_, make_session(1)});
  EXPECT_TRUE(client.is_ok()) << client.to_string();
  EXPECT_TRUE(worker.is_ok()) << worker.to_string();
}

// The worker answers nobody before all have asked: as many round trips as one lane takes.
TEST_F(LaneTest, AllAreDialledAtOnce) {
  constexpr std::uint32_t kLanes = 8;
  Lanes lanes{token_, make_session(1)};
  lanes.layout = kLanes;
  std::vector<secure::Proof> workers(kLanes);
  std::thread accepting([&] {
    std::vector<OwnedFd> sockets;
    std::vector<Attach> attached;
    while (sockets.size() < kLanes) {
      ASSERT_TRUE(wait_readable(listener_->fd(), stream_soon()).is_ok());
      Result<OwnedFd> socket = listener_->accept();
      if (socket.code() == Code::kWouldBlock) continue;
      ASSERT_TRUE(socket.is_ok());
      Result<Attach> attach = read_attach(socket->get(), stream_soon());
      ASSERT_TRUE(attach.is_ok());
      sockets.push_back(std::move(*socket));
      attached.push_back(*attach);
    }
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      EXPECT_TRUE(accept_proof(sockets[lane].get(), lanes, attached[lane], stream_soon()).is_ok());
      workers[attached[lane].lane] = attached[lane].proof;
    }
  });
  Result<std::vector<OwnedFd>> fresh = dial_all(listener_->address(), kLanes, stream_soon());
  ASSERT_TRUE(fresh.is_ok()) << fresh.status().to_string();
  Result<std::vector<DialledLane>> dialled = attach_lanes(std::move(*fresh), lanes, kKind, stream_soon());
  accepting.join();
  ASSERT_TRUE(dialled.is_ok()) << dialled.status().to_string();
  ASSERT_EQ(dialled->size(), kLanes);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane)
    EXPECT_EQ((*dialled)[lane].proof, workers[lane]) << "lane " << lane;
}

TEST_F(LaneTest, ItsKeysAreItsOwnEachTimeItIsDialled) {
  const auto key_of = [](const secure::Proof& proof) {
    return secure::lane_secret(*make_session(1), static_cast<std::uint32_t>(kKind), 1, secure::Side::kClient,
                               proof)
        .value();
  };
  std::vector<secure::Secret32> keys;
  for (int turn = 0; turn < 3; ++turn) {
    const auto [client, worker] = meet({token_, make_session(1)}, {token_, make_session(1)});
    ASSERT_TRUE(client.is_ok() && worker.is_ok());
    EXPECT_EQ(clients_proof_, workers_proof_);
    const secure::Secret32 key = key_of(clients_proof_);
    for (const secure::Secret32& other : keys) EXPECT_FALSE(key == other);
    keys.push_back(key);
  }
}

TEST_F(LaneTest, WithoutKeysThereIsNothingToProve) {
  const auto [client, worker] = meet(token_, token_);
  EXPECT_TRUE(client.is_ok() && worker.is_ok());
}

TEST_F(LaneTest, OfAnotherSessionIsRefusedByWhoeverHearsFirst) {
  const auto [client, worker] = meet({token_, make_session(1)}, {token_, make_session(2)});
  EXPECT_EQ(client.code(), Code::kPermission);
  EXPECT_FALSE(worker.is_ok());
}

TEST_F(LaneTest, WithATokenAloneIsRefused) {
  EXPECT_EQ(meet(token_, {token_, make_session(1)}).second.code(), Code::kPermission);
  const auto [client, worker] = meet({token_, make_session(1)}, token_);
  EXPECT_EQ(worker.code(), Code::kPermission);
  EXPECT_EQ(client.code(), Code::kPermission);
}

// --- The handshake ----------------------------------------------------------------------------------------

std::unique_ptr<secure::Handshake> make_client() {
  const auto own = secure::Identity::make(secure::generate_key().value(), secure::Side::kClient);
  EXPECT_TRUE(own.is_ok());
  return secure::Handshake::client(own.value(), secure::Level::kEncrypt,
                                   [](const secure::PublicKey&) { return Status::ok(); })
      .value();
}

TEST(RunHandshake, EndsWithAPeerThatIsSilentOrGoneOrSomethingElse) {
  for (const char* said : {"", "gone", "HTTP/1.1 400 Bad Request\r\n\r\n"}) {
    auto [near, far] = make_pair();
    const auto handshake = make_client();
    ASSERT_TRUE(handshake->take({}).is_ok());
    const bool is_gone = std::string_view(said) == "gone";
    if (is_gone) far.reset();
    if (!is_gone) {
      EXPECT_TRUE(
          write_all(far.get(), std::as_bytes(std::span(said, std::strlen(said))), stream_soon()).is_ok());
    }
    const Status status = run_handshake(near.get(), *handshake, Deadline::after(milliseconds(50)));
    EXPECT_FALSE(status.is_ok()) << said;
    EXPECT_FALSE(handshake->done());
  }
}

TEST(RunHandshake, SeesWhetherThePeerSpeaksTls) {
  for (const auto& [first, is_tls] : {std::pair('\x16', true), {'\x15', true}, {'R', false}}) {
    auto [near, far] = make_pair();
    ASSERT_TRUE(write_all(far.get(), std::as_bytes(std::span(&first, 1)), stream_soon()).is_ok());
    Result<bool> answer = answers_in_tls(near.get(), stream_soon());
    ASSERT_TRUE(answer.is_ok());
    EXPECT_EQ(*answer, is_tls);
    std::array<char, 1> still;
    EXPECT_TRUE(read_all(near.get(), std::as_writable_bytes(std::span(still)), stream_soon()).is_ok());
    EXPECT_EQ(still[0], first) << "it was only looked at";
  }
}

}  // namespace
}  // namespace tf::net
