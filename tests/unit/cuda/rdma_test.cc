// SPDX-License-Identifier: Apache-2.0
// Device memory for network devices, on a driver that only remembers.
#include "tests/unit/cuda/fixture.h"
#include "worker/runtime/common/extensions.h"

namespace tf::fake_cuda {
namespace {

using cuda::driver::kAttributeDmaBuf;
using cuda::driver::kAttributeRdmaFlushOptions;
using cuda::driver::kAttributeRdmaOfMapped;
using cuda::driver::kAttributeRdmaOrdering;

class CudaRdma : public CudaRuntime {
 protected:
  hipError_t export_range(int* descriptor, std::size_t bytes = 4096,
                          int type = kHipMemRangeHandleTypeDmaBufFd, unsigned long long flags = 0) {
    return hipMemGetHandleForAddressRange(descriptor, at(State::kAllocation), bytes, type, flags);
  }
};

TEST_F(CudaRdma, MappedMemoryIsMadeForItWhereItCanBe) {
  hipMemAllocationProp properties{};
  properties.type = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  for (const int able : {1, 0}) {
    driver_->attributes[kAttributeRdmaOfMapped] = able;
    hipMemGenericAllocationHandle_t handle = nullptr;
    ASSERT_EQ(hipMemCreate(&handle, 2 << 20, &properties, 0), hipSuccess);
    EXPECT_EQ(driver_->physical.flags.rdma_capable, able);
    EXPECT_EQ(hipMemRelease(handle), hipSuccess);
    std::size_t granularity = 0;
    ASSERT_EQ(hipMemGetAllocationGranularity(&granularity, &properties, hipMemAllocationGranularityMinimum),
              hipSuccess);
    EXPECT_EQ(driver_->granular.flags.rdma_capable, able) << "the same memory as will be made";
  }
}

TEST_F(CudaRdma, DmaBufsOfDevicesThatHaveThem) {
  int descriptor = -1;
  driver_->attributes[kAttributeDmaBuf] = 0;
  EXPECT_EQ(export_range(&descriptor), hipErrorNotSupported);
  EXPECT_EQ(calls("MemGetHandleForAddressRange"), 0);
  driver_->attributes[kAttributeDmaBuf] = 1;
  EXPECT_EQ(export_range(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(export_range(&descriptor, 0), hipErrorInvalidValue);
  EXPECT_EQ(export_range(&descriptor, 4096, 2), hipErrorInvalidValue);
  EXPECT_EQ(export_range(&descriptor, 4096, kHipMemRangeHandleTypeDmaBufFd, 1), hipErrorInvalidValue);
  EXPECT_EQ(calls("MemGetHandleForAddressRange"), 0);
  EXPECT_EQ(export_range(&descriptor), hipSuccess);
  EXPECT_EQ(descriptor, State::kRangeHandle);
  EXPECT_EQ(driver_->range_type, cuda::driver::kRangeDmaBuf);
  driver_->failures["MemGetHandleForAddressRange"] = cuda::driver::Result::NOT_SUPPORTED;
  EXPECT_EQ(export_range(&descriptor), hipErrorNotSupported);
}

// There are two devices, so the owner's own order is not enough.
TEST_F(CudaRdma, WritesAreFlushedWhereNotAllDevicesSeeThem) {
  int always = -1;
  driver_->attributes[kAttributeRdmaOrdering] = cuda::driver::kSeenByAll;
  EXPECT_EQ(hipRemoteFlushWrites(1, &always), hipSuccess);
  EXPECT_EQ(always, 1);
  EXPECT_EQ(calls("FlushGPUDirectRDMAWrites"), 0);
  driver_->attributes[kAttributeRdmaOrdering] = cuda::driver::kSeenByOwner;
  driver_->attributes[kAttributeRdmaFlushOptions] = cuda::driver::kFlushByHost;
  EXPECT_EQ(hipRemoteFlushWrites(1, &always), hipSuccess);
  EXPECT_EQ(always, 0);
  EXPECT_EQ(driver_->flush_scope, cuda::driver::kSeenByAll);
  hipCtx_t second = nullptr;
  EXPECT_EQ(hipDevicePrimaryCtxRetain(&second, 1), hipSuccess);
  EXPECT_EQ(driver_->flushed, second) << "of the device that was written to";
  int current = -1;
  EXPECT_EQ(hipGetDevice(&current), hipSuccess);
  EXPECT_EQ(current, 0);
}

TEST_F(CudaRdma, OrTheRuntimeSaysThatTheyMayNotBeSeen) {
  int always = -1;
  driver_->attributes[kAttributeRdmaOrdering] = 0;
  driver_->attributes[kAttributeRdmaFlushOptions] = 2;  // by stream operations only
  EXPECT_EQ(hipRemoteFlushWrites(0, &always), hipErrorNotSupported);
  EXPECT_EQ(calls("FlushGPUDirectRDMAWrites"), 0);
  driver_->attributes[kAttributeRdmaFlushOptions] = cuda::driver::kFlushByHost;
  driver_->failures["FlushGPUDirectRDMAWrites"] = cuda::driver::Result::UNKNOWN;
  EXPECT_EQ(hipRemoteFlushWrites(0, &always), hipErrorUnknown);
  EXPECT_EQ(hipRemoteFlushWrites(State::kDevices, &always), hipErrorInvalidValue);
  EXPECT_EQ(hipRemoteFlushWrites(0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipPeekAtLastError(), hipSuccess) << "nobody's error but the caller's";
}

}  // namespace
}  // namespace tf::fake_cuda
