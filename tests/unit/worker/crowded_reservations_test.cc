// SPDX-License-Identifier: Apache-2.0
// A runtime that changes nobody's access in a reservation with several mappings.
#include "worker/base/crowded_reservations.h"

#include <gtest/gtest.h>

#include <map>

namespace tf::worker {
namespace {

constexpr std::size_t kWindow = 1 << 20;
char* const kBase = reinterpret_cast<char*>(0x4000'0000'0000);

struct Reservations {
  std::map<char*, std::size_t> reserved;
  std::map<char*, std::size_t> mapped;

  bool is_free(char* address, std::size_t bytes) const {
    for (const auto& [begin, length] : reserved)
      if (begin < address + bytes && address < begin + length) return false;
    return true;
  }
  std::size_t mappings_in(char* begin, std::size_t bytes) const {
    std::size_t count = 0;
    for (const auto& entry : mapped) count += entry.first >= begin && entry.first < begin + bytes ? 1 : 0;
    return count;
  }
};
Reservations reservations;

hipError_t reserve(void** address, std::size_t bytes, std::size_t, void* wanted, unsigned long long) {
  auto* const at = static_cast<char*>(wanted);
  *address = reservations.is_free(at, bytes) ? at : at + (std::uint64_t{1} << 40);
  reservations.reserved[static_cast<char*>(*address)] = bytes;
  return hipSuccess;
}
hipError_t free_range(void* address, std::size_t bytes) {
  const auto found = reservations.reserved.find(static_cast<char*>(address));
  if (found == reservations.reserved.end() || found->second != bytes) return hipErrorInvalidValue;
  reservations.reserved.erase(found);
  return hipSuccess;
}
hipError_t map_there(void* address, std::size_t bytes, std::size_t, hipMemGenericAllocationHandle_t handle,
                     unsigned long long) {
  if (handle == nullptr) return hipErrorInvalidValue;
  reservations.mapped[static_cast<char*>(address)] = bytes;
  return hipSuccess;
}
hipError_t unmap_there(void* address, std::size_t) {
  return reservations.mapped.erase(static_cast<char*>(address)) == 1 ? hipSuccess : hipErrorInvalidValue;
}
hipError_t set_access_there(void* address, std::size_t, const hipMemAccessDesc*, std::size_t) {
  for (const auto& [begin, length] : reservations.reserved)
    if (address >= begin && address < begin + length)
      return reservations.mappings_in(begin, length) == 1 ? hipSuccess : hipErrorInvalidValue;
  return hipErrorInvalidValue;
}

template <int kVersion>
VmmFunctions mended() {
  protocol::HipTable hip;
  hip.hipRuntimeGetVersion = [](int* version) {
    *version = kVersion;
    return hipSuccess;
  };
  VmmFunctions vmm;
  vmm.range_reserve = vmm.address_reserve = reserve;
  vmm.range_free = vmm.address_free = free_range;
  vmm.create = [](hipMemGenericAllocationHandle_t*, std::size_t, const hipMemAllocationProp*,
                  unsigned long long) { return hipSuccess; };
  vmm.release = [](hipMemGenericAllocationHandle_t) { return hipSuccess; };
  vmm.map = map_there;
  vmm.unmap = unmap_there;
  vmm.set_access = set_access_there;
  vmm.granularity = [](std::size_t*, const hipMemAllocationProp*, hipMemAllocationGranularity_flags) {
    return hipSuccess;
  };
  mend_crowded_reservations(hip, vmm);
  return vmm;
}

TEST(CrowdedReservations, AreNone) {
  reservations = {};
  const VmmFunctions vmm = mended<70'253'211>();
  EXPECT_TRUE(vmm.ranges_apart);
  const auto memory = reinterpret_cast<hipMemGenericAllocationHandle_t>(0x1000);
  void* window = nullptr;
  ASSERT_EQ(vmm.address_reserve(&window, kWindow, 0, kBase, 0), hipSuccess);
  ASSERT_EQ(window, kBase);
  for (char* const lease : {kBase, kBase + 4096}) {
    ASSERT_EQ(vmm.map(lease, 4096, 0, memory, 0), hipSuccess);
    EXPECT_EQ(vmm.set_access(lease, 4096, nullptr, 1), hipSuccess);
  }
  EXPECT_EQ(reservations.reserved.size(), 2U);
  EXPECT_EQ(vmm.map(kBase + 8192, 4096, 0, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(vmm.map(kBase, 4096, 0, memory, 0), hipErrorOutOfMemory) << "somebody is there";
  EXPECT_EQ(reservations.reserved.size(), 2U);
  for (char* const lease : {kBase, kBase + 4096}) EXPECT_EQ(vmm.unmap(lease, 4096), hipSuccess);
  EXPECT_TRUE(reservations.reserved.empty());
  EXPECT_EQ(vmm.address_free(window, kWindow), hipSuccess);
}

TEST(CrowdedReservations, AreThoseOfHip6) {
  reservations = {};
  const VmmFunctions vmm = mended<60'443'484>();
  EXPECT_FALSE(vmm.ranges_apart);
  void* window = nullptr;
  ASSERT_EQ(vmm.address_reserve(&window, kWindow, 0, kBase, 0), hipSuccess);
  EXPECT_EQ(reservations.reserved.size(), 1U);
  EXPECT_EQ(vmm.map, map_there);
}

}  // namespace
}  // namespace tf::worker
