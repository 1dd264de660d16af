// SPDX-License-Identifier: Apache-2.0
// Virtual memory and memory of other processes, on a driver that only remembers.
#include <hip/hip_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "tests/unit/cuda/fixture.h"

namespace tf::fake_cuda {
namespace {

constexpr std::size_t kUnit = 2 << 20;

class CudaMemory : public CudaRuntime {
 protected:
  CudaMemory() {
    properties_.type = hipMemAllocationTypePinned;
    properties_.location = {hipMemLocationTypeDevice, 0};
    EXPECT_EQ(hipMemAddressReserve(&base_, 4 * kUnit, 0, nullptr, 0), hipSuccess);
    EXPECT_EQ(hipMemCreate(&handle_, 2 * kUnit, &properties_, 0), hipSuccess);
  }

  hipMemAllocationProp properties_{};
  void* base_ = nullptr;
  hipMemGenericAllocationHandle_t handle_ = nullptr;
};

TEST_F(CudaMemory, AnAddressThatWasGivenBackCanBeWishedFor) {
  EXPECT_GE(reinterpret_cast<std::uintptr_t>(base_), std::uintptr_t{0x48} << 40);
  void* other = nullptr;
  ASSERT_EQ(hipMemAddressReserve(&other, kUnit, 8 * kUnit, nullptr, 0), hipSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other) % (8 * kUnit), 0u);
  EXPECT_GE(static_cast<char*>(other), static_cast<char*>(base_) + 4 * kUnit);
  EXPECT_EQ(hipMemAddressFree(base_, kUnit), hipErrorInvalidValue) << "not all of it";
  EXPECT_EQ(hipMemAddressFree(base_, 4 * kUnit), hipSuccess);
  EXPECT_EQ(hipMemAddressFree(base_, 4 * kUnit), hipErrorInvalidValue);
  void* again = nullptr;
  EXPECT_EQ(hipMemAddressReserve(&again, kUnit, 0, base_, 0), hipSuccess);
  EXPECT_EQ(again, base_);
}

TEST_F(CudaMemory, WhatHipRefusesDoesNotReachTheDriver) {
  void* const third = static_cast<char*>(base_) + 3 * kUnit;
  ASSERT_EQ(hipMemMap(base_, 2 * kUnit, 0, handle_, 0), hipSuccess);
  driver_->calls.clear();
  EXPECT_EQ(hipMemMap(third, 2 * kUnit, 0, handle_, 0), hipErrorInvalidValue) << "past the reservation";
  EXPECT_EQ(hipMemMap(base_, 2 * kUnit, 0, handle_, 0), hipErrorInvalidValue) << "mapped already";
  EXPECT_EQ(hipMemMap(third, kUnit, 2 * kUnit, handle_, 0), hipErrorInvalidValue) << "past the handle";
  EXPECT_EQ(hipMemMap(third, kUnit, 0, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemMap(at(0x99), kUnit, 0, handle_, 0), hipErrorInvalidValue) << "not reserved";
  EXPECT_EQ(hipMemUnmap(base_, kUnit), hipErrorInvalidValue) << "half a mapping";
  EXPECT_EQ(hipMemUnmap(third, kUnit), hipErrorInvalidValue) << "nothing mapped";
  EXPECT_EQ(hipMemAddressFree(base_, 4 * kUnit), hipErrorInvalidValue) << "mapped";
  const hipMemAccessDesc access{properties_.location, hipMemAccessFlagsProtReadWrite};
  EXPECT_EQ(hipMemSetAccess(base_, 3 * kUnit, &access, 1), hipErrorInvalidValue) << "more than is mapped";
  const hipMemLocation nowhere{hipMemLocationTypeDevice, State::kDevices};
  unsigned long long flags = 0;
  EXPECT_EQ(hipMemGetAccess(&flags, &nowhere, base_), hipErrorInvalidValue);
  for (const char* name : {"MemMap", "MemUnmap", "MemAddressFree", "MemSetAccess", "MemGetAccess"})
    EXPECT_EQ(calls(name), 0) << name;
  driver_->failures["MemMap"] = cuda::driver::Result::NOT_SUPPORTED;
  EXPECT_EQ(hipMemMap(third, kUnit, 0, handle_, 0), hipErrorNotSupported) << "part of a handle";
  EXPECT_EQ(hipMemUnmap(base_, 2 * kUnit), hipSuccess);
}

TEST_F(CudaMemory, AHandleGoesWithItsLastOwner) {
  hipMemGenericAllocationHandle_t again = nullptr;
  hipMemAllocationProp found{};
  ASSERT_EQ(hipMemMap(base_, 2 * kUnit, 0, handle_, 0), hipSuccess);
  ASSERT_EQ(hipMemRetainAllocationHandle(&again, static_cast<char*>(base_) + 5), hipSuccess);
  EXPECT_EQ(again, handle_);
  EXPECT_EQ(hipMemRelease(handle_), hipSuccess);
  EXPECT_EQ(hipMemGetAllocationPropertiesFromHandle(&found, handle_), hipSuccess);
  EXPECT_EQ(hipMemRelease(handle_), hipSuccess);
  EXPECT_EQ(hipMemRelease(handle_), hipErrorInvalidValue);
  EXPECT_EQ(hipMemGetAllocationPropertiesFromHandle(&found, handle_), hipErrorInvalidValue);
  EXPECT_EQ(calls("MemRelease"), 2);
  ASSERT_EQ(hipMemRetainAllocationHandle(&again, base_), hipSuccess) << "the mapping keeps the memory";
  EXPECT_EQ(hipMemRelease(again), hipSuccess);
  EXPECT_EQ(hipMemUnmap(base_, 2 * kUnit), hipSuccess);
  EXPECT_EQ(hipMemRetainAllocationHandle(&again, base_), hipErrorInvalidValue);
}

TEST_F(CudaMemory, ImportedMemoryIsExportedByItsDescriptor) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  constexpr auto kType = hipMemHandleTypePosixFileDescriptor;
  hipMemGenericAllocationHandle_t imported = nullptr;
  ASSERT_EQ(hipMemImportFromShareableHandle(&imported, &ends[0], kType), hipSuccess);
  hipMemAllocationProp found{};
  EXPECT_EQ(hipMemGetAllocationPropertiesFromHandle(&found, imported), hipSuccess);
  EXPECT_EQ(found.requestedHandleType, kType);
  int descriptor = -1;
  EXPECT_EQ(hipMemExportToShareableHandle(&descriptor, imported, kType, 0), hipSuccess);
  EXPECT_GE(descriptor, 0);
  EXPECT_NE(descriptor, ends[0]);
  EXPECT_EQ(calls("MemExportToShareableHandle"), 0);
  EXPECT_EQ(hipMemRelease(imported), hipSuccess);
  EXPECT_EQ(hipMemExportToShareableHandle(&descriptor, imported, kType, 0), hipErrorInvalidValue);
  driver_->failures["MemImportFromShareableHandle"] = cuda::driver::Result::UNKNOWN;
  EXPECT_EQ(hipMemImportFromShareableHandle(&imported, &ends[0], kType), hipErrorInvalidValue);
  for (const int end : {descriptor, ends[0], ends[1]}) ::close(end);
  EXPECT_EQ(hipMemImportFromShareableHandle(&imported, &ends[0], kType), hipErrorInvalidValue);
}

TEST_F(CudaMemory, AdviceIsTheDriversToKeepAndToTell) {
  driver_->managed = 1;
  void* const memory = at(State::kAllocation);
  int places[2] = {77, 77};
  const auto asked = [&](hipMemRangeAttribute attribute, std::size_t bytes) {
    return hipMemRangeGetAttribute(places, bytes, attribute, memory, 64);
  };
  EXPECT_EQ(asked(hipMemRangeAttributePreferredLocation, 4), hipSuccess);
  EXPECT_EQ(places[0], hipInvalidDeviceId);
  EXPECT_EQ(hipMemAdvise(memory, 64, hipMemAdviseSetAccessedBy, 1), hipSuccess);
  EXPECT_EQ(asked(hipMemRangeAttributeAccessedBy, 8), hipSuccess);
  EXPECT_EQ(places[0], 1);
  EXPECT_EQ(places[1], 1);
  driver_->place = State::kDevices;
  EXPECT_EQ(asked(hipMemRangeAttributeLastPrefetchLocation, 4), hipSuccess);
  EXPECT_EQ(places[0], hipInvalidDeviceId) << "none of HIP's";
  EXPECT_EQ(hipMemAdvise(memory, 64, hipMemAdviseSetReadMostly, 99), hipSuccess) << "no device is looked at";
  EXPECT_EQ(driver_->place, hipCpuDeviceId);
  driver_->calls.clear();
  EXPECT_EQ(asked(hipMemRangeAttributeReadMostly, 8), hipErrorInvalidValue);
  EXPECT_EQ(asked(hipMemRangeAttributeAccessedBy, 7), hipErrorInvalidValue);
  EXPECT_EQ(hipMemAdvise(memory, 64, hipMemAdviseSetAccessedBy, State::kDevices), hipErrorInvalidDevice);
  EXPECT_EQ(calls("MemAdvise") + calls("MemRangeGetAttribute"), 0);
  driver_->failures["MemRangeGetAttribute"] = cuda::driver::Result::INVALID_VALUE;
  EXPECT_EQ(asked(hipMemRangeAttributeReadMostly, 4), hipErrorInvalidValue);
}

TEST_F(CudaMemory, CoherencyIsKeptHere) {
  driver_->managed = 1;
  void* const memory = at(State::kAllocation);
  int mode = 77;
  const auto ask = [&] {
    return hipMemRangeGetAttribute(&mode, sizeof mode, hipMemRangeAttributeCoherencyMode, memory, 64);
  };
  EXPECT_EQ(ask(), hipSuccess);
  EXPECT_EQ(mode, static_cast<int>(hipMemRangeCoherencyModeFineGrain));
  EXPECT_EQ(hipMemAdvise(memory, 64, hipMemAdviseSetCoarseGrain, 0), hipSuccess);
  EXPECT_EQ(ask(), hipSuccess);
  EXPECT_EQ(mode, static_cast<int>(hipMemRangeCoherencyModeCoarseGrain));
  EXPECT_EQ(hipFree(memory), hipSuccess);
  EXPECT_EQ(ask(), hipSuccess) << "the driver that only remembers still has it";
  EXPECT_EQ(mode, static_cast<int>(hipMemRangeCoherencyModeFineGrain));
  EXPECT_EQ(calls("MemAdvise"), 0);
  driver_->managed = 0;
  EXPECT_EQ(ask(), hipSuccess);
  EXPECT_EQ(mode, static_cast<int>(hipMemRangeCoherencyModeCoarseGrain)) << "the device's";
  EXPECT_EQ(hipMemAdvise(memory, 64, hipMemAdviseSetCoarseGrain, 0), hipErrorInvalidValue);
  void* data = &mode;
  std::size_t bytes = sizeof mode;
  hipMemRangeAttribute attribute = hipMemRangeAttributeCoherencyMode;
  EXPECT_EQ(hipMemRangeGetAttributes(&data, &bytes, &attribute, 1, memory, 64), hipErrorInvalidValue);
}

// Memory of any kind may be given to hipHostFree.
TEST_F(CudaMemory, WhatWasSaidEndsWithTheMemory) {
  driver_->managed = 1;
  void* const memory = at(State::kAllocation);
  int mode = 77;
  const auto advise = [&] { return hipMemAdvise(memory, 64, hipMemAdviseSetCoarseGrain, 0); };
  const auto ask = [&] {
    EXPECT_EQ(hipMemRangeGetAttribute(&mode, sizeof mode, hipMemRangeAttributeCoherencyMode, memory, 64),
              hipSuccess);
    return mode;
  };
  ASSERT_EQ(advise(), hipSuccess);
  EXPECT_EQ(hipHostFree(memory), hipSuccess);
  EXPECT_EQ(ask(), static_cast<int>(hipMemRangeCoherencyModeFineGrain));
  ASSERT_EQ(advise(), hipSuccess);
  ASSERT_EQ(hipSetDevice(1), hipSuccess);
  EXPECT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(ask(), static_cast<int>(hipMemRangeCoherencyModeCoarseGrain)) << "another device's";
  ASSERT_EQ(hipSetDevice(0), hipSuccess);
  EXPECT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(ask(), static_cast<int>(hipMemRangeCoherencyModeFineGrain));
}

TEST_F(CudaMemory, PinnedMemoryEndsWithItsDevicesContext) {
  void* const memory = at(0x50000000);
  ASSERT_EQ(hipHostRegister(memory, 64, hipExtHostRegisterCoarseGrained), hipSuccess);
  unsigned flags = 0;
  ASSERT_EQ(hipSetDevice(1), hipSuccess);
  EXPECT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(hipHostGetFlags(&flags, memory), hipSuccess);
  EXPECT_EQ(flags, unsigned{hipExtHostRegisterCoarseGrained}) << "another device's";
  ASSERT_EQ(hipSetDevice(0), hipSuccess);
  EXPECT_EQ(hipDeviceReset(), hipSuccess);
  flags = 0;
  EXPECT_EQ(hipHostGetFlags(&flags, memory), hipSuccess);
  EXPECT_EQ(flags, 0u) << "the driver's word, which only remembers";
}

// What a child that is not the exporter makes of the handle; its exit code.
template <typename Body>
int in_child(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(CudaMemory, AHandleOfAPointerInsideIsOpenedInside) {
  hipIpcMemHandle_t whole{};
  hipIpcMemHandle_t inside{};
  hipIpcMemHandle_t again{};
  ASSERT_EQ(hipIpcGetMemHandle(&whole, at(State::kAllocation)), hipSuccess);
  ASSERT_EQ(hipIpcGetMemHandle(&inside, at(State::kAllocation + 0x123)), hipSuccess);
  ASSERT_EQ(hipIpcGetMemHandle(&again, at(State::kAllocation + 0x123)), hipSuccess);
  EXPECT_EQ(std::memcmp(&inside, &again, sizeof inside), 0);
  void* opened = nullptr;
  EXPECT_EQ(hipIpcOpenMemHandle(&opened, inside, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidContext);
  EXPECT_EQ(hipIpcOpenMemHandle(&opened, hipIpcMemHandle_t{}, hipIpcMemLazyEnablePeerAccess),
            hipErrorInvalidValue);
  EXPECT_EQ(hipIpcOpenMemHandle(&opened, whole, hipIpcMemLazyEnablePeerAccess), hipSuccess);
  EXPECT_EQ(opened, at(State::kAllocation));
  EXPECT_EQ(in_child([&] {
              if (hipIpcOpenMemHandle(&opened, inside, hipIpcMemLazyEnablePeerAccess) != hipSuccess) return 1;
              if (opened != at(State::kAllocation + 0x123)) return 2;
              if (hipIpcCloseMemHandle(opened) != hipSuccess) return 3;
              return driver_->closed == at(State::kAllocation) ? 0 : 4;
            }),
            0);
  driver_->failures["IpcOpenMemHandle"] = cuda::driver::Result::INVALID_VALUE;
  EXPECT_EQ(hipIpcOpenMemHandle(&opened, whole, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidDevicePointer)
      << "freed";
}

TEST_F(CudaMemory, EventsThatCannotBeSharedSaySo) {
  hipIpcEventHandle_t handle{};
  hipEvent_t event = nullptr;
  ASSERT_EQ(hipEventCreate(&event), hipSuccess);
  driver_->failures["IpcGetEventHandle"] = cuda::driver::Result::INVALID_HANDLE;
  EXPECT_EQ(hipIpcGetEventHandle(&handle, event), hipErrorInvalidConfiguration);
  EXPECT_EQ(hipEventDestroy(event), hipSuccess);
  EXPECT_EQ(hipIpcGetEventHandle(&handle, event), hipErrorInvalidHandle);
  EXPECT_EQ(calls("IpcGetEventHandle"), 1);
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  EXPECT_EQ(hipGraphAddEventRecordNode(&node, graph, nullptr, 0, event), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(hipIpcOpenEventHandle(&event, hipIpcEventHandle_t{}), hipErrorInvalidValue) << "empty";
  std::memset(&handle, 1, sizeof handle);
  driver_->failures["IpcOpenEventHandle"] = cuda::driver::Result::MAP_FAILED;
  EXPECT_EQ(hipIpcOpenEventHandle(&event, handle), hipErrorInvalidValue);
}

TEST_F(CudaMemory, SharedMemoryIsSettledWhenASynchronousCallReturns) {
  hipIpcMemHandle_t handle{};
  ASSERT_EQ(hipIpcGetMemHandle(&handle, at(State::kAllocation)), hipSuccess);
  driver_->calls.clear();
  EXPECT_EQ(hipMemset(at(State::kAllocation), 1, 64), hipSuccess);
  EXPECT_EQ(calls("StreamSynchronize"), 1);
  EXPECT_EQ(hipMemsetAsync(at(State::kAllocation), 1, 64, stream_), hipSuccess);
  EXPECT_EQ(calls("StreamSynchronize"), 1);
}

// NVIDIA's driver writes longer answers, and answers more.
TEST_F(CudaMemory, AttributesOfPointersAreAsLongAsHips) {
  void* const inside = at(State::kAllocation + 8);
  for (const auto& [attribute, expected] :
       {std::pair{HIP_POINTER_ATTRIBUTE_BUFFER_ID, 7u},
        {HIP_POINTER_ATTRIBUTE_RANGE_SIZE, 4096u},
        {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, unsigned{hipMemoryTypeDevice}}}) {
    unsigned answer[2] = {0xee, 0xee};
    EXPECT_EQ(hipPointerGetAttribute(answer, attribute, inside), hipSuccess) << attribute;
    EXPECT_EQ(answer[0], expected) << attribute;
    EXPECT_EQ(answer[1], 0xeeu) << attribute;
  }
  void* start = nullptr;
  EXPECT_EQ(hipPointerGetAttribute(&start, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside), hipSuccess);
  EXPECT_EQ(start, at(State::kAllocation));
  std::uint64_t token[2] = {};
  for (const auto attribute : {HIP_POINTER_ATTRIBUTE_P2P_TOKENS, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                               HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE})
    EXPECT_EQ(hipPointerGetAttribute(token, attribute, inside), hipErrorNotSupported);
  int local = 0;
  hipPointerAttribute_t all{};
  EXPECT_EQ(hipPointerGetAttributes(&all, &local), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::fake_cuda
