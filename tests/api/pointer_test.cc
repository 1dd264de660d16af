// SPDX-License-Identifier: Apache-2.0
// What can be set for a pointer: that synchronous copies wait, and which stream uses managed memory.
#include "tests/api/hip_test.h"

extern "C" hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute,
                                             hipDeviceptr_t pointer);  // HIP 5.5

namespace tf::api_test {
namespace {

constexpr std::size_t kBytes = 1 << 16;
constexpr auto kSync = HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS;

unsigned is_synchronous(void* pointer) {
  unsigned value = 77;
  EXPECT_EQ(hipPointerGetAttribute(&value, kSync, pointer), hipSuccess);
  return value;
}

TEST(PointerAttribute, BelongsToTheWholeAllocation) {
  const unsigned on = 1;
  const unsigned off = 0;
  DeviceBuffer device(kBytes);
  DeviceBuffer other(kBytes);
  EXPECT_EQ(is_synchronous(device.get()), 0u);
  HIP_OK(hipPointerSetAttribute(&on, kSync, device.at(100)));
  EXPECT_EQ(is_synchronous(device.get()), 1u);
  EXPECT_EQ(is_synchronous(device.at(kBytes - 1)), 1u);
  EXPECT_EQ(is_synchronous(other.get()), 0u);
  HIP_OK(hipPointerSetAttribute(&off, kSync, device.get()));
  EXPECT_EQ(is_synchronous(device.get()), 0u);
}

TEST(PointerAttribute, EndsWithTheMemory) {
  const unsigned on = 1;
  void* first = nullptr;
  HIP_OK(hipMalloc(&first, kBytes));
  HIP_OK(hipPointerSetAttribute(&on, kSync, first));
  HIP_OK(hipFree(first));
  EXPECT_EQ(hipPointerSetAttribute(&on, kSync, first), hipErrorInvalidDevicePointer);
  DeviceBuffer again(kBytes);
  EXPECT_EQ(is_synchronous(again.get()), 0u) << "also where it is the same memory";
}

TEST(PointerAttribute, EndsWithMemoryOfAStream) {
  const unsigned on = 1;
  TestStream stream;
  void* memory = nullptr;
  for (int round = 0; round < 3; ++round) {
    HIP_OK(hipMallocAsync(&memory, kBytes, stream));
    EXPECT_EQ(is_synchronous(memory), 0u) << "also where it is the same memory";
    HIP_OK(hipPointerSetAttribute(&on, kSync, memory));
    HIP_OK(hipFreeAsync(memory, stream));
  }
  HIP_OK(hipStreamSynchronize(stream));
}

TEST(PointerAttribute, EndsWithTheRegistration) {
  const unsigned on = 1;
  std::vector<std::byte> memory(kBytes);
  for (int round = 0; round < 3; ++round) {
    HIP_OK(hipHostRegister(memory.data(), kBytes, hipHostRegisterDefault));
    EXPECT_EQ(is_synchronous(memory.data()), 0u);
    HIP_OK(hipPointerSetAttribute(&on, kSync, memory.data()));
    EXPECT_EQ(hipHostUnregister(memory.data() + 8), hipErrorHostMemoryNotRegistered);
    EXPECT_EQ(is_synchronous(memory.data()), 1u) << "it is registered still";
    HIP_OK(hipHostUnregister(memory.data()));
  }
}

TEST(PointerAttribute, EndsWithTheMapping) {
  const unsigned on = 1;
  hipMemAllocationProp properties = {};
  properties.type = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  std::size_t bytes = 0;
  HIP_OK(hipMemGetAllocationGranularity(&bytes, &properties, hipMemAllocationGranularityMinimum));
  void* base = nullptr;
  hipMemGenericAllocationHandle_t handle = nullptr;
  HIP_OK(hipMemAddressReserve(&base, bytes, 0, nullptr, 0));
  HIP_OK(hipMemCreate(&handle, bytes, &properties, 0));
  for (int round = 0; round < 2; ++round) {
    HIP_OK(hipMemMap(base, bytes, 0, handle, 0));
    EXPECT_EQ(is_synchronous(base), 0u);
    HIP_OK(hipPointerSetAttribute(&on, kSync, base));
    HIP_OK(hipMemUnmap(base, bytes));
  }
  HIP_OK(hipMemRelease(handle));
  HIP_OK(hipMemAddressFree(base, bytes));
}

// Without the attribute such a copy may return while the stream still works.
TEST(PointerAttribute, CopiesBetweenSuchMemoryWait) {
  const unsigned on = 1;
  DeviceBuffer from(kBytes);
  DeviceBuffer to(kBytes);
  HIP_OK(hipPointerSetAttribute(&on, kSync, from.get()));
  HIP_OK(hipPointerSetAttribute(&on, kSync, to.get()));
  HIP_OK(hipDeviceSynchronize());
  Gate gate;
  gate.close(nullptr);
  SoonOpen soon(gate);
  HIP_OK(hipMemcpy(to.get(), from.get(), kBytes, hipMemcpyDeviceToDevice));
  EXPECT_EQ(hipStreamQuery(nullptr), hipSuccess);
}

TEST(PointerAttribute, WrongOnesAreRefused) {
  const unsigned on = 1;
  const unsigned two = 2;
  DeviceBuffer device(kBytes);
  EXPECT_EQ(hipPointerSetAttribute(nullptr, kSync, device.get()), hipErrorInvalidValue);
  EXPECT_EQ(hipPointerSetAttribute(&on, kSync, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipPointerSetAttribute(&two, kSync, device.get()), hipErrorInvalidValue);
  EXPECT_EQ(hipPointerSetAttribute(&on, HIP_POINTER_ATTRIBUTE_MAPPED, device.get()), hipErrorInvalidValue);
  unsigned local = 0;
  EXPECT_EQ(hipPointerSetAttribute(&on, kSync, &local), hipErrorInvalidDevicePointer);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidDevicePointer);
}

// As AMD's runtime: the values say that nobody knows the memory.
TEST(PointerAttribute, SeveralOfUnknownMemoryAreGivenValues) {
  int local = 0;
  int type = 77, ordinal = 77;
  bool managed = true;
  void* start = &local;
  hipPointer_attribute attributes[] = {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                       HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, HIP_POINTER_ATTRIBUTE_IS_MANAGED,
                                       HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR};
  void* data[] = {&type, &ordinal, &managed, &start};
  HIP_OK(hipDrvPointerGetAttributes(4, attributes, data, &local));
  EXPECT_EQ(type, 0);
  EXPECT_EQ(ordinal, -2);
  EXPECT_FALSE(managed);
  EXPECT_EQ(start, nullptr);
  ordinal = 77;
  EXPECT_EQ(hipPointerGetAttribute(&ordinal, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, &local),
            hipErrorInvalidValue);
  EXPECT_EQ(ordinal, -2);
  DeviceBuffer device(kBytes);
  HIP_OK(hipDrvPointerGetAttributes(4, attributes, data, device.at(8)));
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(start, device.get());
  EXPECT_EQ(hipDrvPointerGetAttributes(0, attributes, data, device.get()), hipErrorInvalidValue);
}

TEST(AttachMemory, IsCheckedAndMakesNothing) {
  void* managed = nullptr;
  HIP_OK(hipMallocManaged(&managed, kBytes, hipMemAttachGlobal));
  TestStream stream;
  for (const unsigned flags : {hipMemAttachGlobal, hipMemAttachHost, hipMemAttachSingle}) {
    HIP_OK(hipStreamAttachMemAsync(stream, managed, 0, flags));
    HIP_OK(hipStreamAttachMemAsync(stream, managed, kBytes, flags));
  }
  HIP_OK(hipStreamAttachMemAsync(nullptr, managed, 0, hipMemAttachHost));
  HIP_OK(hipStreamSynchronize(stream));
  DeviceBuffer device(kBytes);
  HIP_OK(hipStreamAttachMemAsync(stream, device.get(), 5, hipMemAttachGlobal)) << "as with AMD's runtime";
  EXPECT_EQ(hipStreamAttachMemAsync(nullptr, managed, 0, hipMemAttachSingle), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamAttachMemAsync(stream, managed, kBytes / 2, hipMemAttachGlobal), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamAttachMemAsync(stream, managed, 0, 3), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamAttachMemAsync(stream, nullptr, 0, hipMemAttachGlobal), hipErrorInvalidValue);
  int local = 0;
  EXPECT_EQ(hipStreamAttachMemAsync(stream, &local, 4, hipMemAttachGlobal), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamAttachMemAsync(reinterpret_cast<hipStream_t>(0x7777), managed, 0, hipMemAttachGlobal),
            hipErrorContextIsDestroyed);
  HIP_OK(hipFree(managed));
}

}  // namespace
}  // namespace tf::api_test
