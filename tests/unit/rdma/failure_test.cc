// SPDX-License-Identifier: Apache-2.0
// Failures that come while nobody looks, and on devices that say little of them.
#include <array>
#include <deque>
#include <functional>
#include <thread>

#include "rdma/bulk.h"
#include "rdma/regions.h"
#include "tests/support/peer.h"
#include "tests/unit/rdma/endpoints_fixture.h"

namespace tf::rdma {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kLimit{20};

class FailureTest : public EndpointsTest {
 protected:
  // A message that will never be acknowledged, until the device has given up.
  void lose_the_path() {
    fabric_.cut_link("fake0", "fake1");
    ASSERT_TRUE(publish().is_ok());
    ASSERT_TRUE(fabric_.wait_idle());
  }
  Status publish() {
    Result<Slot> slot = pair_.client->reserve(kFrameHeaderBytes);
    if (!slot) return slot.status();
    write_header({.opcode = 1}, slot->bytes.data());
    pair_.client->publish(*slot);
    return pair_.client->status();
  }
  static void expect_lost(const Status& status) {
    EXPECT_EQ(status.code(), Code::kPeerLost) << status.to_string();
  }
};

// The flushes lie in a queue that nobody has asked for events yet: they give none when somebody does.
TEST_F(FailureTest, BeforeAnybodySlept) {
  lose_the_path();
  expect_lost(pair_.client->wait(Interest::kMessages, Deadline::after(kLimit)));
}

// Where the receives are flushed without events the failed request itself is one.
TEST_F(FailureTest, WhileSomebodySleepsAndReceivesAreFlushedInSilence) {
  fabric_.set_silent_flushes(true);
  const std::uint64_t before = fabric_.counters().armings;
  std::thread waiter(
      [this] { expect_lost(pair_.client->wait(Interest::kMessages, Deadline::after(kLimit))); });
  while (fabric_.counters().armings == before) std::this_thread::yield();
  lose_the_path();
  waiter.join();
}

// Where a failed queue pair takes no requests any more the refusal is the loss that it comes from.
TEST_F(FailureTest, OfAPostIsTheLossOfThePeer) {
  fabric_.set_refusing_posts_in_error(true);
  lose_the_path();
  (void)publish();  // is refused, which the sign of life on the socket may still explain
  expect_lost(pair_.client->wait(Interest::kMessages, Deadline::after(kLimit)));
  expect_lost(publish());
}

TEST_F(FailureTest, OfAPostOfPayloadEndsTheTransfers) {
  fabric_.set_refusing_posts_in_error(true);
  fabric_.cut_link("fake0", "fake1");
  const std::vector<std::byte> source = test::pattern(2 * kSmallBytes, 1);
  std::deque<BulkCompletion> ends;
  ASSERT_TRUE(pair_.client->bulk().send(1, source, ends.emplace_back()).is_ok());
  ASSERT_TRUE(fabric_.wait_idle());  // the announcement has failed, and nobody has looked
  ASSERT_TRUE(pair_.client->bulk().send(2, source, ends.emplace_back()).is_ok());
  ASSERT_TRUE(move_until_done(ends));
  for (const BulkCompletion& end : ends) expect_lost(end.status());
}

// Said before anything is connected, and that it is a limit of the system which can be raised.
TEST_F(FailureTest, OfTheLimitOfLockedMemoryIsKnownBeforehand) {
  EXPECT_TRUE(client_transport_->available().is_ok());
  fabric_.set_memory_limit(fabric_.registered_bytes() + 2 * kMessageRingBytes);
  const Status status = client_transport_->available();
  EXPECT_FALSE(status.is_ok());
  EXPECT_NE(status.message().find("ulimit -l"), std::string::npos) << status.to_string();
}

TEST(SmallMessages, MakeADeviceUnusable) {
  std::vector<test::FakeDevice> devices{test::FakeDevice::make(0)};
  for (const std::uint32_t most : {std::uint32_t{512} << 10, std::uint32_t{1} << 20}) {
    devices[0].ports[0].max_message = most;
    test::FakeFabric fabric(devices);
    const Status status = make_transport(*fabric.verbs(), {})->available();
    EXPECT_EQ(status.is_ok(), most == kMessageRingBytes) << status.to_string();
    if (!status.is_ok()) {
      EXPECT_NE(status.message().find("524288 bytes"), std::string::npos) << status.to_string();
    }
  }
}

// --- Places for what comes in -----------------------------------------------------------------------------

// Nothing can be registered any more, all places have been given to what the worker sends last.
TEST_F(FailureTest, OfRegistrationsLeavesAWayForWhatIsWantedFirst) {
  constexpr std::size_t kLarge = 2 * kSlots * kSlotBytes;
  constexpr std::size_t kOther = 64 * 1024;
  fabric_.refuse_reg_mr(ENOMEM, ~0u);
  std::vector<std::byte> large(kLarge), other(kOther);
  const std::vector<std::byte> first = test::pattern(kOther, 2), last = test::pattern(kLarge, 3);
  std::array<BulkCompletion, 4> ends;
  ASSERT_TRUE(pair_.client->bulk().receive(1, large, ends[0]).is_ok());
  ASSERT_TRUE(pair_.client->bulk().receive(2, other, ends[1]).is_ok());
  ASSERT_TRUE(pair_.server->bulk().send(2, first, ends[2]).is_ok());
  ASSERT_TRUE(pair_.server->bulk().send(1, last, ends[3]).is_ok());
  ASSERT_TRUE(move_until_done(ends));
  for (const BulkCompletion& end : ends) EXPECT_TRUE(end.status().is_ok()) << end.status().to_string();
  EXPECT_EQ(test::find_mismatch(other, 2), test::kNoMismatch);
  EXPECT_EQ(test::find_mismatch(large, 3), test::kNoMismatch);
  fabric_.refuse_reg_mr(0, 0);
}

// However the worker cuts what it sends: here every tag once, and then every tag again.
TEST_F(FailureTest, IsNotWhatManyTagsHalfSentAre) {
  constexpr std::size_t kTags = 3 * kPiecesMax;
  constexpr std::size_t kBytes = 2 * kSmallBytes;
  const std::vector<std::byte> source = test::pattern(kTags * kBytes, 5);
  std::vector<std::byte> target(source.size());
  std::deque<BulkCompletion> ends;
  for (std::uint64_t tag = 0; tag < kTags; ++tag)
    ASSERT_TRUE(pair_.client->bulk()
                    .receive(tag, std::span(target).subspan(tag * kBytes, kBytes), ends.emplace_back())
                    .is_ok());
  for (const std::size_t half : {std::size_t{0}, kBytes / 2})
    for (std::uint64_t tag = 0; tag < kTags; ++tag)
      ASSERT_TRUE(
          pair_.server->bulk()
              .send(tag, std::span(source).subspan(tag * kBytes + half, kBytes / 2), ends.emplace_back())
              .is_ok());
  ASSERT_TRUE(move_until_done(ends));
  EXPECT_EQ(test::find_mismatch(target, 5), test::kNoMismatch);
}

// --- A mover that sleeps ----------------------------------------------------------------------------------

// What a thread does that has just polled a completion queue, once.
std::function<void()> behind_poll;
const Verbs* real = nullptr;

int poll_and_do(ibv_cq* cq, int entries, ibv_wc* completions) {
  const int count = real->poll_cq(cq, entries, completions);
  if (const std::function<void()> once = std::exchange(behind_poll, nullptr); once) once();
  return count;
}

class SleepingMover : public FailureTest {
 protected:
  void SetUp() override {
    real = fabric_.verbs();
    table_ = *real;
    table_.poll_cq = poll_and_do;
    verbs_ = &table_;
    open({}, {});
  }
  Verbs table_{};
};

// One thread has looked and found nothing; then an announcement comes, and another thread goes to sleep,
// which asks for events too late for that. The first one does not look again.
TEST_F(SleepingMover, IsNotLeftAloneWithWhatCameBehindAnothersLook) {
  const std::vector<std::byte> source = test::pattern(kSmallBytes, 4);
  BulkCompletion sent;
  fabric_.pause();
  ASSERT_TRUE(pair_.client->bulk().send(1, source, sent).is_ok());
  std::thread mover;
  behind_poll = [&] {
    fabric_.resume();
    EXPECT_TRUE(fabric_.wait_idle());
    const std::uint64_t before = fabric_.counters().armings;
    mover = std::thread([&] {
      const Status status = pair_.server->wait(Interest::kBulk, Deadline::after(kLimit));
      EXPECT_TRUE(status.is_ok()) << status.to_string();
    });
    while (fabric_.counters().armings == before) std::this_thread::yield();
  };
  ASSERT_TRUE(pair_.server->bulk().move_payload().is_ok());
  ASSERT_TRUE(mover.joinable());
  mover.join();
  pair_ = {};  // while `sent`, which nobody receives, is there
}

}  // namespace
}  // namespace tf::rdma
