// SPDX-License-Identifier: Apache-2.0
// A peer whose bulk records cannot be: each is kProtocol, whatever is under way.
#include <gtest/gtest.h>

#include "rdma/bulk.h"
#include "tests/unit/rdma/plane_pair.h"

namespace tf::rdma {
namespace {

class Owner final : public BulkOwner {
 public:
  Status status() const override { return failure; }
  void fail(Status reason) override {
    if (failure.is_ok()) failure = std::move(reason);
  }
  void take_failure(Status reason) override { fail(std::move(reason)); }
  void wake() override {}
  Status look_now_and_then() override { return Status::ok(); }

  Status failure;
};

using MakeBulk = std::unique_ptr<Bulk> (*)(Plane&, BulkOwner&, std::unique_ptr<Regions>);

class BulkHostile : public StreamTest {
 protected:
  // The right end is honest, the left one ours.
  void open_bulk(MakeBulk make, bool remote) {
    open(kBulkRingBytes);
    Result<std::unique_ptr<Regions>> regions =
        Regions::make(*fabric.verbs(), {.pd = pair->right_device.pd, .remote = remote});
    ASSERT_TRUE(regions.is_ok()) << regions.status().to_string();
    bulk = make(*pair->right, owner, std::move(*regions));
  }
  void open_worker() { open_bulk(make_worker_bulk, false); }
  void open_client() { open_bulk(make_client_bulk, true); }

  void TearDown() override {
    bulk.reset();
    StreamTest::TearDown();
  }

  void say_bytes(std::uint16_t op, std::span<const std::byte> payload) {
    Producer& producer = pair->left->producer();
    const std::span<std::byte> slot = producer.reserve(kFrameHeaderBytes + payload.size());
    ASSERT_FALSE(slot.empty());
    write_header({.opcode = op, .payload_length = payload.size()}, slot.data());
    std::memcpy(slot.data() + kFrameHeaderBytes, payload.data(), payload.size());
    ASSERT_TRUE(producer.publish().is_ok());
  }
  void say(BulkOp op, const BulkNote& note) {
    say_bytes(static_cast<std::uint16_t>(op), std::as_bytes(std::span(&note, 1)));
  }

  // What became of it: the failure, or none after everything has come.
  Code outcome() {
    for (int quiet = 0; quiet < 3 && owner.failure.is_ok(); ++quiet) {
      EXPECT_TRUE(fabric.wait_idle());
      (void)bulk->move_payload();
    }
    return owner.failure.code();
  }

  Owner owner;
  std::unique_ptr<Bulk> bulk;
};

class WorkerMeets : public BulkHostile, public testing::WithParamInterface<std::pair<BulkOp, BulkNote>> {};

TEST_P(WorkerMeets, WhatNoClientSends) {
  open_worker();
  say(GetParam().first, GetParam().second);
  EXPECT_EQ(outcome(), Code::kProtocol);
}

INSTANTIATE_TEST_SUITE_P(
    Records, WorkerMeets,
    testing::Values(std::pair{BulkOp::kSource, BulkNote{.tag = 1}},
                    std::pair{BulkOp::kTarget, BulkNote{.tag = 1}},
                    std::pair{BulkOp::kDiscard, BulkNote{.tag = 1}},
                    std::pair{BulkOp::kSourceDone, BulkNote{.tag = 1, .bytes = 1}},
                    std::pair{BulkOp::kTargetDone, BulkNote{.tag = 1, .bytes = 1}},
                    std::pair{BulkOp::kWant, BulkNote{.tag = 1}},
                    std::pair{BulkOp::kSmallTarget, BulkNote{.tag = 1}},
                    std::pair{BulkOp::kSmallTarget, BulkNote{.tag = 1, .bytes = kSmallBytes + 1}},
                    std::pair{BulkOp::kData, BulkNote{.tag = 1}}, std::pair{BulkOp{0}, BulkNote{.tag = 1}},
                    std::pair{BulkOp{999}, BulkNote{.tag = 1}}));

class ClientMeets : public BulkHostile, public testing::WithParamInterface<std::pair<BulkOp, BulkNote>> {};

TEST_P(ClientMeets, WhatNoWorkerSends) {
  open_client();
  BulkCompletion received;
  std::vector<std::byte> target(kSmallBytes + 100);
  ASSERT_TRUE(bulk->receive(7, target, received).is_ok());
  say(GetParam().first, GetParam().second);
  EXPECT_EQ(outcome(), Code::kProtocol);
  EXPECT_FALSE(received.done());
  bulk.reset();
  EXPECT_TRUE(received.done());
}

INSTANTIATE_TEST_SUITE_P(
    Records, ClientMeets,
    testing::Values(std::pair{BulkOp::kSourceDone, BulkNote{.tag = 7, .bytes = 100}},
                    std::pair{BulkOp::kTargetDone, BulkNote{.tag = 8, .bytes = 100}},
                    std::pair{BulkOp::kTargetDone, BulkNote{.tag = 7}},
                    std::pair{BulkOp::kTargetDone, BulkNote{.tag = 7, .bytes = kSmallBytes + 101}},
                    std::pair{BulkOp::kTargetDone, BulkNote{.tag = 7, .bytes = ~std::uint64_t{0}}},
                    std::pair{BulkOp::kSource, BulkNote{.tag = 7, .bytes = 100}},
                    std::pair{BulkOp::kTarget, BulkNote{.tag = 7, .bytes = 100}},
                    std::pair{BulkOp::kDiscard, BulkNote{.tag = 7, .bytes = 100}},
                    std::pair{BulkOp{999}, BulkNote{.tag = 7}}));

// Whether payload comes in records is the client's to say, and how much there is the record's.
TEST_F(BulkHostile, DataOfAnotherKindOrLength) {
  struct Case {
    const char* what;
    std::size_t receive, told, carried;
    BulkOp op;
  };
  constexpr std::size_t kLarge = kSmallBytes + 100;
  const std::array<Case, 6> cases{{{"for a large target", kLarge, 8, 8, BulkOp::kData},
                                   {"a small target written with data", 100, 100, 100, BulkOp::kTargetDone},
                                   {"fewer bytes than told", 100, 100, 99, BulkOp::kData},
                                   {"more bytes than told", 100, 99, 100, BulkOp::kData},
                                   {"more than the target takes", 100, 101, 101, BulkOp::kData},
                                   {"nothing", 100, 0, 0, BulkOp::kData}}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    open_client();
    BulkCompletion received;
    std::vector<std::byte> target(each.receive);
    ASSERT_TRUE(bulk->receive(7, target, received).is_ok());
    const BulkNote note{.tag = 7, .bytes = each.told};
    std::vector<std::byte> record(sizeof note + each.carried, std::byte{1});
    std::memcpy(record.data(), &note, sizeof note);
    say_bytes(static_cast<std::uint16_t>(each.op), record);
    EXPECT_EQ(outcome(), Code::kProtocol);
    TearDown();
    EXPECT_TRUE(received.done());
    EXPECT_EQ(target, std::vector<std::byte>(each.receive));
    owner.failure = Status::ok();
  }
}

TEST_F(BulkHostile, ARecordOfAnotherLength) {
  open_worker();
  const std::array<std::byte, sizeof(BulkNote) - 8> short_one{};
  say_bytes(static_cast<std::uint16_t>(BulkOp::kSource), short_one);
  EXPECT_EQ(outcome(), Code::kProtocol);
}

TEST_F(BulkHostile, MoreSourcesThanThereMayBe) {
  open_worker();
  for (std::size_t count = 0; count < kPiecesMax; ++count)
    say(BulkOp::kSource, {.tag = count, .address = 64, .bytes = 64, .key = 1});
  EXPECT_EQ(outcome(), Code::kOk) << "nobody receives them yet";
  say(BulkOp::kAbort, {.tag = 99});
  EXPECT_EQ(outcome(), Code::kProtocol);
}

TEST_F(BulkHostile, MoreTargetsThanThereMayBe) {
  open_worker();
  for (std::size_t count = 0; count < kTargetsMax; ++count) {
    say(BulkOp::kTarget, {.tag = count, .address = 64, .bytes = 64, .key = 1});
    if (count % 8 == 7) {
      ASSERT_EQ(outcome(), Code::kOk);
    }
  }
  ASSERT_EQ(outcome(), Code::kOk);
  say(BulkOp::kTarget, {.tag = 999, .address = 64, .bytes = 64, .key = 1});
  EXPECT_EQ(outcome(), Code::kProtocol);
}

// Memory that is not the peer's to name: its device refuses, and the plane fails.
TEST_F(BulkHostile, ASourceThatIsNoMemory) {
  open_worker();
  std::vector<std::byte> target(4096);
  BulkCompletion received;
  ASSERT_TRUE(bulk->receive(3, target, received).is_ok());
  say(BulkOp::kSource, {.tag = 3, .address = 4096, .bytes = 4096, .key = 12345});
  EXPECT_EQ(outcome(), Code::kPeerLost) << owner.failure.to_string();
  bulk->fail_all(owner.failure);
  ASSERT_TRUE(received.done());
  EXPECT_EQ(received.status().code(), Code::kPeerLost);
}

}  // namespace
}  // namespace tf::rdma
