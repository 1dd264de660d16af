// SPDX-License-Identifier: Apache-2.0
// Stream-ordered memory and pools.
#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

bool pools_supported() {
  int supported = 0;
  return hipDeviceGetAttribute(&supported, hipDeviceAttributeMemoryPoolsSupported, 0) == hipSuccess &&
         supported;
}

TEST(Pool, AllocateUseFree) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  TestStream stream;
  for (int round = 0; round < 20; ++round) {
    void* pointer = nullptr;
    HIP_OK(hipMallocAsync(&pointer, 100000, stream));
    HIP_OK(hipMemsetAsync(pointer, round, 100000, stream));
    unsigned char back = 0;
    HIP_OK(hipMemcpyAsync(&back, static_cast<char*>(pointer) + 99999, 1, hipMemcpyDeviceToHost, stream));
    HIP_OK(hipFreeAsync(pointer, stream));
    HIP_OK(hipStreamSynchronize(stream));
    EXPECT_EQ(back, round);
  }
}

TEST(Pool, BadArgumentsAreRefused) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  TestStream stream;
  void* pointer = nullptr;
  EXPECT_EQ(hipMallocAsync(static_cast<void**>(nullptr), 10, stream), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocAsync(&pointer, SIZE_MAX / 4, stream), hipErrorOutOfMemory);
  int on_stack = 0;
  EXPECT_EQ(hipFreeAsync(&on_stack, stream), hipErrorInvalidValue);
  HIP_OK(hipMallocAsync(&pointer, 10, stream));
  HIP_OK(hipFreeAsync(pointer, stream));
  EXPECT_EQ(hipFreeAsync(pointer, stream), hipErrorInvalidValue) << "freed twice";
}

TEST(Pool, AsyncMemoryMayBeFreedPlainly) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  void* pointer = nullptr;
  HIP_OK(hipMallocAsync(&pointer, 5000, nullptr));
  HIP_OK(hipFree(pointer));
}

TEST(Pool, AttributesCount) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  hipMemPoolProps props = {};
  props.allocType = hipMemAllocationTypePinned;
  props.location = {hipMemLocationTypeDevice, 0};
  hipMemPool_t pool = nullptr;
  HIP_OK(hipMemPoolCreate(&pool, &props));
  std::uint64_t threshold = UINT64_MAX;
  HIP_OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
  void* pointer = nullptr;
  HIP_OK(hipMallocFromPoolAsync(&pointer, 1 << 20, pool, nullptr));
  std::uint64_t used = 0;
  std::uint64_t reserved = 0;
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  EXPECT_GE(used, std::uint64_t{1} << 20);
  HIP_OK(hipFreeAsync(pointer, nullptr));
  HIP_OK(hipStreamSynchronize(nullptr));
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0u);
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReservedMemCurrent, &reserved));
  EXPECT_GE(reserved, std::uint64_t{1} << 20) << "kept below the threshold";
  HIP_OK(hipMemPoolTrimTo(pool, 0));
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReservedMemCurrent, &reserved));
  EXPECT_EQ(reserved, 0u);
  HIP_OK(hipMemPoolDestroy(pool));
  EXPECT_NE(hipMemPoolDestroy(pool), hipSuccess);
}

TEST(Pool, AccessIsForAsManyDevicesAsThereAre) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  hipMemPoolProps props = {};
  props.allocType = hipMemAllocationTypePinned;
  props.location = {hipMemLocationTypeDevice, 0};
  hipMemPool_t pool = nullptr;
  HIP_OK(hipMemPoolCreate(&pool, &props));
  const auto devices = static_cast<std::size_t>(device_count());
  const std::vector<hipMemAccessDesc> access(devices + 1, {props.location, hipMemAccessFlagsProtReadWrite});
  EXPECT_EQ(hipMemPoolSetAccess(pool, access.data(), devices), hipSuccess);
  EXPECT_EQ(hipMemPoolSetAccess(pool, access.data(), devices + 1), hipErrorInvalidDevice);
  EXPECT_EQ(hipMemPoolSetAccess(pool, nullptr, devices + 1), hipErrorInvalidValue);
  HIP_OK(hipMemPoolDestroy(pool));
}

TEST(Pool, DefaultAndCurrent) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  hipMemPool_t first = nullptr;
  hipMemPool_t current = nullptr;
  HIP_OK(hipDeviceGetDefaultMemPool(&first, 0));
  HIP_OK(hipDeviceGetMemPool(&current, 0));
  EXPECT_EQ(first, current);
  HIP_OK(hipDeviceSetMemPool(0, first));
  EXPECT_NE(hipMemPoolDestroy(first), hipSuccess) << "the default pool stays";
}

}  // namespace
}  // namespace tf::api_test
