// SPDX-License-Identifier: Apache-2.0
// Copies from the device whose payload is announced before the device has delivered it.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
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
  Status receive(std::uint64_t, std::span<std::byte>, BulkCompletion&) override { return Status::ok(); }
  Status discard(std::uint64_t, std::uint64_t, BulkCompletion&) override { return Status::ok(); }
  Status abort(std::uint64_t tag, std::uint32_t reason) override {
    aborted[tag] = reason;
    return Status::ok();
  }
  Result<std::size_t> move_payload() override { return std::size_t{0}; }

  bool can = true;
  std::vector<Sent> sent;
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

 private:
  void pause(unsigned) override {}
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

}  // namespace
}  // namespace tf::worker
