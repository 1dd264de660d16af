// SPDX-License-Identifier: Apache-2.0
#include "transport/bulk_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <thread>
#include <vector>

namespace tf {
namespace {

const Status kBroken(Code::kPeerLost, "broken by the test");

class BulkQueueTest : public testing::Test {
 protected:
  std::array<std::byte, 1000> memory_{};
  std::deque<BulkCompletion> done_;  // outlives the queue
  BulkQueue queue_;

  BulkCompletion& send(std::uint64_t tag, std::size_t bytes) {
    EXPECT_TRUE(queue_.send(tag, std::span(memory_).first(bytes), done_.emplace_back()).is_ok());
    return done_.back();
  }
  BulkCompletion& receive(std::uint64_t tag, std::size_t bytes) {
    EXPECT_TRUE(queue_.receive(tag, std::span(memory_).first(bytes), done_.emplace_back()).is_ok());
    return done_.back();
  }
};

TEST(BulkAbort, ReasonsRoundTrip) {
  for (const std::uint32_t reason : {1u, 719u, 0xffffffffu})
    EXPECT_EQ(abort_reason(bulk_aborted(reason)), reason);
  EXPECT_EQ(abort_reason(Status()), 0u);
  EXPECT_EQ(abort_reason({Code::kClosed, "closed"}), 0u);
  EXPECT_EQ(abort_reason({Code::kPeerLost, "lost", 5}), 0u);
  EXPECT_EQ(abort_reason({Code::kClosed, bulk_aborted(5).message()}), 0u) << "the text says nothing";
  const Status copy = bulk_aborted(7);
  EXPECT_EQ(abort_reason(Status(copy)), 7u);
}

TEST_F(BulkQueueTest, SendsGoOutInOrderAndPartly) {
  BulkCompletion& first = send(1, 100);
  BulkCompletion& second = send(2, 50);
  EXPECT_TRUE(queue_.has_send());
  ASSERT_EQ(queue_.next_send()->source.size(), 100u);
  queue_.advance_send(60);
  EXPECT_FALSE(first.done());
  const auto rest = queue_.next_send();
  EXPECT_EQ(rest->source.size(), 40u);
  EXPECT_EQ(rest->source.data(), memory_.data() + 60);
  queue_.advance_send(0);
  EXPECT_EQ(queue_.next_send()->source.size(), 40u);
  queue_.advance_send(40);
  EXPECT_TRUE(first.done() && first.status().is_ok());
  EXPECT_EQ(queue_.next_send()->tag, 2u);
  queue_.advance_send(50);
  EXPECT_TRUE(second.done());
  EXPECT_FALSE(queue_.has_send());
  EXPECT_FALSE(queue_.next_send().has_value());
}

TEST_F(BulkQueueTest, ZeroCopySendsCompleteWhenTheirMemoryIsFree) {
  BulkCompletion& first = send(1, 100);
  BulkCompletion& second = send(2, 50);
  (void)queue_.next_send();
  queue_.hand_over_send(100);
  (void)queue_.next_send();
  queue_.hand_over_send(50);
  EXPECT_FALSE(queue_.has_send());
  EXPECT_FALSE(first.done() || second.done());
  queue_.finish_send(99);
  EXPECT_FALSE(first.done());
  queue_.finish_send(2);
  EXPECT_TRUE(first.done());
  EXPECT_FALSE(second.done());
  queue_.finish_send(49);
  EXPECT_TRUE(second.done());
}

TEST_F(BulkQueueTest, TransfersArePendingUntilTheyEnd) {
  EXPECT_FALSE(queue_.has_pending());
  (void)send(1, 100);
  (void)queue_.next_send();
  queue_.hand_over_send(100);
  EXPECT_TRUE(queue_.has_pending()) << "the kernel has it";
  queue_.finish_send(100);
  EXPECT_FALSE(queue_.has_pending());
  (void)receive(2, 100);
  (void)queue_.find_receive(2);
  queue_.hand_over_receive(2, 100);
  EXPECT_TRUE(queue_.has_pending()) << "a device fills it";
  queue_.finish_receive(2, 100);
  EXPECT_FALSE(queue_.has_pending());
  (void)receive(3, 100);
  EXPECT_TRUE(queue_.abort_receive(3, 1).is_ok());
  EXPECT_FALSE(queue_.has_pending());
  (void)send(4, 100);
  (void)receive(5, 100);
  queue_.fail_all(kBroken);
  EXPECT_FALSE(queue_.has_pending());
}

TEST_F(BulkQueueTest, FailureSparesMemoryThatTheKernelHolds) {
  BulkCompletion& held = send(1, 100);
  BulkCompletion& current = send(2, 50);
  BulkCompletion& waiting = send(3, 50);
  (void)queue_.next_send();
  queue_.hand_over_send(100);
  (void)queue_.next_send();
  queue_.fail_all(kBroken);
  EXPECT_FALSE(held.done() || current.done());
  EXPECT_TRUE(waiting.done());
  queue_.hand_over_send(30);
  EXPECT_FALSE(current.done());
  queue_.finish_send(100);
  EXPECT_TRUE(held.done());
  EXPECT_FALSE(current.done());
  queue_.finish_send(30);
  EXPECT_TRUE(current.done());
  EXPECT_EQ(current.status().code(), Code::kPeerLost);
  EXPECT_FALSE(queue_.next_send().has_value());
}

TEST_F(BulkQueueTest, FailureSparesTheReceiveBeingFilled) {
  BulkCompletion& filling = receive(1, 100);
  BulkCompletion& behind = receive(1, 100);
  BulkCompletion& other = receive(2, 100);
  ASSERT_TRUE(queue_.find_receive(1).has_value());
  queue_.fail_all(kBroken);
  EXPECT_FALSE(filling.done());
  EXPECT_TRUE(behind.done() && other.done());
  queue_.advance_receive(1, 10);
  ASSERT_TRUE(filling.done());
  EXPECT_EQ(filling.status().code(), Code::kPeerLost);
  EXPECT_FALSE(queue_.find_receive(1).has_value());
}

TEST_F(BulkQueueTest, ReceivesAreHandedOverAheadOfTheirEnd) {
  BulkCompletion& first = receive(1, 100);
  BulkCompletion& second = receive(1, 50);
  EXPECT_EQ(queue_.find_receive(1)->bytes, 100u);
  queue_.hand_over_receive(1, 60);
  const auto rest = queue_.find_receive(1);
  EXPECT_EQ(rest->target.data(), memory_.data() + 60);
  EXPECT_EQ(rest->bytes, 40u);
  queue_.hand_over_receive(1, 40);
  EXPECT_TRUE(queue_.has_receive(1));
  EXPECT_EQ(queue_.find_receive(1)->bytes, 50u);
  queue_.hand_over_receive(1, 50);
  EXPECT_FALSE(queue_.has_receive(1)) << "all are handed over";
  EXPECT_FALSE(queue_.find_receive(1).has_value());
  queue_.finish_receive(1, 99);
  EXPECT_FALSE(first.done());
  queue_.finish_receive(1, 2);
  EXPECT_TRUE(first.done() && first.status().is_ok());
  EXPECT_FALSE(second.done());
  queue_.finish_receive(1, 49);
  EXPECT_TRUE(second.done() && second.status().is_ok());
}

TEST_F(BulkQueueTest, FailureSparesReceivesThatADeviceFills) {
  BulkCompletion& filled = receive(1, 100);
  BulkCompletion& half = receive(1, 100);
  BulkCompletion& waiting = receive(1, 100);
  (void)queue_.find_receive(1);
  queue_.hand_over_receive(1, 100);
  (void)queue_.find_receive(1);
  queue_.hand_over_receive(1, 30);
  queue_.fail_all(kBroken);
  EXPECT_TRUE(waiting.done());
  EXPECT_FALSE(filled.done() || half.done());
  queue_.finish_receive(1, 100);
  EXPECT_TRUE(filled.done() && filled.status().is_ok());
  EXPECT_FALSE(half.done()) << "the device has a part of it";
  queue_.let_go();
  EXPECT_TRUE(half.done());
  EXPECT_EQ(half.status().code(), Code::kPeerLost);
}

TEST_F(BulkQueueTest, LettingGoEndsSendsThatWereHandedOver) {
  BulkCompletion& first = send(1, 100);
  BulkCompletion& second = send(1, 100);
  (void)queue_.next_send();
  queue_.hand_over_send(100);
  (void)queue_.next_send();
  queue_.hand_over_send(10);
  queue_.fail_all(kBroken);
  EXPECT_FALSE(first.done() || second.done());
  queue_.let_go();
  EXPECT_EQ(first.status().code(), Code::kPeerLost);
  EXPECT_EQ(second.status().code(), Code::kPeerLost);
}

TEST_F(BulkQueueTest, ReceivesOfATagQueueUp) {
  EXPECT_FALSE(queue_.find_receive(1).has_value());
  EXPECT_FALSE(queue_.has_receive(1));
  BulkCompletion& first = receive(1, 10);
  BulkCompletion skipped;
  ASSERT_TRUE(queue_.discard(1, 1ull << 40, skipped).is_ok());
  EXPECT_TRUE(queue_.has_receive(1));
  EXPECT_EQ(queue_.find_receive(1)->target.size(), 10u);
  queue_.advance_receive(1, 4);
  EXPECT_EQ(queue_.find_receive(1)->target.data(), memory_.data() + 4);
  queue_.advance_receive(1, 6);
  EXPECT_TRUE(first.done());
  const auto discard = queue_.find_receive(1);
  EXPECT_TRUE(discard->is_discard && discard->target.empty());
  EXPECT_EQ(discard->bytes, 1ull << 40);
  queue_.advance_receive(1, 1ull << 40);
  EXPECT_TRUE(skipped.done());
  EXPECT_FALSE(queue_.has_receive(1));
}

TEST_F(BulkQueueTest, AbortsMeetReceivesBeforeAndAfter) {
  BulkCompletion& before = receive(1, 10);
  BulkCompletion& also_before = receive(1, 10);
  EXPECT_TRUE(queue_.abort_receive(1, 7).is_ok());
  EXPECT_EQ(abort_reason(before.status()), 7u);
  EXPECT_EQ(abort_reason(also_before.status()), 7u);
  EXPECT_EQ(abort_reason(receive(1, 10).status()), 7u);
  EXPECT_TRUE(queue_.abort_receive(2, 8).is_ok());
  EXPECT_TRUE(queue_.abort_receive(2, 9).is_ok());
  EXPECT_EQ(abort_reason(receive(2, 10).status()), 8u);
}

TEST_F(BulkQueueTest, RememberedAbortsAreBounded) {
  for (std::uint64_t tag = 0; tag < kBulkAbortsMax; ++tag) ASSERT_TRUE(queue_.abort_receive(tag, 1).is_ok());
  EXPECT_EQ(queue_.abort_receive(kBulkAbortsMax, 1).code(), Code::kResourceExhausted);
  EXPECT_EQ(abort_reason(receive(17, 10).status()), 1u);  // claimed: may be forgotten now
  EXPECT_TRUE(queue_.abort_receive(kBulkAbortsMax, 1).is_ok());
  EXPECT_EQ(queue_.abort_receive(kBulkAbortsMax + 1, 1).code(), Code::kResourceExhausted);
}

TEST_F(BulkQueueTest, UnaskedPayloadWaitsUnlessItIsRefused) {
  EXPECT_TRUE(queue_.judge_early(1).is_ok());
  queue_.refuse_unasked();
  const Status unasked = queue_.judge_early(1);
  EXPECT_EQ(unasked.code(), Code::kProtocol);
  EXPECT_NE(unasked.message().find("tag 1, which nobody asked for"), std::string::npos) << unasked.message();
  EXPECT_EQ(queue_.abort_receive(1, 7).code(), Code::kProtocol);
  receive(1, 10);
  EXPECT_TRUE(queue_.judge_early(1).is_ok());
  (void)queue_.find_receive(1);
  queue_.advance_receive(1, 10);
  EXPECT_EQ(queue_.judge_early(1).code(), Code::kProtocol) << "it has all that it asked for";
}

TEST_F(BulkQueueTest, OpenTagsMayComeEarly) {
  queue_.refuse_unasked();
  queue_.keep_open(1, true);
  EXPECT_TRUE(queue_.judge_early(1).is_ok());
  EXPECT_TRUE(queue_.abort_receive(1, 7).is_ok());
  EXPECT_EQ(abort_reason(receive(1, 10).status()), 7u);
  queue_.keep_open(1, false);
  EXPECT_EQ(queue_.judge_early(1).code(), Code::kProtocol);
  EXPECT_TRUE(queue_.abort_receive(1, 7).is_ok()) << "a sender may give up twice";
}

TEST_F(BulkQueueTest, OutgoingAbortsKeepTheirPlace) {
  BulkCompletion& sent = send(1, 10);
  ASSERT_TRUE(queue_.abort(1, 5).is_ok());
  BulkCompletion& behind = send(2, 10);
  EXPECT_FALSE(queue_.next_send()->is_abort);
  queue_.hand_over_send(10);  // still held while the abort goes out
  const auto abort = queue_.next_send();
  EXPECT_TRUE(abort->is_abort);
  EXPECT_EQ(abort->reason, 5u);
  queue_.sent_abort();
  EXPECT_EQ(queue_.next_send()->tag, 2u);
  queue_.hand_over_send(10);
  queue_.finish_send(20);
  EXPECT_TRUE(sent.done() && behind.done());
}

TEST_F(BulkQueueTest, PendingCountsAreBounded) {
  for (std::size_t count = 0; count < kBulkPendingMax; ++count) {
    send(count, 1);
    receive(count, 1);
    ASSERT_TRUE(queue_.abort(count, 1).is_ok());
  }
  BulkCompletion refused;
  EXPECT_EQ(queue_.send(1, memory_, refused).code(), Code::kResourceExhausted);
  EXPECT_EQ(queue_.receive(1, memory_, refused).code(), Code::kResourceExhausted);
  EXPECT_EQ(queue_.discard(1, 1, refused).code(), Code::kResourceExhausted);
  EXPECT_EQ(queue_.abort(1, 1).code(), Code::kResourceExhausted);
  (void)queue_.find_receive(0);
  queue_.advance_receive(0, 1);
  EXPECT_TRUE(queue_.receive(1, memory_, done_.emplace_back()).is_ok());
}

TEST(BulkQueue, DestructionCompletesWhatIsLeft) {
  std::array<std::byte, 10> memory{};
  BulkCompletion sending;
  BulkCompletion receiving;
  {
    BulkQueue queue;
    ASSERT_TRUE(queue.send(1, memory, sending).is_ok());
    ASSERT_TRUE(queue.receive(1, memory, receiving).is_ok());
    (void)queue.next_send();
  }
  EXPECT_EQ(sending.status().code(), Code::kClosed);
  EXPECT_EQ(receiving.status().code(), Code::kClosed);
}

TEST_F(BulkQueueTest, RefusesAfterFailure) {
  queue_.fail_all(kBroken);
  queue_.fail_all({Code::kInternal, "too late"});
  BulkCompletion refused;
  for (const Status& status : {queue_.send(1, memory_, refused), queue_.receive(1, memory_, refused),
                               queue_.discard(1, 5, refused), queue_.abort(1, 5), queue_.abort_receive(1, 5)})
    EXPECT_EQ(status.message(), kBroken.message());
  EXPECT_FALSE(refused.done());
}

// fail_all() against a mover in full swing: every completion ends exactly once, none while it is pinned.
TEST(BulkQueue, FailureRacesWithTheMover) {
  constexpr std::size_t kTransfers = 500;
  for (int round = 0; round < 10; ++round) {
    std::vector<std::byte> memory(kTransfers * 64);
    std::deque<BulkCompletion> done(2 * kTransfers);
    BulkQueue queue;
    for (std::size_t index = 0; index < kTransfers; ++index) {
      const std::span<std::byte> part = std::span(memory).subspan(index * 64, 64);
      ASSERT_TRUE(queue.send(index, part, done[2 * index]).is_ok());
      ASSERT_TRUE(queue.receive(index, part, done[2 * index + 1]).is_ok());
    }
    std::thread failing([&] { queue.fail_all(kBroken); });
    while (const auto next = queue.next_send()) {
      const auto incoming = queue.find_receive(next->tag);
      if (incoming) {
        EXPECT_FALSE(done[2 * next->tag + 1].done());
        queue.advance_receive(next->tag, 64);
      }
      EXPECT_FALSE(done[2 * next->tag].done());
      queue.advance_send(64);
    }
    failing.join();
    for (const BulkCompletion& completion : done) EXPECT_TRUE(completion.done());
  }
}

}  // namespace
}  // namespace tf
