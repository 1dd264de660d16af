// SPDX-License-Identifier: Apache-2.0
// Which staging slot is used next.
#include "worker/copy/staging_slots.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/unit/worker/staging_fakes.h"
#include "transport/base/status.h"

namespace tf::worker {
namespace {

bool stream_is_done = true;
int queries = 0;

hipError_t record(hipEvent_t, hipStream_t) { return hipSuccess; }
hipError_t query(hipEvent_t) {
  ++queries;
  return stream_is_done ? hipSuccess : hipErrorNotReady;
}

// Notes what it is told of memory.
class Bulk final : public BulkPlane {
 public:
  Status send(std::uint64_t, std::span<const std::byte>, BulkCompletion&) override { return Status::ok(); }
  Status receive(std::uint64_t, std::span<std::byte>, BulkCompletion&) override { return Status::ok(); }
  Status discard(std::uint64_t, std::uint64_t, BulkCompletion&) override { return Status::ok(); }
  Status abort(std::uint64_t, std::uint32_t) override { return Status::ok(); }
  void expect_device_reads(std::span<std::byte>) override { ++for_device; }
  void forget(std::span<std::byte>) override { ++forgotten; }
  Result<std::size_t> move_payload() override { return std::size_t{0}; }

  int for_device = 0;
  int forgotten = 0;
};

class Staging : public testing::Test {
 protected:
  Staging() {
    fake_staging(hip_);
    hip_.hipEventRecord = record;
    hip_.hipEventQuery = query;
    stream_is_done = true;
    queries = 0;
  }
  StagingSlots::Slot* acquire(std::size_t bytes, Reuse reuse = Reuse::kSoon) {
    hipError_t error = hipSuccess;
    StagingSlots::Slot* const slot = slots_.acquire(bytes, reuse, error);
    EXPECT_EQ(error, hipSuccess);
    return slot;
  }
  // The memory of as many slots as there are, each released before the next one is taken.
  std::set<const std::byte*> in_turn(std::size_t bytes, std::size_t count, Reuse reuse) {
    std::set<const std::byte*> seen;
    for (std::size_t each = 0; each < count; ++each) {
      StagingSlots::Slot* const slot = acquire(bytes, reuse);
      seen.insert(slot->memory().data());
      slots_.release(slot);
    }
    return seen;
  }

  protocol::HipTable hip_{};
  OwnCalls own_calls_{{}};
  Bulk bulk_;
  StagingSlots slots_{hip_, own_calls_, bulk_, DeviceMemory::kBehindBus};
};

// A device writes slowly to what processors have read just before.
TEST_F(Staging, WhatADeviceWritesIsUsedInTurn) {
  EXPECT_EQ(in_turn(kMediumSlotBytes, kMediumSlots, Reuse::kLate).size(), kMediumSlots);
  EXPECT_EQ(in_turn(kLargeSlotBytes, kLargeSlots, Reuse::kLate).size(), kLargeSlots);
  EXPECT_EQ(in_turn(kSmallSlotBytes, kSmallSlots, Reuse::kLate).size(), 1U) << "these stay in the caches";
}

TEST_F(Staging, WhatProcessorsFillIsUsedAgainSoon) {
  EXPECT_EQ(in_turn(kMediumSlotBytes, kMediumSlots, Reuse::kSoon).size(), 1U);
  std::set<const std::byte*> seen;
  for (std::size_t each = 0; each < 2 * kMediumSlots; ++each) {
    StagingSlots::Slot* const slot = acquire(kMediumSlotBytes);
    seen.insert(slot->memory().data());
    ASSERT_EQ(slots_.record(slot, nullptr, 0), hipSuccess);
    slots_.release_when_done(slot);
  }
  EXPECT_LE(seen.size(), 17U) << "copies that are done make room for the next ones";
  EXPECT_LE(queries, static_cast<int>(2 * kMediumSlots)) << "each is a call of the runtime";
}

TEST_F(Staging, TheSmallestSlotThatHoldsTheBytes) {
  EXPECT_EQ(acquire(1)->memory().size(), kSmallSlotBytes);
  EXPECT_EQ(acquire(kSmallSlotBytes + 1)->memory().size(), kMediumSlotBytes);
  EXPECT_EQ(acquire(kMediumSlotBytes + 1)->memory().size(), kLargeSlotBytes);
}

TEST_F(Staging, SlotsInUseAreNotGivenAgain) {
  for (std::size_t each = 0; each < kLargeSlots; ++each) {
    StagingSlots::Slot* const slot = acquire(kLargeSlotBytes);
    ASSERT_NE(slot, nullptr) << each;
    ASSERT_EQ(slots_.record(slot, nullptr, 0), hipSuccess);
    slots_.release_when_done(slot);
  }
  stream_is_done = false;
  EXPECT_EQ(acquire(kLargeSlotBytes), nullptr);
  for (std::size_t each = 0; each < kMediumSlots / 2; ++each) {
    StagingSlots::Slot* const slot = acquire(kMediumSlotBytes);
    ASSERT_EQ(slots_.record(slot, nullptr, 0), hipSuccess);
    slots_.release_when_done(slot);
  }
  queries = 0;
  EXPECT_NE(acquire(kMediumSlotBytes), nullptr);
  EXPECT_EQ(queries, 1) << "a stream that stands still is not asked for each of its slots";
  stream_is_done = true;
  queries = 0;
  EXPECT_NE(acquire(kLargeSlotBytes), nullptr);
  EXPECT_LT(queries, static_cast<int>(kLargeSlots)) << "each is a call of the runtime";
}

// Otherwise a long copy would have the device write to what lanes have just read.
TEST_F(Staging, ThereAreMoreWhenFewRest) {
  std::set<const std::byte*> seen;
  for (std::size_t each = 0; each < 2 * kLargeSlots; ++each) {
    StagingSlots::Slot* const slot = acquire(kLargeSlotBytes, Reuse::kLate);
    ASSERT_NE(slot, nullptr) << each;
    seen.insert(slot->memory().data());
  }
  EXPECT_EQ(seen.size(), 2 * kLargeSlots);
  EXPECT_EQ(bulk_.for_device, 2) << "the transport knows of all";
  EXPECT_EQ(acquire(kLargeSlotBytes, Reuse::kLate), nullptr);
}

TEST_F(Staging, WhoeverHoldsFewSlotsMakesNoMore) {
  for (std::size_t each = 0; each < 4; ++each) (void)acquire(kLargeSlotBytes, Reuse::kLate);
  EXPECT_EQ(bulk_.for_device, 1);
  for (std::size_t each = 4; each < kLargeSlots; ++each) (void)acquire(kLargeSlotBytes);
  EXPECT_EQ(acquire(kLargeSlotBytes), nullptr) << "nor what processors fill";
}

TEST_F(Staging, OnTheHostThereAreNeverMore) {
  StagingSlots on_host(hip_, own_calls_, bulk_, DeviceMemory::kOnHost);
  hipError_t error = hipSuccess;
  for (std::size_t each = 0; each < kLargeSlots; ++each)
    EXPECT_NE(on_host.acquire(kLargeSlotBytes, Reuse::kLate, error), nullptr);
  EXPECT_EQ(on_host.acquire(kLargeSlotBytes, Reuse::kLate, error), nullptr);
  EXPECT_EQ(error, hipSuccess);
}

TEST_F(Staging, WithoutMoreMemoryTheFirstOnesDo) {
  (void)acquire(kLargeSlotBytes, Reuse::kLate);
  static int asked;
  asked = 0;
  hip_.hipHostMalloc = [](void**, std::size_t, unsigned) {
    ++asked;
    return hipErrorOutOfMemory;
  };
  for (std::size_t each = 1; each < kLargeSlots; ++each)
    EXPECT_NE(acquire(kLargeSlotBytes, Reuse::kLate), nullptr);
  EXPECT_EQ(acquire(kLargeSlotBytes, Reuse::kLate), nullptr);
  EXPECT_EQ(asked, 1);
}

TEST_F(Staging, TheTransportIsToldWhatADeviceReads) {
  (void)acquire(kLargeSlotBytes);
  EXPECT_EQ(bulk_.for_device, 1);
  Bulk other;
  {
    StagingSlots on_host(hip_, own_calls_, other, DeviceMemory::kOnHost);
    hipError_t error = hipSuccess;
    EXPECT_NE(on_host.acquire(1, Reuse::kSoon, error), nullptr);
  }
  EXPECT_EQ(other.for_device, 0);
  EXPECT_EQ(other.forgotten, 1);
}

}  // namespace
}  // namespace tf::worker
