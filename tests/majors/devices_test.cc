// SPDX-License-Identifier: Apache-2.0
// What HIP 7 asks of devices: flags by ordinal, numbers, clusters of blocks, room for mipmapped arrays; and
// what is refused because it needs a device of this machine.
#include <cstddef>
#include <cstdint>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

using Init = hipError_t(int, unsigned, unsigned);
using GetLuid = hipError_t(char*, unsigned*, hipDevice_t);
using Occupancy = hipError_t(int*, const void*, const hipLaunchConfig_t*);

class Devices : public Kernels {
 protected:
  void SetUp() override {
    Kernels::SetUp();
    if (major_ < 7) GTEST_SKIP() << "the functions are of HIP 7";
  }
};

TEST_F(Devices, FlagsAreSetWithoutADeviceBeingChosen) {
  const auto init = get<Init>("hipInitDevice");
  const auto set_device = get<hipError_t(int)>("hipSetDevice");
  EXPECT_EQ(init(1, hipDeviceScheduleSpin, 0), hipSuccess) << "the flags do not count";
  ASSERT_EQ(init(1, hipDeviceScheduleYield, hipInitDeviceFlagsAreValid), hipSuccess);
  int current = -1;
  EXPECT_EQ(get<hipError_t(int*)>("hipGetDevice")(&current), hipSuccess);
  EXPECT_EQ(current, 0);
  ASSERT_EQ(set_device(1), hipSuccess);
  unsigned flags = 0;
  EXPECT_EQ(get<hipError_t(unsigned*)>("hipGetDeviceFlags")(&flags), hipSuccess);
  EXPECT_EQ(flags & hipDeviceScheduleMask, unsigned{hipDeviceScheduleYield});
  EXPECT_EQ(init(1, hipDeviceScheduleAuto, hipInitDeviceFlagsAreValid), hipSuccess);
  ASSERT_EQ(set_device(0), hipSuccess);
  for (const int device : {-1, 2, 3}) EXPECT_EQ(init(device, 0, 0), hipErrorInvalidDevice);
  for (const unsigned wrong : {2u, 5u, 0xffu}) EXPECT_EQ(init(0, 0, wrong), kInvalid);
  for (const unsigned wrong : {hipDeviceScheduleSpin | hipDeviceScheduleYield,
                               hipDeviceScheduleSpin | hipDeviceScheduleBlockingSync, 0x100000})
    EXPECT_EQ(init(0, wrong, hipInitDeviceFlagsAreValid), kInvalid) << wrong;
}

TEST_F(Devices, HaveNoNumberOfWindows) {
  const auto get_luid = get<GetLuid>("hipDeviceGetLuid");
  char luid[8] = {1, 2, 3};
  unsigned mask = 7;
  EXPECT_EQ(get_luid(luid, &mask, 0), hipErrorNotSupported);
  EXPECT_EQ(luid[1], 2);
  EXPECT_EQ(mask, 7u);
  EXPECT_EQ(get_luid(nullptr, &mask, 0), kInvalid);
  EXPECT_EQ(get_luid(luid, nullptr, 0), kInvalid);
  EXPECT_EQ(get_luid(luid, &mask, -1), hipErrorInvalidDevice);
  EXPECT_EQ(get_luid(luid, &mask, 2), hipErrorInvalidDevice);
}

TEST_F(Devices, LaunchNoClusters) {
  static const char no_kernel = 0;
  hipLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(16);
  const void* const kernel = stub("nothing");
  for (const char* name : {"hipOccupancyMaxActiveClusters", "hipOccupancyMaxPotentialClusterSize"}) {
    SCOPED_TRACE(name);
    const auto ask = get<Occupancy>(name);
    int answer = 7;
    EXPECT_EQ(ask(nullptr, &no_kernel, &config), kInvalid);
    EXPECT_EQ(ask(&answer, &no_kernel, nullptr), kInvalid);
    EXPECT_EQ(ask(&answer, &no_kernel, &config), hipErrorInvalidDeviceFunction);
    EXPECT_EQ(ask(&answer, kernel, &config), hipErrorInvalidClusterSize);
    EXPECT_EQ(answer, 7);
  }
  EXPECT_STREQ(get<const char*(hipError_t)>("hipGetErrorName")(hipErrorInvalidClusterSize),
               "hipErrorInvalidClusterSize");
}

TEST_F(Devices, AMipmappedArrayTakesWhatItsLevelsTake) {
  const auto requirements = get<hipError_t(hipArrayMemoryRequirements*, hipMipmappedArray_t, hipDevice_t)>(
      "hipMipmappedArrayGetMemoryRequirements");
  const auto make = get<decltype(hipMallocMipmappedArray)>("hipMallocMipmappedArray");
  const hipChannelFormatDesc elements{32, 0, 0, 0, hipChannelFormatKindUnsigned};
  const auto bytes_of = [&](unsigned levels) {
    hipMipmappedArray_t mipmapped = nullptr;
    EXPECT_EQ(make(&mipmapped, &elements, hipExtent{64, 64, 0}, levels, 0), hipSuccess);
    hipArrayMemoryRequirements answer{};
    EXPECT_EQ(requirements(&answer, mipmapped, 0), hipSuccess);
    EXPECT_EQ(requirements(nullptr, mipmapped, 0), kInvalid);
    EXPECT_EQ(requirements(&answer, mipmapped, 2), hipErrorInvalidDevice);
    EXPECT_GT(answer.alignment, 0u);
    EXPECT_EQ(answer.alignment & (answer.alignment - 1), 0u);
    EXPECT_EQ(get<decltype(hipFreeMipmappedArray)>("hipFreeMipmappedArray")(mipmapped), hipSuccess);
    return answer.size;
  };
  EXPECT_GE(bytes_of(1), 64u * 64 * 4);
  EXPECT_GE(bytes_of(2), bytes_of(1) + 32u * 32 * 4);
  EXPECT_LT(bytes_of(2), 2 * bytes_of(1));
  hipArrayMemoryRequirements answer{};
  EXPECT_EQ(requirements(&answer, nullptr, 0), hipErrorInvalidHandle);
}

TEST_F(Devices, WhatNeedsADeviceOfThisMachineIsRefused) {
  hipMipmappedArray_t mipmapped = nullptr;
  hipExternalMemoryMipmappedArrayDesc description{};
  EXPECT_EQ(
      (get<hipError_t(hipMipmappedArray_t*, hipExternalMemory_t, const hipExternalMemoryMipmappedArrayDesc*)>(
          "hipExternalMemoryGetMappedMipmappedArray")(&mipmapped, nullptr, &description)),
      hipErrorNotSupported);
  std::uint64_t number = 7;
  EXPECT_EQ((get<hipError_t(std::uint64_t*, std::uint64_t)>("hipProfilerEnableExt")(&number, 0)),
            hipErrorNotSupported);
  EXPECT_EQ(get<hipError_t(std::uint64_t*)>("hipProfilerDisableExt")(&number), hipErrorNotSupported);
  EXPECT_EQ(number, 7u);
  const void* const* chunks = nullptr;
  std::size_t sizes[3] = {};
  EXPECT_EQ((get<hipError_t(const void* const**, std::size_t*, std::size_t*, std::size_t*)>(
                "hipProfilerGetRecordsExt")(&chunks, &sizes[0], &sizes[1], &sizes[2])),
            hipErrorNotSupported);
  EXPECT_EQ((get<hipError_t(void*, void*)>("hipProfilerRegisterChunkCallbackExt")(nullptr, nullptr)),
            hipErrorNotSupported);
}

}  // namespace
}  // namespace tf::majors
