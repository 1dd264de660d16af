// SPDX-License-Identifier: Apache-2.0
// Copies through staging slots: what is announced before the device has delivered it, and how much is under
// way while lanes keep what they moved in their caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "tests/unit/worker/staging_fakes.h"
#include "transport/loopback.h"
#include "worker/copy/slot_copies.h"

namespace tf::worker {
namespace {

constexpr std::size_t kQuarter = kLargeSlotBytes / 4;
constexpr std::size_t kThird = 344 << 10;  // of a large slot, in pages
constexpr std::uint64_t kTag = 9;

// The device: copies at once, and has passed an event when the test says so.
struct Device {
  std::deque<hipEvent_t> recorded;
  std::map<hipEvent_t, hipError_t> states;
  int copies_allowed = 100;
  bool passes_at_once = false;
  std::function<void()> copied;

  void pass(std::size_t index, hipError_t state = hipSuccess) { states[recorded.at(index)] = state; }
};
Device* device = nullptr;

hipError_t record(hipEvent_t event, hipStream_t) {
  device->recorded.push_back(event);
  device->states[event] = device->passes_at_once ? hipSuccess : hipErrorNotReady;
  return hipSuccess;
}
hipError_t query(hipEvent_t event) { return device->states.at(event); }
hipError_t query_stream(hipStream_t) { return hipSuccess; }
hipError_t copy(void* target, const void* source, std::size_t bytes, hipMemcpyKind, hipStream_t) {
  if (device->copies_allowed-- <= 0) return hipErrorInvalidValue;
  std::memcpy(target, source, bytes);
  if (device->copied) device->copied();
  return hipSuccess;
}

// Notes what is sent, and ends no transfer by itself.
class Bulk final : public BulkPlane {
 public:
  struct Sent {
    std::span<const std::byte> source;
    const Filling* filling = nullptr;
    BulkCompletion* completion = nullptr;
  };
  struct Receiving {
    std::span<std::byte> target;
    BulkCompletion* completion = nullptr;
  };
  Status send(std::uint64_t, std::span<const std::byte> source, BulkCompletion& completion) override {
    sent.push_back({source, nullptr, &completion});
    return Status::ok();
  }
  bool can_send_filling(std::size_t bytes) const override { return can && bytes >= kQuarter; }
  Status send_filling(std::uint64_t, std::span<const std::byte> source, const Filling& filling,
                      BulkCompletion& completion) override {
    sent.push_back({source, &filling, &completion});
    return Status::ok();
  }
  void filled() override { ++told; }
  Status receive(std::uint64_t, std::span<std::byte> target, BulkCompletion& completion) override {
    receiving.push_back({target, &completion});
    return Status::ok();
  }
  // The oldest receive ends: its bytes are all `value`.
  void arrive(std::byte value) {
    std::ranges::fill(receiving.front().target, value);
    receiving.front().completion->complete(Status::ok());
    receiving.pop_front();
  }
  Status discard(std::uint64_t, std::uint64_t, BulkCompletion&) override { return Status::ok(); }
  Status abort(std::uint64_t tag, std::uint32_t reason) override {
    aborted[tag] = reason;
    return Status::ok();
  }
  unsigned lanes() const override { return lane_count; }
  bool streams(std::size_t bytes) const override { return bytes <= streamed_max; }
  Result<std::size_t> move_payload() override { return std::size_t{0}; }

  bool can = true;
  unsigned lane_count = 1;
  std::size_t streamed_max = 0;
  std::vector<Sent> sent;
  std::deque<Receiving> receiving;
  int told = 0;
  std::map<std::uint64_t, std::uint32_t> aborted;
};

class Alive final : public Life {
 public:
  void end(Status reason) override {
    ADD_FAILURE() << reason.to_string();
    note_end();
  }
  void drain() override {}
  std::function<void()> paused;  // what happens while the executor waits

 private:
  void pause(unsigned round) override {
    if (round > 100) return end({Code::kInternal, "waits for ever"});
    if (paused) paused();
  }
};

class Ahead : public testing::Test {
 protected:
  Ahead() {
    device = &device_;
    fake_staging(hip_);
    hip_.hipEventRecord = record;
    hip_.hipEventQuery = query;
    hip_.hipStreamQuery = query_stream;
    hip_.hipMemcpyAsync = copy;
    for (std::size_t at = 0; at < memory_.size(); ++at) memory_[at] = static_cast<std::byte>(at * 7 >> 3);
  }
  hipError_t from_device(std::size_t bytes) {
    return copies_.from_device(graph::line(0, graph::address_of(memory_.data()), bytes), {}, kTag);
  }

  Device device_;
  // How many pieces have come when the device gets each of a line of `pieces`, on memory behind a bus or not.
  std::vector<std::size_t> come_before_copies(std::size_t pieces, DeviceMemory memory) {
    std::vector<std::byte> target(pieces * kLargeSlotBytes);
    std::vector<std::size_t> counts;
    std::size_t come = 0;
    life_.paused = [&] {
      if (bulk_.receiving.empty()) return;
      bulk_.arrive(static_cast<std::byte>(++come));
    };
    device_.copied = [&] { counts.push_back(come); };
    device_.passes_at_once = true;
    device_.copies_allowed = static_cast<int>(pieces);
    SlotCopies copies{hip_, own_calls_, bulk_, life_, mover_, arrays_, memory};
    EXPECT_EQ(copies.to_device(graph::line(graph::address_of(target.data()), 0, target.size()), {}, kTag),
              hipSuccess);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const std::vector<std::byte> expected(kLargeSlotBytes, static_cast<std::byte>(piece + 1));
      EXPECT_EQ(std::memcmp(target.data() + piece * kLargeSlotBytes, expected.data(), kLargeSlotBytes), 0)
          << piece;
    }
    return counts;
  }
  std::vector<std::byte> memory_ = std::vector<std::byte>(3 * kLargeSlotBytes);
  protocol::HipTable hip_{};
  OwnCalls own_calls_{{}};
  Bulk bulk_;
  Alive life_;
  std::pair<std::unique_ptr<Endpoint>, std::unique_ptr<Endpoint>> ends_ = make_loopback_pair();
  Mover mover_{*ends_.first, life_};
  protocol::WorkerSnapshot snapshot_;
  MemoryQuota quota_{snapshot_};
  Arrays arrays_{hip_, own_calls_, quota_};
  SlotCopies copies_{hip_, own_calls_, bulk_, life_, mover_, arrays_, DeviceMemory::kBehindBus};
};

TEST_F(Ahead, APieceIsSentAsFarAsTheDeviceHasDelivered) {
  ASSERT_EQ(from_device(kLargeSlotBytes), hipSuccess);
  ASSERT_EQ(device_.recorded.size(), 3U);
  ASSERT_EQ(bulk_.sent.size(), 1U);
  const Bulk::Sent sent = bulk_.sent.front();
  ASSERT_NE(sent.filling, nullptr);
  EXPECT_EQ(sent.source.size(), kLargeSlotBytes);
  copies_.progress();
  EXPECT_EQ(sent.filling->reached(), 0U);
  EXPECT_EQ(bulk_.told, 0);
  device_.pass(0);
  copies_.progress();
  EXPECT_EQ(sent.filling->reached(), kThird);
  device_.pass(2);
  copies_.progress();
  EXPECT_EQ(sent.filling->reached(), kThird) << "in order";
  device_.pass(1);
  copies_.progress();
  EXPECT_EQ(sent.filling->reached(), kLargeSlotBytes);
  EXPECT_EQ(bulk_.told, 2);
  EXPECT_EQ(std::memcmp(sent.source.data(), memory_.data(), kLargeSlotBytes), 0);
  copies_.progress();
  EXPECT_TRUE(copies_.pending()) << "its slot is in use";
  sent.completion->complete(Status::ok());
  copies_.progress();
  EXPECT_FALSE(copies_.pending());
}

// As a slow runtime does: the first part is there before the last one is ordered.
TEST_F(Ahead, WhatIsThereWhileOthersAreOrderedIsPassedOn) {
  device_.passes_at_once = true;
  ASSERT_EQ(from_device(kLargeSlotBytes), hipSuccess);
  EXPECT_EQ(bulk_.told, 2) << "the second part tells of the first, too";
  EXPECT_EQ(bulk_.sent.at(0).filling->reached(), kLargeSlotBytes);
}

TEST_F(Ahead, OnlyTheFirstPieceOfALongCopyIs) {
  ASSERT_EQ(from_device(3 * kLargeSlotBytes), hipSuccess);
  ASSERT_EQ(bulk_.sent.size(), 1U);
  ASSERT_EQ(device_.recorded.size(), 5U);
  device_.pass(3);
  copies_.progress();
  EXPECT_EQ(bulk_.sent.size(), 1U) << "in the order of the tag";
  for (std::size_t part = 0; part < 3; ++part) device_.pass(part);
  copies_.progress();
  ASSERT_EQ(bulk_.sent.size(), 2U);
  EXPECT_EQ(bulk_.sent[1].filling, nullptr);
  EXPECT_EQ(std::memcmp(bulk_.sent[1].source.data(), memory_.data() + kLargeSlotBytes, kLargeSlotBytes), 0);
}

TEST_F(Ahead, WithoutATransportForItQuartersAreSentWhenTheyAreThere) {
  bulk_.can = false;
  ASSERT_EQ(from_device(kLargeSlotBytes), hipSuccess);
  EXPECT_TRUE(bulk_.sent.empty());
  ASSERT_EQ(device_.recorded.size(), 4U);
  device_.pass(0);
  copies_.progress();
  ASSERT_EQ(bulk_.sent.size(), 1U);
  EXPECT_EQ(bulk_.sent.front().source.size(), kQuarter);
}

TEST_F(Ahead, WorkThatFailsStopsThePieceAndAbortsTheTag) {
  ASSERT_EQ(from_device(kLargeSlotBytes), hipSuccess);
  const Bulk::Sent sent = bulk_.sent.at(0);
  device_.pass(0);
  device_.pass(1, hipErrorLaunchFailure);
  copies_.progress();
  EXPECT_EQ(bulk_.aborted[kTag], static_cast<std::uint32_t>(hipErrorLaunchFailure));
  EXPECT_TRUE(sent.filling->is_stopped());
  EXPECT_LE(sent.filling->reached(), kThird);
  EXPECT_TRUE(copies_.pending());
  sent.completion->complete(Status::ok());
  copies_.progress();
  EXPECT_FALSE(copies_.pending());
}

TEST_F(Ahead, APartThatIsRefusedStopsThePieceWhenTheDeviceIsDone) {
  device_.copies_allowed = 2;
  EXPECT_EQ(from_device(kLargeSlotBytes), hipErrorInvalidValue);
  const Bulk::Sent sent = bulk_.sent.at(0);
  EXPECT_EQ(bulk_.aborted[kTag], static_cast<std::uint32_t>(hipErrorInvalidValue));
  copies_.progress();
  EXPECT_FALSE(sent.filling->is_stopped()) << "the device may write to the slot";
  device_.pass(0);
  device_.pass(1);
  copies_.progress();
  EXPECT_TRUE(sent.filling->is_stopped());
  sent.completion->complete(Status::ok());
  copies_.progress();
  EXPECT_FALSE(copies_.pending());
}

TEST_F(Ahead, AFirstPartThatIsRefusedAnnouncesNothing) {
  device_.copies_allowed = 0;
  EXPECT_EQ(from_device(kLargeSlotBytes), hipErrorInvalidValue);
  EXPECT_TRUE(bulk_.sent.empty());
  EXPECT_EQ(bulk_.aborted.count(kTag), 1U);
  EXPECT_FALSE(copies_.pending());
}

TEST_F(Ahead, ALongCopyGivesTheDeviceWhatHasLeftTheLanesCaches) {
  bulk_.lane_count = 6;
  const std::vector<std::size_t> come = come_before_copies(40, DeviceMemory::kBehindBus);
  ASSERT_EQ(come.size(), 40U);
  for (std::size_t piece = 0; piece < 24; ++piece) EXPECT_EQ(come[piece], piece + 7) << piece;
  EXPECT_EQ(come[38], 40U) << "the last but one waits for the last";
  EXPECT_EQ(come[34], 38U) << "ever less at the end";
}

TEST_F(Ahead, WhatIsStreamedOrOneLanesOrNotBehindABusGoesToTheDeviceAtOnce) {
  const auto at_once = [](const std::vector<std::size_t>& come) {
    bool all = come.size() == 20;
    for (std::size_t piece = 0; piece < come.size(); ++piece) all = all && come[piece] == piece + 1;
    return all;
  };
  EXPECT_TRUE(at_once(come_before_copies(20, DeviceMemory::kBehindBus))) << "one lane";
  bulk_.lane_count = 6;
  EXPECT_TRUE(at_once(come_before_copies(20, DeviceMemory::kOnHost)));
  bulk_.lane_count = 16;
  EXPECT_TRUE(at_once(come_before_copies(20, DeviceMemory::kBehindBus))) << "all slots are filled by lanes";
  bulk_.lane_count = 6;
  bulk_.streamed_max = 20 * kLargeSlotBytes;
  EXPECT_TRUE(at_once(come_before_copies(20, DeviceMemory::kBehindBus)));
}

TEST_F(Ahead, ACopyFromTheDeviceHasNoMoreUnderWayThanLanesCanCarry) {
  std::vector<std::byte> source(20 * kLargeSlotBytes);
  for (std::size_t at = 0; at < source.size(); ++at) source[at] = static_cast<std::byte>(at >> 20);
  for (const auto& [lanes, pieces] : {std::pair<unsigned, std::size_t>{1, 10}, {8, 12}, {16, 14}}) {
    Bulk bulk;
    bulk.can = false;
    bulk.lane_count = lanes;
    SlotCopies copies{hip_, own_calls_, bulk, life_, mover_, arrays_, DeviceMemory::kBehindBus};
    std::size_t left = 0;
    std::size_t ordered = 0;
    std::size_t most = 0;
    device_.copies_allowed = 20;
    device_.passes_at_once = true;
    device_.copied = [&] { most = std::max(most, ++ordered); };
    life_.paused = [&] {
      copies.progress();
      if (bulk.sent.empty()) return;
      const Bulk::Sent first = bulk.sent.front();
      EXPECT_EQ(std::memcmp(first.source.data(), source.data() + left, first.source.size()), 0) << left;
      left += first.source.size();
      first.completion->complete(Status::ok());
      bulk.sent.erase(bulk.sent.begin());
      copies.progress();
      --ordered;
    };
    EXPECT_EQ(copies.from_device(graph::line(0, graph::address_of(source.data()), source.size()), {}, kTag),
              hipSuccess);
    EXPECT_EQ(most, pieces) << lanes << " lanes";
    for (const Bulk::Sent& each : bulk.sent) each.completion->complete(Status::ok());
    while (copies.pending()) {
      copies.progress();
      for (const Bulk::Sent& each : bulk.sent)
        if (!each.completion->done()) each.completion->complete(Status::ok());
    }
  }
}

}  // namespace
}  // namespace tf::worker
