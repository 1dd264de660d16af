// SPDX-License-Identifier: Apache-2.0
// Physical memory above a runtime that ends or changes one mapping at a time, as AMD's 6.4 and ROCr 6.0 do:
// it answers hipSuccess to a range of several, and leaves them.
#include "worker/memory/physical_memory.h"

#include <gtest/gtest.h>

#include <map>

#include "hipcore/wire/handle.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kBase = 0x4000'0000'0000;
constexpr std::uint64_t kMapped = 2 << 20;

// What is mapped below the class under test, by address: who may use it.
struct Mapped {
  std::size_t bytes = 0;
  unsigned long long access = 0;
};
std::map<void*, Mapped> mapped;

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

class OneMappingAtATime : public ::testing::Test {
 protected:
  OneMappingAtATime() {
    mapped.clear();
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
  // Two mappings, side by side.
  void map_two() {
    for (std::uint32_t slot = 0; slot < 2; ++slot) {
      const std::uint64_t raw = protocol::Handle(protocol::HandleKind::kMemAllocation, 1, slot).raw();
      ASSERT_EQ(memory_.create(raw, 0, kMapped, {}), hipSuccess);
      ASSERT_EQ(memory_.map(kBase + slot * kMapped, kMapped, 0, raw), hipSuccess);
    }
  }

  protocol::HipTable hip_;
  protocol::WorkerSnapshot snapshot_;
  OwnCalls own_calls_{nullptr};
  AddressMap addresses_;
  MemoryQuota own_{snapshot_};
  MemoryQuota foreign_{snapshot_};
  PhysicalMemory memory_{hip_, own_calls_, snapshot_, addresses_, Quotas{own_, foreign_}};
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

}  // namespace
}  // namespace tf::worker
