// SPDX-License-Identifier: Apache-2.0
// Opening, closing, failing and dying.
#include <dirent.h>

#include <thread>

#include "tests/conformance/fixture.h"

namespace tf::conformance {
namespace {

using test::Message;
using test::Peer;

class Lifecycle : public Conformance {};
INSTANTIATE_TEST_SUITE_P(All, Lifecycle, testing::ValuesIn(all_cases()), case_name);
class LifecycleHere : public Conformance {};
INSTANTIATE_TEST_SUITE_P(All, LifecycleHere, testing::ValuesIn(in_process_cases()), case_name);
class PeerDeath : public Conformance {};
INSTANTIATE_TEST_SUITE_P(All, PeerDeath, testing::ValuesIn(two_process_cases()), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PeerDeath);

constexpr std::chrono::milliseconds kLossLimit(2000);

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* directory = ::opendir("/proc/self/fd");
  while (directory != nullptr && ::readdir(directory) != nullptr) ++count;
  if (directory != nullptr) ::closedir(directory);
  return count;
}

TEST_P(Lifecycle, SaysWhatItIs) {
  const auto check = [](std::unique_ptr<Endpoint> endpoint) {
    EXPECT_FALSE(endpoint->transport().empty());
    EXPECT_GT(endpoint->capabilities().max_message_bytes, 4096u);
    EXPECT_LE(endpoint->capabilities().max_message_bytes, kMessageBytesMax);
    EXPECT_LE(endpoint->capabilities().inline_payload_bytes + 1024,
              endpoint->capabilities().max_message_bytes);
    EXPECT_OK(endpoint->status());
  };
  run(check, check);
}

TEST_P(LifecycleHere, EitherEndMayGoFirst) {
  for (const bool client_first : {true, false}) {
    test::EndpointPair pair = make_pair();
    ASSERT_TRUE(pair.client && pair.server);
    if (client_first) pair.client.reset();
    pair.server.reset();
    pair.client.reset();
  }
}

TEST_P(LifecycleHere, LeavesNoDescriptors) {
  { test::EndpointPair warm = make_pair(); }
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 10; ++round) {
    test::EndpointPair pair = make_pair();
    ASSERT_TRUE(pair.client && pair.server);
    EXPECT_OK(test::try_publish(*pair.client, 1, 1, {}));
  }
  // A relay between the ends (tests/support/uneven_transport.h) closes its own a moment later.
  const Deadline limit = Deadline::after(std::chrono::seconds(2));
  while (open_descriptors() > before && !limit.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_LE(open_descriptors(), before);
}

TEST_P(Lifecycle, CloseDeliversWhatWasPublished) {
  constexpr std::uint32_t kMessages = 100;
  const std::vector<std::byte> payload = test::pattern(1000, 1);
  const auto sender = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    for (std::uint32_t id = 1; id <= kMessages; ++id) ASSERT_OK(peer.send(0x0101, id, payload));
  };
  const auto receiver = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    for (std::uint32_t id = 1; id <= kMessages; ++id) {
      Result<Message> message = peer.receive();
      ASSERT_OK(message.status());
      ASSERT_EQ(message->header.request_id, id);
      ASSERT_EQ(test::find_mismatch(message->payload, 1), test::kNoMismatch);
    }
    EXPECT_CODE(peer.receive().status(), Code::kPeerLost);
    EXPECT_CODE(peer.endpoint().status(), Code::kPeerLost);
    EXPECT_CODE(peer.endpoint().reserve(64).status(), Code::kPeerLost);
  };
  run(sender, receiver);
  run(receiver, sender);
}

TEST_P(Lifecycle, CloseDeliversBulkThatWasSent) {
  constexpr std::size_t kBytes = 300'000;
  const Gate posted;
  const auto receiver = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    std::vector<std::byte> target(kBytes);
    BulkCompletion done;
    ASSERT_OK(peer.bulk().receive(5, target, done));
    posted.open();
    EXPECT_OK(peer.await(done));
    EXPECT_EQ(test::find_mismatch(target, 9), test::kNoMismatch);
    EXPECT_CODE(peer.until_failure(kLossLimit), Code::kPeerLost);
  };
  const auto sender = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    const std::vector<std::byte> source = test::pattern(kBytes, 9);
    BulkCompletion done;
    ASSERT_TRUE(posted.wait());
    ASSERT_OK(peer.bulk().send(5, source, done));
    EXPECT_OK(peer.await(done));
  };
  run(receiver, sender);
}

TEST_P(Lifecycle, LossEndsPendingTransfers) {
  const auto left_alone = [](std::unique_ptr<Endpoint> endpoint) {
    std::vector<std::byte> target(1 << 20);
    std::vector<std::byte> source(GetParam().backend->more_than_fits);
    BulkCompletion receiving;
    BulkCompletion discarding;
    BulkCompletion sending;
    Peer peer(std::move(endpoint));
    ASSERT_OK(peer.bulk().receive(1, target, receiving));
    ASSERT_OK(peer.bulk().discard(2, 1000, discarding));
    ASSERT_OK(peer.bulk().send(3, source, sending));  // more than fits on the way, and nobody receives it
    ASSERT_OK(peer.send(0x0101, 1));
    EXPECT_CODE(peer.until_failure(kLossLimit), Code::kPeerLost);
    EXPECT_CODE(peer.await(receiving), Code::kPeerLost);
    EXPECT_CODE(peer.await(discarding), Code::kPeerLost);
    EXPECT_CODE(peer.await(sending), Code::kPeerLost);
    BulkCompletion late;
    EXPECT_CODE(peer.bulk().send(4, source, late), Code::kPeerLost);
  };
  const auto leaver = [](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    EXPECT_OK(peer.receive().status());
  };
  run(left_alone, leaver);
}

TEST_P(LifecycleHere, DestructionEndsOwnTransfers) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  std::vector<std::byte> target(1000);
  std::vector<std::byte> source(16 << 20);
  BulkCompletion receiving;
  BulkCompletion sending;
  ASSERT_OK(pair.client->bulk().receive(1, target, receiving));
  ASSERT_OK(pair.client->bulk().send(2, source, sending));
  (void)pair.client->bulk().move_payload();
  pair.client.reset();
  ASSERT_TRUE(receiving.done() && sending.done());
  EXPECT_FALSE(receiving.status().is_ok());
  EXPECT_FALSE(sending.status().is_ok());
}

TEST_P(LifecycleHere, FirstFailureStays) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  std::vector<std::byte> memory(1000);
  BulkCompletion receiving;
  ASSERT_OK(pair.client->bulk().receive(1, memory, receiving));
  pair.client->fail({Code::kInternal, "the first"});
  pair.client->fail({Code::kTimeout, "the second"});
  Peer peer(std::move(pair.client));
  BulkCompletion unused;
  const Status results[] = {peer.endpoint().status(),
                            peer.endpoint().reserve(64).status(),
                            peer.receive().status(),
                            peer.endpoint().wait(Interest::kBoth, Deadline::never()),
                            peer.bulk().move_payload().status(),
                            peer.bulk().send(2, memory, unused),
                            peer.bulk().receive(2, memory, unused),
                            peer.bulk().discard(2, 10, unused),
                            peer.bulk().abort(2, 1),
                            peer.await(receiving)};
  for (std::size_t index = 0; index < std::size(results); ++index) {
    EXPECT_CODE(results[index], Code::kInternal);
    EXPECT_EQ(results[index].message(), "the first") << index;
  }
}

TEST_P(PeerDeath, IsSeenWhileWaiting) {
  run_and_kill(
      [](std::unique_ptr<Endpoint> endpoint, const std::function<void()>& kill_server) {
        Peer peer(std::move(endpoint));
        std::vector<std::byte> target(1 << 20);
        BulkCompletion receiving;
        ASSERT_OK(peer.bulk().receive(1, target, receiving));
        ASSERT_OK(peer.receive().status());  // the server is up
        std::thread killer([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          kill_server();
        });
        const auto start = Deadline::Clock::now();
        EXPECT_CODE(peer.until_failure(kLossLimit), Code::kPeerLost);
        EXPECT_LT(Deadline::Clock::now() - start, kLossLimit);
        EXPECT_CODE(peer.await(receiving), Code::kPeerLost);
        killer.join();
      },
      [](std::unique_ptr<Endpoint> endpoint) {
        Peer peer(std::move(endpoint));
        EXPECT_OK(peer.send(0x0101, 1));
        (void)peer.until_failure(std::chrono::seconds(30));
      });
}

TEST_P(PeerDeath, IsSeenWhileBulkIsUnderWay) {
  run_and_kill(
      [](std::unique_ptr<Endpoint> endpoint, const std::function<void()>& kill_server) {
        Peer peer(std::move(endpoint));
        std::vector<std::byte> target(64 << 20);
        BulkCompletion receiving;
        ASSERT_OK(peer.bulk().receive(1, target, receiving));
        ASSERT_OK(peer.receive().status());
        kill_server();  // it was sending 32 of the 64 MiB, for ever
        EXPECT_CODE(peer.until_failure(kLossLimit), Code::kPeerLost);
        EXPECT_CODE(peer.await(receiving), Code::kPeerLost);
      },
      [](std::unique_ptr<Endpoint> endpoint) {
        Peer peer(std::move(endpoint));
        const std::vector<std::byte> source(32 << 20);
        BulkCompletion sending;
        ASSERT_OK(peer.bulk().send(1, source, sending));
        EXPECT_OK(peer.send(0x0101, 1));
        (void)peer.until_failure(std::chrono::seconds(30));
      });
}

}  // namespace
}  // namespace tf::conformance
