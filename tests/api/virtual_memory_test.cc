// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: reserve, create, map, use, unmap.
#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

class VirtualMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    prop_.type = hipMemAllocationTypePinned;
    prop_.location = {hipMemLocationTypeDevice, 0};
    const hipError_t status =
        hipMemGetAllocationGranularity(&granularity_, &prop_, hipMemAllocationGranularityMinimum);
    // Natively that would be a failure: the CPU runtime has it.
    if (is_remote() && status == hipErrorNotSupported)
      GTEST_SKIP() << "remote: virtual memory management is not carried yet";
    ASSERT_EQ(status, hipSuccess);
    ASSERT_GT(granularity_, 0u);
  }
  hipError_t allow(void* pointer, std::size_t bytes) {
    hipMemAccessDesc access = {};
    access.location = prop_.location;
    access.flags = hipMemAccessFlagsProtReadWrite;
    return hipMemSetAccess(pointer, bytes, &access, 1);
  }

  hipMemAllocationProp prop_ = {};
  std::size_t granularity_ = 0;
};

TEST_F(VirtualMemory, MapUseUnmap) {
  const std::size_t bytes = 2 * granularity_;
  void* base = nullptr;
  HIP_OK(hipMemAddressReserve(&base, bytes, 0, nullptr, 0));
  hipMemGenericAllocationHandle_t first = nullptr;
  hipMemGenericAllocationHandle_t second = nullptr;
  HIP_OK(hipMemCreate(&first, granularity_, &prop_, 0));
  HIP_OK(hipMemCreate(&second, granularity_, &prop_, 0));
  void* const half = static_cast<char*>(base) + granularity_;
  HIP_OK(hipMemMap(base, granularity_, 0, first, 0));
  HIP_OK(hipMemMap(half, granularity_, 0, second, 0));
  HIP_OK(allow(base, bytes));
  HIP_OK(hipMemset(base, 5, bytes));  // across the seam
  std::vector<unsigned char> back(bytes);
  HIP_OK(hipMemcpy(back.data(), base, bytes, hipMemcpyDeviceToHost));
  EXPECT_TRUE(back == std::vector<unsigned char>(bytes, 5));
  EXPECT_EQ(hipMemset(half, 5, granularity_ + 1), hipErrorInvalidValue) << "past the mappings";
  HIP_OK(hipMemUnmap(base, bytes));
  EXPECT_NE(hipMemset(base, 5, 16), hipSuccess) << "not mapped any more";
  HIP_OK(hipMemRelease(first));
  HIP_OK(hipMemRelease(second));
  EXPECT_NE(hipMemRelease(second), hipSuccess);
  HIP_OK(hipMemAddressFree(base, bytes));
}

TEST_F(VirtualMemory, ContentsFollowTheHandle) {
  void* first = nullptr;
  void* second = nullptr;
  HIP_OK(hipMemAddressReserve(&first, granularity_, 0, nullptr, 0));
  HIP_OK(hipMemAddressReserve(&second, granularity_, 0, nullptr, 0));
  hipMemGenericAllocationHandle_t handle = nullptr;
  HIP_OK(hipMemCreate(&handle, granularity_, &prop_, 0));
  HIP_OK(hipMemMap(first, granularity_, 0, handle, 0));
  HIP_OK(allow(first, granularity_));
  HIP_OK(hipMemset(first, 77, granularity_));
  HIP_OK(hipMemUnmap(first, granularity_));
  HIP_OK(hipMemMap(second, granularity_, 0, handle, 0));
  HIP_OK(allow(second, granularity_));
  unsigned char back = 0;
  HIP_OK(hipMemcpy(&back, second, 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, 77);
  HIP_OK(hipMemUnmap(second, granularity_));
  HIP_OK(hipMemRelease(handle));
  HIP_OK(hipMemAddressFree(first, granularity_));
  HIP_OK(hipMemAddressFree(second, granularity_));
}

TEST_F(VirtualMemory, RequestedAddress) {
  void* probe = nullptr;
  HIP_OK(hipMemAddressReserve(&probe, 16 * granularity_, 0, nullptr, 0));
  HIP_OK(hipMemAddressFree(probe, 16 * granularity_));
  void* base = nullptr;
  HIP_OK(hipMemAddressReserve(&base, granularity_, 0, probe, 0));
  EXPECT_EQ(base, probe);
  HIP_OK(hipMemAddressFree(base, granularity_));
}

TEST_F(VirtualMemory, BadArgumentsAreRefused) {
  void* base = nullptr;
  hipMemGenericAllocationHandle_t handle = nullptr;
  EXPECT_EQ(hipMemAddressReserve(&base, granularity_ + 1, 0, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemAddressReserve(nullptr, granularity_, 0, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemCreate(&handle, granularity_ + 1, &prop_, 0), hipErrorInvalidValue);
  HIP_OK(hipMemCreate(&handle, granularity_, &prop_, 0));
  int on_stack = 0;
  EXPECT_EQ(hipMemMap(&on_stack, granularity_, 0, handle, 0), hipErrorInvalidValue) << "not reserved";
  HIP_OK(hipMemAddressReserve(&base, granularity_, 0, nullptr, 0));
  EXPECT_EQ(hipMemMap(base, 2 * granularity_, 0, handle, 0), hipErrorInvalidValue)
      << "larger than the handle";
  EXPECT_EQ(hipMemUnmap(base, granularity_), hipErrorInvalidValue) << "nothing mapped";
  HIP_OK(hipMemRelease(handle));
  HIP_OK(hipMemAddressFree(base, granularity_));
  EXPECT_EQ(hipMemAddressFree(base, granularity_), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::api_test
