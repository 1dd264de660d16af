// SPDX-License-Identifier: Apache-2.0
// A runtime whose hipMemMap fails and says hipSuccess.
#include "worker/base/silent_maps.h"

#include <gtest/gtest.h>

#include <set>

namespace tf::worker {
namespace {

constexpr std::size_t kWhole = 8192;  // bytes of every handle; it maps nothing else

struct Runtime {
  std::set<void*> mapped;
  std::set<void*> with_access;
  bool knows_access_before_it_is_set = true;  // not so ROCr 6.0
};
Runtime runtime;

hipError_t map(void* address, std::size_t bytes, std::size_t offset, hipMemGenericAllocationHandle_t,
               unsigned long long) {
  if (offset != 0) return hipErrorInvalidValue;
  if (bytes == kWhole) runtime.mapped.insert(address);
  return hipSuccess;
}
hipError_t get_access(unsigned long long*, const hipMemLocation*, void* address) {
  const bool known = runtime.knows_access_before_it_is_set || runtime.with_access.contains(address);
  return runtime.mapped.contains(address) && known ? hipSuccess : hipErrorInvalidValue;
}
hipError_t set_access(void* address, std::size_t bytes, const hipMemAccessDesc* wish, std::size_t) {
  EXPECT_EQ(wish->flags, hipMemAccessFlagsProtNone) << "nobody gets access that the program did not give";
  if (bytes != kWhole || !runtime.mapped.contains(address)) return hipErrorInvalidValue;
  runtime.with_access.insert(address);
  return hipSuccess;
}

class SilentMaps : public ::testing::TestWithParam<bool> {
 protected:
  SilentMaps() {
    runtime = {.mapped = {}, .with_access = {}, .knows_access_before_it_is_set = GetParam()};
    hip_.hipMemMap = vmm_.map = map;
    hip_.hipMemGetAccess = get_access;
    hip_.hipMemSetAccess = set_access;
    hip_.hipGetDevice = [](int* device) {
      *device = 1;
      return hipSuccess;
    };
    mend_silent_maps(hip_, vmm_);
  }
  hipError_t map_at(void* address, std::size_t bytes, std::size_t offset = 0) {
    const hipError_t error = hip_.hipMemMap(address, bytes, offset, {}, 0);
    EXPECT_EQ(error, vmm_.map(address, bytes, offset, {}, 0));
    return error;
  }

  protocol::HipTable hip_;
  VmmFunctions vmm_;
  char place_ = 0;
};

TEST_P(SilentMaps, AreErrors) {
  EXPECT_EQ(map_at(&place_, kWhole / 2), hipErrorInvalidValue);
  EXPECT_EQ(map_at(&place_, kWhole / 2, kWhole / 2), hipErrorInvalidValue);
  EXPECT_EQ(map_at(&place_, kWhole), hipSuccess);
  EXPECT_FALSE(vmm_.maps_parts);
}

INSTANTIATE_TEST_SUITE_P(KnowsAccess, SilentMaps, ::testing::Bool());

}  // namespace
}  // namespace tf::worker
