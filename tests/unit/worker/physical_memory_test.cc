// SPDX-License-Identifier: Apache-2.0
// Physical memory above a runtime that ends or changes one mapping at a time, as AMD's 6.4 and ROCr 6.0 do:
// its hipMemUnmap says hipSuccess to a range of several and leaves them, its hipMemSetAccess refuses it. And
// above one where each range needs a reservation of its own, as AMD's 7.2.
#include "worker/memory/physical_memory.h"

#include <gtest/gtest.h>

#include <map>

#include "hipcore/wire/handle.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kBase = 0x4000'0000'0000;
constexpr std::uint64_t kMapped = 2 << 20;
constexpr protocol::AddressWindow kRange = {kBase, 4 * kMapped};  // of the client

// What is mapped below the class under test, by address: who may use it.
struct Mapped {
  std::size_t bytes = 0;
  unsigned long long access = 0;
};
std::map<void*, Mapped> mapped;
std::map<void*, std::size_t> reserved;  // bytes, by address
bool unmap_fails = false;

hipError_t version(int* number) {
  *number = HIP_VERSION;
  return hipSuccess;
}
hipError_t create(hipMemGenericAllocationHandle_t* handle, std::size_t, const hipMemAllocationProp*,
                  unsigned long long) {
  *handle = reinterpret_cast<hipMemGenericAllocationHandle_t>(0x1000);
  return hipSuccess;
}
hipError_t release(hipMemGenericAllocationHandle_t) { return hipSuccess; }
hipError_t map(void* address, std::size_t bytes, std::size_t, hipMemGenericAllocationHandle_t,
               unsigned long long) {
  mapped[address] = {bytes, 0};
  return hipSuccess;
}
hipError_t unmap(void* address, std::size_t bytes) {
  if (unmap_fails) return hipErrorUnknown;
  const auto found = mapped.find(address);
  if (found != mapped.end() && found->second.bytes == bytes) mapped.erase(found);
  return hipSuccess;
}
hipError_t set_access(void* address, std::size_t bytes, const hipMemAccessDesc* wish, std::size_t) {
  const auto found = mapped.find(address);
  if (found == mapped.end() || found->second.bytes != bytes) return hipErrorInvalidValue;
  found->second.access = wish->flags;
  return hipSuccess;
}
hipError_t get_access(unsigned long long* flags, const hipMemLocation*, void* address) {
  const auto found = mapped.find(address);
  if (found == mapped.end()) return hipErrorInvalidValue;
  *flags = found->second.access;
  return hipSuccess;
}

hipError_t reserve(void** address, std::size_t bytes, std::size_t, void* wanted, unsigned long long) {
  *address = wanted;
  return reserved.emplace(wanted, bytes).second ? hipSuccess : hipErrorOutOfMemory;
}
hipError_t free_reserved(void* address, std::size_t bytes) {
  const auto found = reserved.find(address);
  if (found == reserved.end() || found->second != bytes) return hipErrorInvalidValue;
  reserved.erase(found);
  return hipSuccess;
}

class OneMappingAtATime : public ::testing::Test {
 protected:
  OneMappingAtATime() {
    mapped.clear();
    reserved.clear();
    unmap_fails = false;
    vmm_.range_reserve = reserve;
    vmm_.range_free = free_reserved;
    hip_.hipRuntimeGetVersion = version;
    hip_.hipMemCreate = create;
    hip_.hipMemRelease = release;
    hip_.hipMemMap = map;
    hip_.hipMemUnmap = unmap;
    hip_.hipMemSetAccess = set_access;
    hip_.hipMemGetAccess = get_access;
    snapshot_.devices.resize(1);
    snapshot_.devices[0].total_memory = 1 << 30;
    snapshot_.reservations = {kBase, 1 << 30};
  }
  std::uint64_t handle(std::uint32_t slot) {
    return protocol::Handle(protocol::HandleKind::kMemAllocation, 1, slot).raw();
  }
  // Two mappings, side by side.
  void map_two() {
    for (std::uint32_t slot = 0; slot < 2; ++slot) {
      const std::uint64_t raw = handle(slot);
      ASSERT_EQ(memory_.create(raw, 0, kMapped, {}), hipSuccess);
      ASSERT_EQ(memory_.map(kBase + slot * kMapped, kMapped, 0, raw, kRange), hipSuccess);
    }
  }

  protocol::HipTable hip_;
  VmmFunctions vmm_;
  protocol::WorkerSnapshot snapshot_;
  OwnCalls own_calls_{nullptr};
  AddressMap addresses_;
  MemoryQuota own_{snapshot_};
  MemoryQuota foreign_{snapshot_};
  PhysicalMemory memory_{hip_, vmm_, own_calls_, snapshot_, addresses_, Quotas{own_, foreign_}};
};

TEST_F(OneMappingAtATime, SeveralAreEndedTogether) {
  map_two();
  EXPECT_EQ(mapped.size(), 2U);
  EXPECT_EQ(memory_.unmap(kBase, 2 * kMapped), hipSuccess);
  EXPECT_TRUE(mapped.empty());
}

TEST_F(OneMappingAtATime, AccessToSeveralIsChangedTogether) {
  map_two();
  const hipMemAccessDesc wish{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  EXPECT_EQ(memory_.set_access(kBase, 2 * kMapped, std::span(&wish, 1)), hipSuccess);
  for (const auto& [address, one] : mapped) EXPECT_EQ(one.access, hipMemAccessFlagsProtReadWrite);
  EXPECT_NE(addresses_.find(kBase, 2 * kMapped), nullptr);
}

TEST_F(OneMappingAtATime, WhatCannotBeEndedIsForgotten) {
  map_two();
  unmap_fails = true;
  EXPECT_EQ(memory_.unmap(kBase, 2 * kMapped), hipErrorUnknown);
  EXPECT_EQ(memory_.unmap(kBase, 2 * kMapped), hipErrorInvalidValue) << "nothing is mapped";
  EXPECT_EQ(memory_.release(handle(0)), hipSuccess);
}

TEST_F(OneMappingAtATime, PartsAreRefusedWhereTheRuntimeMapsNone) {
  vmm_.maps_parts = false;
  ASSERT_EQ(memory_.create(handle(0), 0, 2 * kMapped, {}), hipSuccess);
  EXPECT_EQ(memory_.map(kBase, kMapped, 0, handle(0), kRange), hipErrorInvalidValue);
  EXPECT_EQ(memory_.map(kBase, kMapped, kMapped, handle(0), kRange), hipErrorInvalidValue);
  EXPECT_TRUE(mapped.empty());
  EXPECT_EQ(memory_.map(kBase, 2 * kMapped, 0, handle(0), kRange), hipSuccess);
}

TEST_F(OneMappingAtATime, EachRangeHasAReservationWhileItHasMappings) {
  vmm_.ranges_apart = true;
  map_two();
  EXPECT_EQ(reserved, (std::map<void*, std::size_t>{{reinterpret_cast<void*>(kBase), kRange.bytes}}));
  ASSERT_EQ(memory_.create(handle(2), 0, kMapped, {}), hipSuccess);
  const std::uint64_t second = kBase + kRange.bytes;
  const auto map_at = [&](std::uint64_t address, const protocol::AddressWindow& range) {
    return memory_.map(address, kMapped, 0, handle(2), range);
  };
  EXPECT_EQ(map_at(second, kRange), hipErrorInvalidValue) << "not in its range";
  EXPECT_EQ(map_at(second, {second - kMapped, 4 * kMapped}), hipErrorInvalidValue) << "overlaps another one";
  EXPECT_EQ(map_at(second, {second, 1ull << 40}), hipErrorInvalidValue) << "not the client's";
  EXPECT_EQ(map_at(second, {0, 0}), hipErrorInvalidValue);
  EXPECT_EQ(reserved.size(), 1U);
  EXPECT_EQ(map_at(second, {second, kMapped}), hipSuccess);
  EXPECT_EQ(reserved.size(), 2U);
  EXPECT_EQ(memory_.unmap(kBase, kMapped), hipSuccess);
  EXPECT_EQ(reserved.size(), 2U) << "the first range has a mapping";
  EXPECT_EQ(memory_.unmap(kBase + kMapped, kMapped), hipSuccess);
  EXPECT_EQ(memory_.unmap(second, kMapped), hipSuccess);
  EXPECT_TRUE(reserved.empty());
}

}  // namespace
}  // namespace tf::worker
