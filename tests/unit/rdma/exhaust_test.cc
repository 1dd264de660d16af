// SPDX-License-Identifier: Apache-2.0
// Every queue full at once, in both directions, with nobody polling: send and receive queues, completion
// queues, rings, announced pieces, slots, and as many transfers as may be pending. Then both ends go on and
// everything arrives; or one never does, and the other is told once. The provider notes whatever overruns.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "rdma/bulk.h"
#include "rdma/transport.h"
#include "tests/support/endpoint_pair.h"
#include "tests/support/peer.h"
#include "tests/support/verbs/fake_fabric.h"
#include "tests/unit/rdma/plane_pair.h"

namespace tf::rdma {
namespace {

constexpr std::size_t kTransferBytes = 96;
constexpr std::ptrdiff_t kShuffled = 64;  // receives: more than are announced at a time
constexpr std::chrono::seconds kTestLimit{100};

std::size_t payload_of(std::uint32_t id) { return id * 37 % 400; }

// Buffers for kBulkPendingMax transfers of one direction, in memory of this end.
struct Transfers {
  explicit Transfers(std::uint64_t direction)
      : seed(direction << 32), memory(kBulkPendingMax * kTransferBytes) {}

  std::span<std::byte> piece(std::size_t index) {
    return std::span(memory).subspan(index * kTransferBytes, kTransferBytes);
  }
  // A thread asks often: what it has found is not looked at again.
  bool done() {
    while (next_ < ends.size() && ends[next_].done()) ++next_;
    return next_ == ends.size();
  }
  // How many ended so.
  std::size_t with(const Status& status) const {
    return static_cast<std::size_t>(std::count_if(ends.begin(), ends.end(), [&](const BulkCompletion& end) {
      return end.done() && end.status().code() == status.code() && end.status().message() == status.message();
    }));
  }

  const std::uint64_t seed;
  std::vector<std::byte> memory;
  std::vector<BulkCompletion> ends{kBulkPendingMax};

 private:
  std::size_t next_ = 0;
};

// One end, and all that it has under way.
class End final : private MessageSink {
 public:
  End(std::unique_ptr<Endpoint> endpoint, std::uint64_t sends, std::uint64_t receives)
      : out(sends), in(receives), endpoint_(std::move(endpoint)) {
    for (std::size_t index = 0; index < kBulkPendingMax; ++index)
      test::fill_pattern(out.piece(index), out.seed + index);
  }

  Endpoint& endpoint() { return *endpoint_; }
  void close() { endpoint_.reset(); }
  std::uint32_t published() const { return published_; }
  std::uint32_t received() const { return received_; }

  void remember() {
    endpoint_->bulk().remember(out.memory);
    endpoint_->bulk().remember(in.memory);
  }

  // Until there is no room.
  void fill_messages() {
    for (;;) {
      const std::uint32_t id = published_ + 1;
      const Status status = test::try_publish(*endpoint_, 1, id, test::pattern(payload_of(id), id));
      if (status.code() == Code::kWouldBlock) return;
      ASSERT_TRUE(status.is_ok()) << status.to_string();
      published_ = id;
    }
  }

  // As many as there may be, receives in another order than the peer sends; one more is refused.
  void post_transfers() {
    BulkPlane& bulk = endpoint_->bulk();
    std::vector<std::size_t> order(kBulkPendingMax);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::minstd_rand random(7);
    for (auto block = order.begin(); block != order.end(); block += kShuffled)
      std::shuffle(block, block + kShuffled, random);
    for (std::size_t index = 0; index < kBulkPendingMax; ++index) {
      ASSERT_TRUE(bulk.send(index, out.piece(index), out.ends[index]).is_ok());
      const std::size_t other = order[index];
      ASSERT_TRUE(bulk.receive(other, in.piece(other), in.ends[other]).is_ok());
    }
    EXPECT_EQ(bulk.send(kBulkPendingMax, out.piece(0), one_more_).code(), Code::kResourceExhausted);
    EXPECT_EQ(bulk.receive(kBulkPendingMax, in.piece(0), one_more_).code(), Code::kResourceExhausted);
    EXPECT_FALSE(one_more_.done());
  }

  void fill() {
    fill_messages();
    post_transfers();
    fill_messages();
  }

  // Once around: what a driver of an endpoint does.
  Status step(std::chrono::milliseconds most) {
    const Result<std::size_t> delivered = endpoint_->poll(*this, 64);
    if (!delivered) return delivered.status();
    const Result<std::size_t> moved = endpoint_->bulk().move_payload();
    if (!moved) return moved.status();
    if (delivered.value() + moved.value() != 0) return Status::ok();
    const Status waited = endpoint_->wait(Interest::kBoth, Deadline::after(most));
    return waited.code() == Code::kTimeout ? Status::ok() : waited;
  }

  // Until `messages` have come and all transfers are over.
  void drive(std::uint32_t messages) {
    const Deadline deadline = Deadline::after(kTestLimit);
    while (received_ < messages || !out.done() || !in.done()) {
      const Status status = step(std::chrono::milliseconds(100));
      ASSERT_TRUE(status.is_ok()) << status.to_string();
      ASSERT_FALSE(deadline.passed()) << received_ << " of " << messages << " messages";
    }
  }

  Status until_failure() {
    const Deadline deadline = Deadline::after(kTestLimit);
    while (!deadline.passed()) TF_RETURN_IF_ERROR(step(std::chrono::milliseconds(100)));
    return Status::ok();
  }

  // Everything that can be asked says the same, and nothing is left pending.
  void expect_ended_with(const Status& reason) {
    // A small send is over when the record with its bytes is published.
    const std::size_t published = out.with(Status::ok());
    EXPECT_LE(published, kPiecesMax);
    EXPECT_EQ(out.with(reason), kBulkPendingMax - published);
    EXPECT_EQ(in.with(reason), kBulkPendingMax);
    for (const Status& said :
         {endpoint_->status(), endpoint_->reserve(64).status(), endpoint_->poll(*this, 1).status(),
          endpoint_->bulk().move_payload().status(), endpoint_->wait(Interest::kBoth, Deadline::never()),
          endpoint_->bulk().send(1, out.piece(1), one_more_)})
      EXPECT_EQ(said.to_string(), reason.to_string());
    EXPECT_FALSE(one_more_.done());
  }

  void expect_payload() {
    for (std::size_t index = 0; index < kBulkPendingMax; ++index)
      ASSERT_EQ(test::find_mismatch(in.piece(index), in.seed + index), test::kNoMismatch) << index;
    EXPECT_EQ(out.with(Status::ok()), kBulkPendingMax);
    EXPECT_EQ(in.with(Status::ok()), kBulkPendingMax);
  }

  Transfers out, in;

 private:
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override {
    ++received_;
    EXPECT_EQ(header.request_id, received_);
    EXPECT_EQ(payload.size(), payload_of(received_));
    EXPECT_EQ(test::find_mismatch(payload, received_), test::kNoMismatch) << received_;
    return Status::ok();
  }

  std::unique_ptr<Endpoint> endpoint_;
  BulkCompletion one_more_;
  std::uint32_t published_ = 0;
  std::uint32_t received_ = 0;
};

class Exhaust : public testing::Test {
 protected:
  void SetUp() override {
    transport_ = make_transport(*fabric.verbs(), {});
    Result<net::Listener> listener = test::listen_tcp();
    ASSERT_TRUE(listener.is_ok());
    Result<test::EndpointPair> pair = test::connect_pair(*transport_, *listener);
    ASSERT_TRUE(pair.is_ok()) << pair.status().to_string();
    client = std::make_unique<End>(std::move(pair->client), 1, 2);
    worker = std::make_unique<End>(std::move(pair->server), 2, 1);
  }
  void TearDown() override {
    client.reset();
    worker.reset();
    EXPECT_EQ(fabric.violations(), std::vector<std::string>{});
    EXPECT_EQ(fabric.counters().rnr, 0u);
    EXPECT_EQ(fabric.live_objects(), 0u);
  }

  test::FakeFabric fabric;
  std::unique_ptr<End> client, worker;

 private:
  std::unique_ptr<net::Transport> transport_;
};

struct Setting {
  bool paused;      // the devices do nothing while queues are filled, either
  bool remembered;  // payload needs no slots, so that as many pieces as may be are announced
};
class ExhaustBoth : public Exhaust, public testing::WithParamInterface<Setting> {};

TEST_P(ExhaustBoth, EverythingArrivesOnceBothGoOn) {
  if (GetParam().remembered) {
    client->remember();
    worker->remember();
  }
  if (GetParam().paused) fabric.pause();
  for (int round = 0; round < 3; ++round) {
    if (round == 0) {
      client->fill();
      worker->fill();
    }
    if (!GetParam().paused) {
      ASSERT_TRUE(fabric.wait_idle());
    }
    client->fill_messages();  // what the device has done may have made room
    worker->fill_messages();
  }
  EXPECT_GT(client->published(), 1000u);
  EXPECT_GT(worker->published(), 1000u);
  EXPECT_EQ(client->received() + worker->received(), 0u);
  if (GetParam().paused) fabric.resume();
  std::thread serving([&] { worker->drive(client->published()); });
  client->drive(worker->published());
  serving.join();
  client->expect_payload();
  worker->expect_payload();
}

INSTANTIATE_TEST_SUITE_P(All, ExhaustBoth,
                         testing::Values(Setting{false, false}, Setting{false, true}, Setting{true, false},
                                         Setting{true, true}),
                         [](const testing::TestParamInfo<Setting>& each) {
                           return std::string(each.param.paused ? "Paused" : "Running") +
                                  (each.param.remembered ? "Remembered" : "Slots");
                         });

// Its device still answers, so that nothing but the waiter's own deadline tells.
TEST_F(Exhaust, APeerThatNeverComesBackIsGivenUpAtTheDeadline) {
  client->fill();
  worker->fill();
  ASSERT_TRUE(fabric.wait_idle());
  EXPECT_EQ(client->step(std::chrono::milliseconds(1)).code(), Code::kOk);  // takes what is there
  const Deadline deadline = Deadline::after(std::chrono::milliseconds(200));
  while (!deadline.passed()) {
    const Status status = client->step(std::chrono::milliseconds(20));
    ASSERT_TRUE(status.is_ok()) << status.to_string();
  }
  EXPECT_EQ(client->endpoint().wait(Interest::kBoth, Deadline::now()).code(), Code::kTimeout);
  EXPECT_EQ(client->endpoint().reserve(60'000).status().code(), Code::kWouldBlock);
  const Status reason(Code::kTimeout, "the worker has not polled for too long");
  client->endpoint().fail(reason);
  client->endpoint().fail({Code::kInternal, "what followed from it"});
  client->expect_ended_with(reason);
  client->close();
  // And if it comes back after all, that is a loss like any other.
  EXPECT_EQ(worker->until_failure().code(), Code::kPeerLost);
  EXPECT_TRUE(worker->out.done() && worker->in.done());
}

// Each has the other's records to fetch.
TEST_F(Exhaust, ALinkThatIsCutEndsBothWithOneError) {
  client->fill();
  worker->fill();
  ASSERT_TRUE(fabric.wait_idle());
  fabric.cut_link("fake0", "fake0");
  for (End* const end : {client.get(), worker.get()}) {
    const Status reason = end->until_failure();
    EXPECT_EQ(reason.code(), Code::kPeerLost);
    EXPECT_NE(reason.message().find("the peer does not answer"), std::string::npos) << reason.to_string();
    end->expect_ended_with(reason);
  }
}

// Nothing of the worker's has left its device: the client, which waits for room and asks nothing of its own
// device, hears of it from the worker.
TEST_F(Exhaust, AnEndThatAsksNothingOfACutLinkIsToldByTheOther) {
  client->fill();
  ASSERT_TRUE(fabric.wait_idle());
  fabric.pause();
  worker->fill();
  fabric.cut_link("fake0", "fake0");
  fabric.resume();
  const Status reason = worker->until_failure();
  EXPECT_EQ(reason.code(), Code::kPeerLost);
  worker->expect_ended_with(reason);
  EXPECT_TRUE(client->step(std::chrono::milliseconds(100)).is_ok());
  worker->close();
  const Status told = client->until_failure();
  EXPECT_EQ(told.code(), Code::kPeerLost);
  client->expect_ended_with(told);
}

// A ring of records waits at a closing end; the peer, which polls only later, gets them all.
TEST_F(Exhaust, WhatWasPublishedArrivesAlsoFromAnEndThatCloses) {
  client->fill();
  const std::uint32_t published = client->published();
  client->close();
  EXPECT_TRUE(client->out.done() && client->in.done());
  EXPECT_EQ(worker->until_failure().code(), Code::kPeerLost);
  EXPECT_EQ(worker->received(), published);
}

// --- One plane --------------------------------------------------------------------------------------------

// Payload and records share send queues: together they fill them, and never run over.
TEST_F(StreamTest, SendQueuesFullOfPayloadAndRecords) {
  open();
  fabric.pause();
  ibv_send_wr nothing{};
  unsigned payload = 0;
  std::vector<std::uint32_t> there, back;
  std::uint32_t id = 1;
  for (Plane* const plane : {pair->left.get(), pair->right.get()}) {
    nothing.opcode = IBV_WR_RDMA_WRITE;
    for (; plane->producer().may_post_payload(); ++payload)
      ASSERT_TRUE(plane->producer().post_payload(nothing).is_ok());
    nothing.opcode = IBV_WR_RDMA_READ;
    while (plane->consumer().may_post_payload()) ASSERT_TRUE(plane->consumer().post_payload(nothing).is_ok());
  }
  Status status;
  for (; status.is_ok(); ++id) {
    status = try_send(pair->left->producer(), id, 500);
    if (status.is_ok()) status = try_send(pair->right->producer(), id, 500);
  }
  ASSERT_EQ(status.code(), Code::kWouldBlock) << status.to_string();
  EXPECT_GT(fabric.counters(pair->left->facts().out_number).work_requests, kSendDepth - 2 * kSignalEvery);
  fabric.resume();
  const Deadline deadline = Deadline::after(kTestLimit);
  while (!deadline.passed() && (there.size() < id - 2 || back.size() < id - 2)) {
    ASSERT_TRUE(receive(*pair->right, there).is_ok());
    ASSERT_TRUE(receive(*pair->left, back).is_ok());
    ASSERT_TRUE(pair->left->producer().reap().is_ok() && pair->right->producer().reap().is_ok());
  }
  EXPECT_GE(there.size(), id - 2);
  EXPECT_GE(back.size(), id - 2);
  EXPECT_EQ(pair->left->producer().take_payload() + pair->right->producer().take_payload(), payload);
}

// A producer without room finds the failure by its kicks; the payload that was flushed with them is told all
// the same, since its memory is free now.
TEST_F(StreamTest, PayloadIsFlushedAlsoWhereKicksTellOfTheFailure) {
  open(1 << 12);
  Producer& producer = pair->left->producer();
  Status status;
  for (std::uint32_t id = 1; status.is_ok(); ++id) status = try_send(producer, id, 500);
  ASSERT_EQ(status.code(), Code::kWouldBlock) << status.to_string();
  ASSERT_TRUE(fabric.wait_idle());
  ASSERT_TRUE(producer.reap().is_ok() && producer.refused());
  fabric.pause();
  ibv_send_wr nothing{};
  nothing.opcode = IBV_WR_RDMA_WRITE;
  for (int count = 0; count < 2; ++count) ASSERT_TRUE(producer.post_payload(nothing).is_ok());
  pair->left->to_error();
  fabric.resume();
  ASSERT_TRUE(fabric.wait_idle());
  EXPECT_EQ(producer.take_kicks().code(), Code::kPeerLost);
  EXPECT_EQ(producer.take_payload(), 2u);
}

}  // namespace
}  // namespace tf::rdma
