// SPDX-License-Identifier: Apache-2.0
// Devices: count, choice, properties, attributes, peers.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/api/hip_test.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tf::api_test {
namespace {

TEST(Device, CountAndCurrent) {
  int count = 0;
  HIP_OK(hipGetDeviceCount(&count));
  ASSERT_GE(count, 1);
  EXPECT_EQ(hipGetDeviceCount(nullptr), hipErrorInvalidValue);
  for (int device = count - 1; device >= 0; --device) {
    HIP_OK(hipSetDevice(device));
    int current = -1;
    HIP_OK(hipGetDevice(&current));
    EXPECT_EQ(current, device);
  }
  EXPECT_EQ(hipSetDevice(count), hipErrorInvalidDevice);
  EXPECT_EQ(hipSetDevice(-1), hipErrorInvalidDevice);
  int current = -1;
  HIP_OK(hipGetDevice(&current));
  EXPECT_EQ(current, 0) << "a refused device must not become current";
  EXPECT_EQ(hipGetDevice(nullptr), hipErrorInvalidValue);
}

TEST(Device, InitAndVersions) {
  EXPECT_EQ(hipInit(0), hipSuccess);
  EXPECT_EQ(hipInit(1), hipErrorInvalidValue);
  int runtime = 0;
  int driver = 0;
  HIP_OK(hipRuntimeGetVersion(&runtime));
  HIP_OK(hipDriverGetVersion(&driver));
  EXPECT_GT(runtime, 0);
  EXPECT_GT(driver, 0);
  EXPECT_EQ(hipRuntimeGetVersion(nullptr), hipErrorInvalidValue);
}

TEST(Device, PropertiesAreCoherentWithAttributes) {
  for (int device = 0; device < device_count(); ++device) {
    hipDeviceProp_t properties;
    HIP_OK(hipGetDeviceProperties(&properties, device));
    EXPECT_GT(std::strlen(properties.name), 0u);
    EXPECT_GT(std::strlen(properties.gcnArchName), 0u);
    EXPECT_GT(properties.totalGlobalMem, 0u);
    const auto attribute = [device](hipDeviceAttribute_t which) {
      int value = -1;
      EXPECT_EQ(hipDeviceGetAttribute(&value, which, device), hipSuccess) << which;
      return value;
    };
    EXPECT_EQ(attribute(hipDeviceAttributeMaxThreadsPerBlock), properties.maxThreadsPerBlock);
    EXPECT_EQ(attribute(hipDeviceAttributeWarpSize), properties.warpSize);
    EXPECT_EQ(attribute(hipDeviceAttributeMultiprocessorCount), properties.multiProcessorCount);
    EXPECT_EQ(attribute(hipDeviceAttributeMaxGridDimX), properties.maxGridSize[0]);
    EXPECT_EQ(attribute(hipDeviceAttributeMaxBlockDimZ), properties.maxThreadsDim[2]);
    EXPECT_EQ(attribute(hipDeviceAttributeClockRate), properties.clockRate);
    EXPECT_EQ(attribute(hipDeviceAttributePciBusId), properties.pciBusID);
    EXPECT_EQ(attribute(hipDeviceAttributeComputeCapabilityMajor), properties.major);
    EXPECT_EQ(static_cast<std::size_t>(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock)),
              properties.sharedMemPerBlock);
    std::size_t total = 0;
    HIP_OK(hipDeviceTotalMem(&total, device));
    EXPECT_EQ(total, properties.totalGlobalMem);
  }
}

TEST(Device, BadQuestionsAreRefused) {
  hipDeviceProp_t properties;
  int value = 0;
  const int count = device_count();
  EXPECT_EQ(hipGetDeviceProperties(&properties, count), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetDeviceProperties(nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, count), hipErrorInvalidDevice);
  EXPECT_EQ(hipDeviceGetAttribute(nullptr, hipDeviceAttributeWarpSize, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(9998), 0), hipErrorInvalidValue);
}

// AMD's runtime answers with the address of a register, eight bytes. RCCL asks, and uses what is not null.
TEST(Device, AttributesThatArePointers) {
  for (const auto which : {hipDeviceAttributeHdpMemFlushCntl, hipDeviceAttributeHdpRegFlushCntl}) {
    union {
      int value;
      void* pointer;
    } answer;
    answer.pointer = &answer;
    HIP_OK(hipDeviceGetAttribute(&answer.value, which, 0));
    EXPECT_EQ(answer.pointer, nullptr) << which;
    EXPECT_EQ(hipDeviceGetAttribute(nullptr, which, 0), hipErrorInvalidValue);
    EXPECT_EQ(hipDeviceGetAttribute(&answer.value, which, 4711), hipErrorInvalidDevice);
  }
}

TEST(Device, NamesAndBusIds) {
  for (int device = 0; device < device_count(); ++device) {
    char name[64] = {};
    HIP_OK(hipDeviceGetName(name, sizeof name, device));
    hipDeviceProp_t properties;
    HIP_OK(hipGetDeviceProperties(&properties, device));
    EXPECT_EQ(std::string(name), std::string(properties.name).substr(0, sizeof name - 1));
    char bus[32] = {};
    HIP_OK(hipDeviceGetPCIBusId(bus, sizeof bus, device));
    int found = -1;
    HIP_OK(hipDeviceGetByPCIBusId(&found, bus));
    EXPECT_EQ(found, device);
    hipUUID uuid;
    HIP_OK(hipDeviceGetUuid(&uuid, device));
    hipDevice_t handle = -1;
    HIP_OK(hipDeviceGet(&handle, device));
    EXPECT_EQ(handle, device);
  }
  int found = -1;
  EXPECT_EQ(hipDeviceGetByPCIBusId(&found, "7fff:7f:7f.0"), hipErrorInvalidValue);
}

TEST(Device, Flags) {
  unsigned flags = 77;
  HIP_OK(hipSetDeviceFlags(hipDeviceScheduleYield));
  HIP_OK(hipGetDeviceFlags(&flags));
  EXPECT_EQ(flags & hipDeviceScheduleMask, static_cast<unsigned>(hipDeviceScheduleYield));
  HIP_OK(hipDeviceReset());
  HIP_OK(hipGetDeviceFlags(&flags));
  EXPECT_EQ(flags, 0u) << "as at the start";
  constexpr unsigned kLmemResizeToMax = 0x10;  // of HIP 6; HIP 5's headers say 0x16, which names schedules
  HIP_OK(hipSetDeviceFlags(hipDeviceScheduleSpin | hipDeviceMapHost | kLmemResizeToMax));
  HIP_OK(hipGetDeviceFlags(&flags));
  EXPECT_EQ(flags, static_cast<unsigned>(hipDeviceScheduleSpin)) << "the others are ignored";
  HIP_OK(hipSetDeviceFlags(hipDeviceScheduleAuto));
  EXPECT_EQ(hipSetDeviceFlags(0x1000), hipErrorInvalidValue);
}

TEST(Device, HintsThatHipDoesNotKnow) {
  HIP_OK(hipDeviceSetCacheConfig(hipFuncCachePreferL1));
  HIP_OK(hipDeviceSetSharedMemConfig(hipSharedMemBankSizeEightByte));
  unsigned unknown = ~0U;
  EXPECT_EQ(hipDeviceSetCacheConfig(static_cast<hipFuncCache_t>(unknown)), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceSetSharedMemConfig(static_cast<hipSharedMemConfig>(unknown)), hipErrorInvalidValue);
}

TEST(Device, AResetFreesItsMemory) {
  void* device = nullptr;
  void* managed = nullptr;
  void* pinned = nullptr;
  std::size_t free_before = 0;
  std::size_t free_after = 0;
  std::size_t total = 0;
  HIP_OK(hipMemGetInfo(&free_before, &total));
  HIP_OK(hipMalloc(&device, 1 << 20));
  const bool has_managed = hipMallocManaged(&managed, 4096, hipMemAttachGlobal) == hipSuccess;
  HIP_OK(hipHostMalloc(&pinned, 4096, hipHostMallocDefault));
  HIP_OK(hipMemsetAsync(device, 1, 1 << 20, nullptr));
  HIP_OK(hipDeviceReset());
  HIP_OK(hipMemGetInfo(&free_after, &total));
  EXPECT_GE(free_after, free_before);
  EXPECT_EQ(hipFree(device), hipErrorInvalidValue);
  if (has_managed) {
    EXPECT_EQ(hipFree(managed), hipErrorInvalidValue);
  }
  if (!is_bare_nvidia()) {  // its driver frees host memory with the device's context
    HIP_OK(hipHostFree(pinned));
  }
  HIP_OK(hipMalloc(&device, 4096));
  HIP_OK(hipMemset(device, 1, 4096));
  HIP_OK(hipFree(device));
}

TEST(Device, ALargeBarIsTheHostsToUse) {
  hipDeviceProp_t properties;
  HIP_OK(hipGetDeviceProperties(&properties, 0));
  int attribute = 0;
  if (hipDeviceGetAttribute(&attribute, hipDeviceAttributeIsLargeBar, 0) == hipSuccess) {
    EXPECT_EQ(attribute, properties.isLargeBar);
  }
  if (properties.isLargeBar == 0) GTEST_SKIP() << "the host does not reach device memory here";
  DeviceBuffer memory(16);
  HIP_OK(hipMemset(memory.get(), 7, 16));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(static_cast<const char*>(memory.get())[15], 7);
}

TEST(Device, LinksAreBetweenDevicesThatThereAre) {
  const int count = device_count();
  std::uint32_t type = 0;
  std::uint32_t hops = 0;
  for (const auto& [first, second] : std::vector<std::pair<int, int>>{{0, 0}, {-1, 0}, {0, -1}, {-1, -2}})
    EXPECT_EQ(hipExtGetLinkTypeAndHopCount(first, second, &type, &hops), hipErrorInvalidValue)
        << first << " and " << second;
  EXPECT_EQ(hipExtGetLinkTypeAndHopCount(count, 0, &type, &hops), hipErrorInvalidDevice);
  EXPECT_EQ(hipExtGetLinkTypeAndHopCount(0, count, &type, &hops), hipErrorInvalidDevice);
  EXPECT_EQ(hipExtGetLinkTypeAndHopCount(0, 1, nullptr, &hops), hipErrorInvalidValue);
}

TEST(Device, Peers) {
  int answer = -1;
  HIP_OK(hipDeviceCanAccessPeer(&answer, 0, 0));
  EXPECT_EQ(answer, 0);
  EXPECT_EQ(hipDeviceCanAccessPeer(&answer, 0, device_count()), hipErrorInvalidDevice);
  if (device_count() < 2) GTEST_SKIP() << "one device";
  HIP_OK(hipDeviceCanAccessPeer(&answer, 0, 1));
  if (answer == 0) GTEST_SKIP() << "no peer access";
  HIP_OK(hipSetDevice(0));
  HIP_OK(hipDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
  HIP_OK(hipDeviceDisablePeerAccess(1));
  EXPECT_EQ(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
}

TEST(Device, AResetEndsAccessToPeers) {
  int answer = 0;
  if (device_count() < 2) GTEST_SKIP() << "one device";
  HIP_OK(hipDeviceCanAccessPeer(&answer, 0, 1));
  if (answer == 0) GTEST_SKIP() << "no peer access";
  HIP_OK(hipSetDevice(0));
  HIP_OK(hipDeviceEnablePeerAccess(1, 0));
  HIP_OK(hipDeviceReset());
  HIP_OK(hipDeviceEnablePeerAccess(1, 0));
  HIP_OK(hipDeviceDisablePeerAccess(1));
}

TEST(Device, PeersByContext) {
  EXPECT_EQ(hipCtxEnablePeerAccess(nullptr, 0), hipErrorInvalidDevice);
  EXPECT_EQ(hipCtxDisablePeerAccess(nullptr), hipErrorInvalidDevice);
  hipCtx_t own = nullptr;
  HIP_OK(hipCtxGetCurrent(&own));
  EXPECT_EQ(hipCtxEnablePeerAccess(own, 0), hipErrorInvalidDevice) << "one's own";
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidDevice);
  if (device_count() < 2) return;
  hipCtx_t other = nullptr;
  HIP_OK(hipDevicePrimaryCtxRetain(&other, 1));
  EXPECT_EQ(hipCtxEnablePeerAccess(other, 1), hipErrorInvalidValue);
  HIP_OK(hipCtxEnablePeerAccess(other, 0));
  EXPECT_EQ(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
  HIP_OK(hipCtxDisablePeerAccess(other));
  EXPECT_EQ(hipCtxDisablePeerAccess(other), hipErrorPeerAccessNotEnabled);
  HIP_OK(hipDevicePrimaryCtxRelease(1));
}

TEST(Device, PeerCopy) {
  if (device_count() < 2) GTEST_SKIP() << "one device";
  const auto values = counting(4096, 5);
  const std::size_t bytes = values.size() * sizeof values[0];
  HIP_OK(hipSetDevice(1));
  DeviceBuffer second(bytes);
  HIP_OK(hipSetDevice(0));
  DeviceBuffer first(bytes);
  HIP_OK(hipMemcpy(first.get(), values.data(), bytes, hipMemcpyHostToDevice));
  HIP_OK(hipMemcpyPeer(second.get(), 1, first.get(), 0, bytes));
  std::vector<std::uint32_t> back(values.size());
  HIP_OK(hipMemcpy(back.data(), second.get(), bytes, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, values);
  EXPECT_EQ(hipMemcpyPeer(second.get(), 99, first.get(), 0, bytes), hipErrorInvalidDevice);
}

}  // namespace
}  // namespace tf::api_test
