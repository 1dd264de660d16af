// SPDX-License-Identifier: Apache-2.0
// The bulk plane: exact bytes under every way of cutting, ordering and aborting transfers.
#include <deque>
#include <numeric>

#include "tests/conformance/fixture.h"

namespace tf::conformance {
namespace {

using test::Message;
using test::Peer;

class Bulk : public Conformance {};
INSTANTIATE_TEST_SUITE_P(All, Bulk, testing::ValuesIn(all_cases()), case_name);

// What every half ends with: both know that the other is done.
void part(Peer& peer) {
  ASSERT_OK(peer.send(0x0004, 1));
  ASSERT_OK(peer.receive().status());
}

// After a failed assertion: ends the transfers before the memory that they use goes.
class CloseOnFailure {
 public:
  explicit CloseOnFailure(Peer& peer) : peer_(peer) {}
  ~CloseOnFailure() {
    if (testing::Test::HasFatalFailure()) peer_.close();
  }

 private:
  Peer& peer_;
};

// Sends pattern(total, tag) under `tag`, cut into pieces of these sizes, all pending at once.
void send_in_pieces(Peer& peer, std::uint64_t tag, const std::vector<std::size_t>& pieces) {
  const std::vector<std::byte> source =
      test::pattern(std::accumulate(pieces.begin(), pieces.end(), std::size_t{0}), tag);
  std::deque<BulkCompletion> done;
  const CloseOnFailure guard(peer);
  ASSERT_FALSE(peer.is_closed());
  std::size_t at = 0;
  for (const std::size_t piece : pieces) {
    ASSERT_OK(peer.bulk().send(tag, std::span(source).subspan(at, piece), done.emplace_back()));
    at += piece;
  }
  for (const BulkCompletion& completion : done) ASSERT_OK(peer.await(completion));
}

// `for_device`: a device reads next what arrives, or so the transport is told.
void receive_in_pieces(Peer& peer, std::uint64_t tag, const std::vector<std::size_t>& pieces,
                       bool for_device = false) {
  std::vector<std::byte> target(std::accumulate(pieces.begin(), pieces.end(), std::size_t{0}));
  std::deque<BulkCompletion> done;
  const CloseOnFailure guard(peer);
  ASSERT_FALSE(peer.is_closed());
  if (for_device) peer.bulk().expect_device_reads(target);
  std::size_t at = 0;
  for (const std::size_t piece : pieces) {
    ASSERT_OK(peer.bulk().receive(tag, std::span(target).subspan(at, piece), done.emplace_back()));
    at += piece;
  }
  for (const BulkCompletion& completion : done) ASSERT_OK(peer.await(completion));
  if (for_device) peer.bulk().forget(target);
  ASSERT_EQ(test::find_mismatch(target, tag), test::kNoMismatch) << "tag " << tag;
}

constexpr std::size_t kMiB = 1 << 20;

TEST_P(Bulk, EverySizeBothWays) {
  const std::vector<std::size_t> sizes = {
      1,     2,     7,      8,        63,   64,       4095,         4096,     4097,
      65536, 65537, 262145, kMiB - 1, kMiB, kMiB + 1, 3 * kMiB + 5, 17 * kMiB};
  const auto sender = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    for (std::size_t index = 0; index < sizes.size(); ++index)
      send_in_pieces(peer, index + 1, {sizes[index]});
    part(peer);
  };
  const auto receiver = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    for (std::size_t index = 0; index < sizes.size(); ++index)
      receive_in_pieces(peer, index + 1, {sizes[index]});
    part(peer);
  };
  run(sender, receiver);
  run(receiver, sender);
}

TEST_P(Bulk, PiecesNeedNotMatch) {
  const std::vector<std::size_t> whole = {2 * kMiB};
  const std::vector<std::size_t> halves = {kMiB, kMiB};
  const std::vector<std::size_t> odd = {1, 4095, 100'000, kMiB - 3, 2 * kMiB - 1 - 4095 - 100'000 - kMiB + 3};
  std::vector<std::size_t> many(512, 4096);
  const std::vector<std::vector<std::size_t>> cuts = {whole, halves, odd, many};
  const auto tag_of = [](std::size_t from, std::size_t to) { return std::uint64_t{100} * (from + 1) + to; };
  const auto client = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    for (std::size_t from = 0; from < cuts.size(); ++from)
      for (std::size_t to = 0; to < cuts.size(); ++to) send_in_pieces(peer, tag_of(from, to), cuts[from]);
    part(peer);
  };
  const auto server = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    for (std::size_t from = 0; from < cuts.size(); ++from)
      for (std::size_t to = 0; to < cuts.size(); ++to) receive_in_pieces(peer, tag_of(from, to), cuts[to]);
    part(peer);
  };
  run(client, server);
}

TEST_P(Bulk, WhatADeviceReadsNextArrivesWhole) {
  const std::vector<std::size_t> odd = {1, 262'145, 4095, 3 * kMiB + 5, 300'001, 17 * kMiB + 3};
  const auto client = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    for (std::uint64_t tag = 1; tag <= 3; ++tag) send_in_pieces(peer, tag, odd);
    part(peer);
  };
  const auto server = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    for (std::uint64_t tag = 1; tag <= 3; ++tag) receive_in_pieces(peer, tag, odd, true);
    part(peer);
  };
  run(client, server);
}

TEST_P(Bulk, ReceivesMayBePostedInAnyOrder) {
  constexpr std::uint64_t kTags = 200;
  const auto size_of = [](std::uint64_t tag) { return static_cast<std::size_t>(tag * tag * 17 + 1); };
  const auto client = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    std::deque<std::vector<std::byte>> sources;
    std::deque<BulkCompletion> done;
    for (std::uint64_t tag = 1; tag <= kTags; ++tag) {
      sources.push_back(test::pattern(size_of(tag), tag));
      ASSERT_OK(peer.bulk().send(tag, sources.back(), done.emplace_back()));
    }
    for (const BulkCompletion& completion : done) ASSERT_OK(peer.await(completion));
    part(peer);
  };
  const auto server = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    std::deque<std::vector<std::byte>> targets;
    std::deque<BulkCompletion> done;
    for (std::uint64_t tag = kTags; tag >= 1; --tag) {
      targets.emplace_back(size_of(tag));
      ASSERT_OK(peer.bulk().receive(tag, targets.back(), done.emplace_back()));
    }
    for (const BulkCompletion& completion : done) ASSERT_OK(peer.await(completion));
    for (std::uint64_t tag = kTags; tag >= 1; --tag)
      ASSERT_EQ(test::find_mismatch(targets[kTags - tag], tag), test::kNoMismatch);
    part(peer);
  };
  run(client, server);
}

// Payload without a receiver stops neither messages nor the other direction.
TEST_P(Bulk, WaitingPayloadStopsNoMessage) {
  const std::size_t bytes = GetParam().backend->more_than_fits;
  const auto client = [bytes](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    const std::vector<std::byte> source = test::pattern(bytes, 1);
    BulkCompletion done;
    ASSERT_OK(peer.bulk().send(1, source, done));
    for (std::uint32_t id = 1; id <= 200; ++id) {
      ASSERT_OK(peer.send(0x0101, id, std::span(source).first(id)));
      auto got = peer.receive();
      ASSERT_OK(got.status());
      ASSERT_EQ(got->header.request_id, id);
    }
    EXPECT_FALSE(done.done()) << bytes << " bytes were accepted although nobody receives them";
    receive_in_pieces(peer, 2, {kMiB});
    ASSERT_OK(peer.send(0x0102, 1));
    ASSERT_OK(peer.await(done));
    part(peer);
  };
  const auto server = [bytes](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    for (std::uint32_t id = 1; id <= 200; ++id) {
      Result<Message> message = peer.receive();
      ASSERT_OK(message.status());
      ASSERT_OK(peer.send(0x0101, message->header.request_id, message->payload));
    }
    send_in_pieces(peer, 2, {kMiB});
    ASSERT_OK(peer.receive().status());
    receive_in_pieces(peer, 1, {bytes});
    part(peer);
  };
  run(client, server);
}

TEST_P(Bulk, BothWaysAtOnceWithMessages) {
  constexpr std::size_t kBytes = 8 * kMiB;
  const auto half = [](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    const std::vector<std::byte> source = test::pattern(kBytes, 77);
    std::vector<std::byte> target(kBytes);
    BulkCompletion sent;
    BulkCompletion received;
    ASSERT_OK(peer.bulk().receive(9, target, received));
    ASSERT_OK(peer.bulk().send(9, source, sent));
    for (std::uint32_t id = 1; id <= 500; ++id)
      ASSERT_OK(peer.send(0x0101, id, std::span(source).first(100)));
    for (std::uint32_t id = 1; id <= 500; ++id) {
      auto got = peer.receive();
      ASSERT_OK(got.status());
      ASSERT_EQ(got->header.request_id, id);
    }
    ASSERT_OK(peer.await(sent));
    ASSERT_OK(peer.await(received));
    ASSERT_EQ(test::find_mismatch(target, 77), test::kNoMismatch);
    part(peer);
  };
  run(half, half);
}

TEST_P(Bulk, DiscardSkipsExactly) {
  constexpr std::size_t kBytes = 3 * kMiB;
  const auto client = [](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    send_in_pieces(peer, 4, {kBytes});
    part(peer);
  };
  const auto server = [](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    const std::vector<std::byte> expected = test::pattern(kBytes, 4);
    std::vector<std::byte> target(kBytes);
    BulkCompletion done[3];
    const std::span<std::byte> first = std::span(target).first(1000);
    const std::span<std::byte> last = std::span(target).subspan(kMiB + 1000);
    ASSERT_OK(peer.bulk().receive(4, first, done[0]));
    ASSERT_OK(peer.bulk().discard(4, kMiB, done[1]));
    ASSERT_OK(peer.bulk().receive(4, last, done[2]));
    for (const BulkCompletion& completion : done) ASSERT_OK(peer.await(completion));
    EXPECT_EQ(std::memcmp(first.data(), expected.data(), first.size()), 0);
    EXPECT_EQ(std::memcmp(last.data(), expected.data() + kMiB + 1000, last.size()), 0);
    part(peer);
  };
  run(client, server);
}

TEST_P(Bulk, ZeroBytesCompleteWithoutThePeer) {
  const auto half = [](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    BulkCompletion done[3];
    ASSERT_OK(peer.bulk().send(1, {}, done[0]));
    ASSERT_OK(peer.bulk().receive(1, {}, done[1]));
    ASSERT_OK(peer.bulk().discard(1, 0, done[2]));
    for (const BulkCompletion& completion : done) ASSERT_OK(peer.await(completion));
    part(peer);
  };
  run(half, half);
}

TEST_P(Bulk, AbortReachesReceivesPostedBeforeAndAfter) {
  constexpr std::uint32_t kReason = 719;
  const Gate posted;
  const Gate aborted;
  const auto client = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    ASSERT_TRUE(posted.wait());
    send_in_pieces(peer, 1, {1000});  // then gives up: the receive asked for more
    ASSERT_OK(peer.bulk().abort(1, kReason));
    ASSERT_OK(peer.bulk().abort(2, kReason + 1));
    send_in_pieces(peer, 3, {5000});  // other tags go on
    part(peer);
  };
  const auto server = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    std::vector<std::byte> target(4000);
    BulkCompletion done[4];
    ASSERT_OK(peer.bulk().receive(1, std::span(target).first(2000), done[0]));
    ASSERT_OK(peer.bulk().receive(1, std::span(target).subspan(2000), done[1]));
    posted.open();
    for (int index = 0; index < 2; ++index) {
      const Status status = peer.await(done[index]);
      EXPECT_CODE(status, Code::kClosed);
      EXPECT_EQ(abort_reason(status), kReason);
    }
    receive_in_pieces(peer, 3, {5000});  // behind the abort of 2, which has therefore come
    ASSERT_OK(peer.bulk().receive(2, target, done[2]));
    ASSERT_OK(peer.bulk().discard(2, 10, done[3]));
    EXPECT_EQ(abort_reason(peer.await(done[2])), kReason + 1);
    EXPECT_EQ(abort_reason(peer.await(done[3])), kReason + 1);
    EXPECT_OK(peer.endpoint().status());
    part(peer);
  };
  run(client, server);
}

TEST_P(Bulk, PendingTransfersAreBounded) {
  const auto client = [](std::unique_ptr<Endpoint> endpoint) {
    std::vector<std::byte> memory(64);
    std::deque<BulkCompletion> done;
    Peer peer(std::move(endpoint));
    for (std::size_t count = 0; count < kBulkPendingMax; ++count)
      ASSERT_OK(peer.bulk().receive(1000 + count % 7, memory, done.emplace_back()));
    BulkCompletion refused;
    EXPECT_CODE(peer.bulk().receive(1, memory, refused), Code::kResourceExhausted);
    EXPECT_CODE(peer.bulk().discard(1, 10, refused), Code::kResourceExhausted);
    EXPECT_FALSE(refused.done());
    EXPECT_OK(peer.endpoint().status());
    part(peer);
    peer.close();
    for (const BulkCompletion& completion : done) ASSERT_TRUE(completion.done());
  };
  const auto server = [](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    part(peer);
  };
  run(client, server);
}

// What is sent while it is filled. Transports that cannot say so.
class FillingSend {
 public:
  explicit FillingSend(std::uint64_t tag, std::size_t bytes) : tag_(tag), source_(bytes) {}
  Status begin(Peer& peer) { return peer.bulk().send_filling(tag_, source_, filling_, done_); }
  // In steps.
  void fill_to(Peer& peer, std::size_t bytes) {
    const std::vector<std::byte> whole = test::pattern(source_.size(), tag_);
    const std::size_t before = filling_.reached();
    std::memcpy(source_.data() + before, whole.data() + before, bytes - before);
    filling_.reach(bytes);
    peer.bulk().filled();
  }
  void stop(Peer& peer) {
    filling_.stop();
    peer.bulk().filled();
  }
  BulkCompletion& done() { return done_; }

 private:
  const std::uint64_t tag_;
  std::vector<std::byte> source_;
  Filling filling_;
  BulkCompletion done_;
};

TEST_P(Bulk, WhatIsSentWhileItIsFilledArrivesWhole) {
  constexpr std::size_t kBytes = kMiB + 5;
  const auto client = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    FillingSend first(1, kBytes);
    FillingSend second(2, kBytes);
    const CloseOnFailure guard(peer);
    ASSERT_OK(peer.receive().status());
    if (!peer.bulk().can_send_filling(kBytes)) {
      ASSERT_CODE(first.begin(peer), Code::kUnsupported);
      return part(peer);
    }
    ASSERT_OK(first.begin(peer));
    first.fill_to(peer, 100'000);
    ASSERT_OK(second.begin(peer));
    send_in_pieces(peer, 3, {4 * kMiB});  // overtakes both
    ASSERT_OK(peer.receive().status());
    EXPECT_FALSE(first.done().done());
    for (const std::size_t bytes : {std::size_t{1}, kMiB / 4, kMiB / 4 + 1, kMiB, kBytes}) {
      second.fill_to(peer, bytes);
      (void)peer.drive(Deadline::after(std::chrono::milliseconds(1)));  // as far as it goes
    }
    ASSERT_OK(peer.await(second.done()));
    first.fill_to(peer, kBytes);
    ASSERT_OK(peer.await(first.done()));
    part(peer);
  };
  const auto server = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    std::vector<std::byte> targets[2] = {std::vector<std::byte>(kBytes), std::vector<std::byte>(kBytes)};
    BulkCompletion done[3];
    const CloseOnFailure guard(peer);
    ASSERT_OK(peer.bulk().receive(1, std::span(targets[0]).first(kMiB / 2), done[0]));
    ASSERT_OK(peer.bulk().receive(1, std::span(targets[0]).subspan(kMiB / 2), done[1]));
    ASSERT_OK(peer.bulk().receive(2, targets[1], done[2]));
    ASSERT_OK(peer.send(0x0101, 1));
    if (!peer.bulk().can_send_filling(kBytes)) {
      part(peer);
      return peer.close();
    }
    receive_in_pieces(peer, 3, {4 * kMiB});
    ASSERT_OK(peer.send(0x0101, 2));
    for (const BulkCompletion& each : done) ASSERT_OK(peer.await(each));
    for (const std::uint64_t tag : {1U, 2U})
      ASSERT_EQ(test::find_mismatch(targets[tag - 1], tag), test::kNoMismatch) << tag;
    part(peer);
  };
  run(client, server);
}

TEST_P(Bulk, AFillingThatStopsEndsItsTagOnly) {
  constexpr std::uint32_t kReason = 719;
  const auto client = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    FillingSend never(1, kMiB);
    FillingSend some(2, kMiB);
    const CloseOnFailure guard(peer);
    ASSERT_OK(peer.receive().status());
    if (!peer.bulk().can_send_filling(kMiB)) return part(peer);
    ASSERT_OK(never.begin(peer));
    ASSERT_OK(some.begin(peer));
    some.fill_to(peer, 300'000);
    (void)peer.drive(Deadline::after(std::chrono::milliseconds(1)));
    never.stop(peer);
    ASSERT_OK(peer.bulk().abort(1, kReason));
    ASSERT_OK(peer.bulk().abort(2, kReason + 1));
    some.stop(peer);
    ASSERT_OK(peer.await(never.done()));
    ASSERT_OK(peer.await(some.done()));
    send_in_pieces(peer, 3, {kMiB});
    part(peer);
  };
  const auto server = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    std::vector<std::byte> targets[2] = {std::vector<std::byte>(kMiB), std::vector<std::byte>(kMiB + 1)};
    BulkCompletion done[2];
    const CloseOnFailure guard(peer);
    ASSERT_OK(peer.bulk().receive(1, targets[0], done[0]));
    ASSERT_OK(peer.bulk().receive(2, targets[1], done[1]));
    ASSERT_OK(peer.send(0x0101, 1));
    if (!peer.bulk().can_send_filling(kMiB)) {
      part(peer);
      return peer.close();
    }
    EXPECT_EQ(abort_reason(peer.await(done[0])), kReason);
    EXPECT_EQ(abort_reason(peer.await(done[1])), kReason + 1);
    receive_in_pieces(peer, 3, {kMiB});
    EXPECT_OK(peer.endpoint().status());
    part(peer);
  };
  run(client, server);
}

TEST_P(Bulk, WhatIsNotFilledEndsWithTheEndpoint) {
  const auto client = [](std::unique_ptr<Endpoint> endpoint) {
    FillingSend never(1, kMiB);
    Peer peer(std::move(endpoint));
    ASSERT_OK(peer.receive().status());
    const bool can = peer.bulk().can_send_filling(kMiB);
    if (can) ASSERT_OK(never.begin(peer));
    part(peer);
    peer.close();
    EXPECT_EQ(never.done().done(), can);
  };
  const auto server = [](std::unique_ptr<Endpoint> endpoint) {
    std::vector<std::byte> target(kMiB);
    BulkCompletion done;
    Peer peer(std::move(endpoint));
    ASSERT_OK(peer.bulk().receive(1, target, done));
    ASSERT_OK(peer.send(0x0101, 1));
    part(peer);
    peer.close();
    EXPECT_TRUE(done.done());
    EXPECT_FALSE(done.status().is_ok());
  };
  run(client, server);
}

// An end that asks for everything it gets is not left waiting behind what it never asked for.
TEST_P(Bulk, UnaskedPayloadEndsWhoRefusesIt) {
  const auto client = [](std::unique_ptr<Endpoint> endpoint) {
    if (endpoint->capabilities().one_sided) GTEST_SKIP() << "nothing moves that was not asked for";
    Peer peer(std::move(endpoint));
    const CloseOnFailure guard(peer);
    std::vector<std::byte> target(1000);
    BulkCompletion asked;
    peer.bulk().refuse_unasked();
    ASSERT_OK(peer.bulk().receive(7, target, asked));
    ASSERT_OK(peer.send(0x0101, 1));
    EXPECT_CODE(peer.until_failure(std::chrono::seconds(10)), Code::kProtocol);
    EXPECT_CODE(peer.await(asked), Code::kProtocol);
  };
  const auto worker = [](std::unique_ptr<Endpoint> endpoint) {
    if (endpoint->capabilities().one_sided) return;
    const std::vector<std::byte> source(1000);
    BulkCompletion sent;
    Peer peer(std::move(endpoint));
    ASSERT_OK(peer.receive().status());
    ASSERT_OK(peer.bulk().send(8, source, sent));
    EXPECT_CODE(peer.until_failure(std::chrono::seconds(10)), Code::kPeerLost);
    peer.close();
  };
  run(client, worker);
}

}  // namespace
}  // namespace tf::conformance
