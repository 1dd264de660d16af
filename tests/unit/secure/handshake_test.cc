// SPDX-License-Identifier: Apache-2.0
// The handshake: who comes in, who does not, and what a man in the middle can do about it.
#include "transport/secure/handshake.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tf::secure {
namespace {

using Bytes = std::vector<std::byte>;
constexpr int kTurnsMax = 16;  // of a handshake; it needs three

std::shared_ptr<const Identity> identity(const SecretKey& key, Side side) {
  return Identity::make(key, side).value();
}

// Client and worker, and what they said.
struct Pair {
  std::unique_ptr<Handshake> client;
  std::unique_ptr<Handshake> worker;
  Status client_status;
  Status worker_status;
  Bytes from_client;
  Bytes from_worker;

  bool both_done() const {
    return client->done() && worker->done() && client->to_send().empty() && worker->to_send().empty();
  }
};

// Sees each part, in the order in which it was sent, and may change it.
using Middle = std::function<void(Side sender, Bytes& part)>;

void run(Pair& pair, const Middle& middle = nullptr) {
  pair.client_status = pair.client->take({});
  for (int turn = 0; turn < kTurnsMax; ++turn) {
    Bytes part = std::exchange(pair.client->to_send(), {});
    if (middle) middle(Side::kClient, part);
    pair.from_client.insert(pair.from_client.end(), part.begin(), part.end());
    if (!part.empty() && pair.worker_status.is_ok()) pair.worker_status = pair.worker->take(part);
    part = std::exchange(pair.worker->to_send(), {});
    if (middle) middle(Side::kWorker, part);
    pair.from_worker.insert(pair.from_worker.end(), part.begin(), part.end());
    if (!part.empty() && pair.client_status.is_ok()) pair.client_status = pair.client->take(part);
  }
}

class HandshakeTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<std::shared_ptr<const Identity>> made = Identity::make(client_key_, Side::kClient);
    ASSERT_TRUE(made.is_ok()) << made.status().to_string();
    client_ = made.value();
    worker_ = identity(worker_key_, Side::kWorker);
  }
  std::unique_ptr<Handshake> worker_end() {
    return Handshake::worker(worker_,
                             [this](const PublicKey& key, Level wanted) -> Result<Level> {
                               asked_ = key;
                               if (key == client_->key()) return wanted;
                               return Status(Code::kPermission, "nobody knows the key");
                             })
        .value();
  }
  std::unique_ptr<Handshake> client_end(Level wanted = Level::kEncrypt) {
    return Handshake::client(client_, wanted,
                             [this](const PublicKey& key) {
                               shown_ = key;
                               return key == worker_->key()
                                          ? Status::ok()
                                          : Status(Code::kPermission, "it is another worker");
                             })
        .value();
  }
  Pair pair(Level wanted = Level::kEncrypt) {
    Pair made;
    made.client = client_end(wanted);
    made.worker = worker_end();
    return made;
  }

  const SecretKey client_key_ = generate_key().value();
  const SecretKey worker_key_ = generate_key().value();
  std::shared_ptr<const Identity> client_;
  std::shared_ptr<const Identity> worker_;
  std::optional<PublicKey> asked_;
  std::optional<PublicKey> shown_;
};

TEST_F(HandshakeTest, BothAreProvenAndShareASecret) {
  for (const Level level : {Level::kEncrypt, Level::kAuth}) {
    Pair both = pair(level);
    run(both);
    ASSERT_TRUE(both.client_status.is_ok()) << both.client_status.to_string();
    ASSERT_TRUE(both.worker_status.is_ok()) << both.worker_status.to_string();
    ASSERT_TRUE(both.both_done());
    EXPECT_EQ(*both.client->peer(), worker_->key());
    EXPECT_EQ(*both.worker->peer(), client_->key());
    EXPECT_TRUE(both.client->session().secret == both.worker->session().secret);
    EXPECT_FALSE(both.client->session().secret == Secret32());
    EXPECT_EQ(both.client->session().level, level);
    EXPECT_EQ(both.worker->session().level, level);
    EXPECT_EQ(both.client->session().cipher, both.worker->session().cipher);
  }
}

TEST_F(HandshakeTest, NoTwoSessionsShareASecret) {
  Pair one = pair();
  Pair other = pair();
  run(one);
  run(other);
  ASSERT_TRUE(one.both_done() && other.both_done());
  EXPECT_FALSE(one.client->session().secret == other.client->session().secret);
}

TEST_F(HandshakeTest, WorksByteByByte) {
  Pair both = pair();
  both.client_status = both.client->take({});
  for (int turn = 0; turn < kTurnsMax; ++turn) {
    for (const std::byte byte : std::exchange(both.client->to_send(), {}))
      ASSERT_TRUE(both.worker->take({&byte, 1}).is_ok());
    for (const std::byte byte : std::exchange(both.worker->to_send(), {}))
      ASSERT_TRUE(both.client->take({&byte, 1}).is_ok());
  }
  EXPECT_TRUE(both.both_done());
}

TEST_F(HandshakeTest, AStrangerHearsWhyNot) {
  const auto known = client_;
  client_ = identity(generate_key().value(), Side::kClient);
  const auto stranger = client_;
  Pair both;
  both.client = client_end();
  client_ = known;
  both.worker = worker_end();
  run(both);
  EXPECT_EQ(both.worker_status.code(), Code::kPermission);
  EXPECT_FALSE(both.worker->done());
  EXPECT_FALSE(both.client->done());
  EXPECT_EQ(both.client_status.code(), Code::kPermission);
  EXPECT_NE(both.client_status.message().find("nobody knows the key"), std::string::npos)
      << both.client_status.message();
  EXPECT_EQ(asked_, stranger->key());
}

// Nothing of the client's key leaves it.
TEST_F(HandshakeTest, AnotherWorkerLearnsNothing) {
  const auto right = worker_;
  worker_ = identity(generate_key().value(), Side::kWorker);
  Pair both;
  both.worker = worker_end();
  worker_ = right;
  both.client = client_end();
  run(both);
  EXPECT_EQ(both.client_status.code(), Code::kPermission);
  EXPECT_EQ(both.client_status.message(), "it is another worker");
  EXPECT_FALSE(both.worker->done());
  EXPECT_EQ(both.worker->peer(), nullptr);
  EXPECT_FALSE(asked_.has_value());
}

// TLS ignores, as RFC 8446 5.1 demands, the version in the header of a record that is not encrypted: those of
// ClientHello and ServerHello. Everything else counts: no flipped byte may go unnoticed by both.
TEST_F(HandshakeTest, EveryFlippedByteIsNoticed) {
  Pair clean = pair();
  run(clean);
  ASSERT_TRUE(clean.both_done());
  const std::size_t lengths[2] = {clean.from_client.size(), clean.from_worker.size()};
  std::vector<std::string> ignored;
  for (const Side sender : {Side::kClient, Side::kWorker}) {
    for (std::size_t at = 0; at < lengths[sender == Side::kClient ? 0 : 1]; ++at) {
      Pair both = pair();
      std::size_t passed = 0;
      run(both, [&](Side from, Bytes& part) {
        if (from != sender) return;
        if (passed <= at && at - passed < part.size()) part[at - passed] ^= std::byte{0x41};
        passed += part.size();
      });
      if (!both.both_done()) continue;
      EXPECT_TRUE(both.client->session().secret == both.worker->session().secret) << at;
      EXPECT_EQ(*both.worker->peer(), client_->key());
      ignored.push_back((sender == Side::kClient ? "client " : "worker ") + std::to_string(at));
    }
  }
  for (const std::string& place : ignored)
    EXPECT_TRUE(place == "client 2" || place == "worker 2") << place << " was flipped, and nobody noticed";
}

TEST_F(HandshakeTest, NoDroppedOrRepeatedByteIsPassedOver) {
  Pair clean = pair();
  run(clean);
  ASSERT_TRUE(clean.both_done());
  for (const Side sender : {Side::kClient, Side::kWorker}) {
    const std::size_t bytes = (sender == Side::kClient ? clean.from_client : clean.from_worker).size();
    for (std::size_t at = 0; at < bytes; ++at) {
      for (const bool repeat : {false, true}) {
        Pair both = pair();
        std::size_t passed = 0;
        run(both, [&](Side from, Bytes& part) {
          if (from != sender) return;
          const std::size_t here = at - passed;
          passed += part.size();
          if (here >= part.size()) return;  // also if it was in an earlier part
          const auto place = part.begin() + static_cast<std::ptrdiff_t>(here);
          if (repeat)
            part.insert(place, *place);
          else
            part.erase(place);
        });
        EXPECT_FALSE(both.both_done())
            << (sender == Side::kClient ? "client " : "worker ") << at << (repeat ? " repeated" : " dropped");
      }
    }
  }
}

TEST_F(HandshakeTest, DroppedAndRepeatedPartsComeToNothing) {
  for (int victim = 0; victim < 3; ++victim) {
    for (const bool repeat : {false, true}) {
      Pair both = pair();
      int part_number = 0;
      run(both, [&](Side, Bytes& part) {
        if (part.empty() || part_number++ != victim) return;
        if (repeat) {
          const Bytes copy = part;
          part.insert(part.end(), copy.begin(), copy.end());
        } else {
          part.clear();
        }
      });
      EXPECT_FALSE(both.both_done()) << victim << repeat;
    }
  }
}

TEST_F(HandshakeTest, AReplayIsNoClient) {
  std::vector<Bytes> heard;
  Pair first = pair();
  run(first, [&](Side from, Bytes& part) {
    if (from == Side::kClient && !part.empty()) heard.push_back(part);
  });
  ASSERT_TRUE(first.both_done());
  asked_.reset();
  const std::unique_ptr<Handshake> worker = worker_end();
  Status status;
  for (const Bytes& part : heard)
    if (status.is_ok()) status = worker->take(part);
  EXPECT_EQ(status.code(), Code::kProtocol);
  EXPECT_FALSE(worker->done());
  EXPECT_FALSE(asked_.has_value());
}

TEST_F(HandshakeTest, GarbageAndHalvesComeToNothing) {
  const std::unique_ptr<Handshake> garbage = worker_end();
  EXPECT_EQ(garbage->take(Bytes(100, std::byte{'G'})).code(), Code::kProtocol);
  EXPECT_EQ(garbage->take({}).code(), Code::kProtocol) << "a failure is for good";
  Pair both = pair();
  ASSERT_TRUE(both.client->take({}).is_ok());
  const Bytes hello = both.client->to_send();
  EXPECT_TRUE(both.worker->take(std::span(hello).first(hello.size() / 2)).is_ok());
  EXPECT_TRUE(both.worker->to_send().empty()) << "nothing is said to half a ClientHello";
  EXPECT_FALSE(both.worker->done());
}

TEST_F(HandshakeTest, FloodsAreLimited) {
  const std::unique_ptr<Handshake> worker = worker_end();
  Bytes record(5 + 16000, std::byte{0});  // a handshake record that promises a very long ClientHello
  record[0] = std::byte{22};
  record[1] = std::byte{3};
  record[2] = std::byte{1};
  record[3] = std::byte{16000 >> 8};
  record[4] = std::byte{16000 & 0xff};
  record[5] = std::byte{1};
  record[6] = std::byte{1};
  Status status;
  std::size_t taken = 0;
  while (status.is_ok() && taken < 10 * kHandshakeBytesMax) {
    status = worker->take(record);
    taken += record.size();
  }
  EXPECT_EQ(status.code(), Code::kProtocol);
  EXPECT_LE(taken, 2 * kHandshakeBytesMax);
}

// What follows the handshake is not TLS's, so whoever sends early is wrong.
TEST_F(HandshakeTest, NobodyMaySpeakBeforeTheVerdict) {
  Pair both = pair();
  run(both, [&](Side from, Bytes& part) {
    if (from == Side::kWorker && both.worker->done() && !part.empty()) part.push_back(std::byte{1});
  });
  EXPECT_EQ(both.client_status.code(), Code::kProtocol);
  EXPECT_FALSE(both.client->done());
}

TEST_F(HandshakeTest, AWorkerCannotServeAsAClientsEnd) {
  Pair both;
  both.client = client_end();
  both.worker = client_end();
  run(both);
  EXPECT_FALSE(both.client->done() || both.worker->done());
}

}  // namespace
}  // namespace tf::secure
