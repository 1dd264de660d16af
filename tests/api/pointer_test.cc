// SPDX-License-Identifier: Apache-2.0
// What pointers are asked for one by one, and what can be set for them: that synchronous copies wait, and
// which stream uses managed memory.
#include <array>
#include <set>
#include <vector>

#include "tests/api/hip_test.h"

extern "C" hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute,
                                             hipDeviceptr_t pointer);  // HIP 5.5

namespace tf::api_test {
namespace {

constexpr std::size_t kBytes = 1 << 16;
constexpr auto kSync = HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS;

bool is_synchronous(void* pointer) {
  bool value = false;
  EXPECT_EQ(hipPointerGetAttribute(&value, kSync, pointer), hipSuccess);
  return value;
}

TEST(PointerAttribute, BelongsToTheWholeAllocation) {
  const unsigned on = 1;
  const unsigned off = 0;
  DeviceBuffer device(kBytes);
  DeviceBuffer other(kBytes);
  EXPECT_FALSE(is_synchronous(device.get()));
  HIP_OK(hipPointerSetAttribute(&on, kSync, device.at(100)));
  EXPECT_TRUE(is_synchronous(device.get()));
  EXPECT_TRUE(is_synchronous(device.at(kBytes - 1)));
  EXPECT_FALSE(is_synchronous(other.get()));
  HIP_OK(hipPointerSetAttribute(&off, kSync, device.get()));
  EXPECT_FALSE(is_synchronous(device.get()));
}

TEST(PointerAttribute, EndsWithTheMemory) {
  const unsigned on = 1;
  void* first = nullptr;
  HIP_OK(hipMalloc(&first, kBytes));
  HIP_OK(hipPointerSetAttribute(&on, kSync, first));
  HIP_OK(hipFree(first));
  EXPECT_EQ(hipPointerSetAttribute(&on, kSync, first), hipErrorInvalidDevicePointer);
  DeviceBuffer again(kBytes);
  EXPECT_FALSE(is_synchronous(again.get())) << "also where it is the same memory";
}

TEST(PointerAttribute, EndsWithMemoryOfAStream) {
  const unsigned on = 1;
  TestStream stream;
  void* memory = nullptr;
  for (int round = 0; round < 3; ++round) {
    HIP_OK(hipMallocAsync(&memory, kBytes, stream));
    EXPECT_FALSE(is_synchronous(memory)) << "also where it is the same memory";
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
    EXPECT_FALSE(is_synchronous(memory.data()));
    HIP_OK(hipPointerSetAttribute(&on, kSync, memory.data()));
    EXPECT_EQ(hipHostUnregister(memory.data() + 8), hipErrorHostMemoryNotRegistered);
    EXPECT_TRUE(is_synchronous(memory.data())) << "it is registered still";
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
    EXPECT_FALSE(is_synchronous(base));
    // NVIDIA's driver has no attributes of mapped memory.
    EXPECT_EQ(hipPointerSetAttribute(&on, kSync, base), is_bare_nvidia() ? hipErrorNotSupported : hipSuccess);
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

unsigned id_of(const void* pointer) {
  std::array<unsigned, 2> answer{0, 0xeeeeeeee};
  EXPECT_EQ(
      hipPointerGetAttribute(answer.data(), HIP_POINTER_ATTRIBUTE_BUFFER_ID, const_cast<void*>(pointer)),
      hipSuccess);
  EXPECT_EQ(answer[1], 0xeeeeeeee) << "4 bytes";
  EXPECT_NE(answer[0], 0u);
  return answer[0];
}

// Also where the memory of the last one is used again.
TEST(PointerId, IsNewForEachAllocation) {
  std::set<unsigned> ids;
  TestStream stream;
  std::vector<std::byte> own(kBytes);
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    void* memory = nullptr;
    HIP_OK(hipMalloc(&memory, kBytes));
    ids.insert(id_of(memory));
    HIP_OK(hipFree(memory));
    HIP_OK(hipHostMalloc(&memory, kBytes, hipHostMallocDefault));
    ids.insert(id_of(memory));
    HIP_OK(hipHostFree(memory));
    HIP_OK(hipMallocManaged(&memory, kBytes, hipMemAttachGlobal));
    ids.insert(id_of(memory));
    HIP_OK(hipFree(memory));
    HIP_OK(hipMallocAsync(&memory, kBytes, stream));
    ids.insert(id_of(memory));
    HIP_OK(hipFreeAsync(memory, stream));
    HIP_OK(hipHostRegister(own.data(), kBytes, hipHostRegisterDefault));
    ids.insert(id_of(own.data()));
    HIP_OK(hipHostUnregister(own.data()));
  }
  EXPECT_EQ(ids.size(), 5u * kRounds);
  HIP_OK(hipStreamSynchronize(stream));
}

TEST(PointerId, BelongsToTheWholeAllocation) {
  DeviceBuffer first(kBytes);
  DeviceBuffer second(kBytes);
  EXPECT_NE(id_of(first.get()), id_of(second.get()));
  EXPECT_EQ(id_of(first.at(kBytes - 1)), id_of(first.get()));
  std::vector<std::byte> own(kBytes);
  HIP_OK(hipHostRegister(own.data(), kBytes, hipHostRegisterMapped));
  void* seen_by_devices = nullptr;
  HIP_OK(hipHostGetDevicePointer(&seen_by_devices, own.data(), 0));
  EXPECT_EQ(id_of(seen_by_devices), id_of(own.data() + 100));
  HIP_OK(hipHostUnregister(own.data()));
}

// AMD's runtime of HIP 5 has no answer to these, whatever the memory is.
TEST(PointerAttribute, SomeAreNotSupported) {
  DeviceBuffer device(kBytes);
  int local = 0;
  for (const hipPointer_attribute attribute :
       {HIP_POINTER_ATTRIBUTE_CONTEXT, HIP_POINTER_ATTRIBUTE_P2P_TOKENS,
        HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE, HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
        HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE}) {
    std::uint64_t answer = 77;
    EXPECT_EQ(hipPointerGetAttribute(&answer, attribute, device.get()), hipErrorNotSupported) << attribute;
    EXPECT_EQ(hipPointerGetAttribute(&answer, attribute, &local), hipErrorNotSupported) << attribute;
    EXPECT_EQ(answer, 77u);
  }
  for (const int wrong : {-1, 0, 99}) {
    int answer = 77;
    const auto attribute = static_cast<hipPointer_attribute>(wrong);
    EXPECT_EQ(hipPointerGetAttribute(&answer, attribute, device.get()), hipErrorInvalidValue) << wrong;
    EXPECT_EQ(answer, 77);
  }
}

// What lies behind an answer stays.
TEST(PointerAttribute, AnswersAreAsLongAsAmds) {
  struct Length {
    hipPointer_attribute attribute;
    std::size_t bytes;
  };
  DeviceBuffer device(kBytes);
  int local = 0;
  for (const Length& length : {Length{HIP_POINTER_ATTRIBUTE_RANGE_SIZE, 4},
                               {kSync, 1},
                               {HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS, 4},
                               {HIP_POINTER_ATTRIBUTE_MAPPED, 1},
                               {HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, 4}}) {
    for (void* const pointer : {device.get(), static_cast<void*>(&local)}) {
      std::array<std::uint8_t, 8> answer;
      answer.fill(0xee);
      const bool known = pointer == device.get() || length.attribute == HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS;
      EXPECT_EQ(hipPointerGetAttribute(answer.data(), length.attribute, pointer),
                known ? hipSuccess : hipErrorInvalidValue)
          << length.attribute;
      for (std::size_t i = 0; i < answer.size(); ++i)
        EXPECT_EQ(answer[i] == 0xee, i >= length.bytes) << length.attribute << ", byte " << i;
    }
  }
  unsigned bytes = 0;
  HIP_OK(hipPointerGetAttribute(&bytes, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, device.at(10)));
  EXPECT_EQ(bytes, kBytes);
}

TEST(PointerAttribute, ArraysHaveATypeOnly) {
  const hipChannelFormatDesc elements = {8, 0, 0, 0, hipChannelFormatKindUnsigned};
  hipArray_t array = nullptr;
  HIP_OK(hipMallocArray(&array, &elements, 16, 16, hipArrayDefault));
  int type = 77;
  HIP_OK(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, array));
  EXPECT_EQ(type, hipMemoryTypeArray);
  EXPECT_EQ(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_BUFFER_ID, array), hipErrorInvalidValue);
  hipPointerAttribute_t attributes = {};
  EXPECT_EQ(hipPointerGetAttributes(&attributes, array), hipErrorInvalidValue);
  HIP_OK(hipFreeArray(array));
  EXPECT_EQ(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, array), hipErrorInvalidValue);
  EXPECT_EQ(type, 0);
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
  EXPECT_EQ(hipStreamAttachMemAsync(stream, &local, 4, hipMemAttachGlobal),
            reaches_pageable_memory() ? hipSuccess : hipErrorInvalidValue);
  EXPECT_EQ(hipStreamAttachMemAsync(stream, &local, 0, hipMemAttachGlobal), hipErrorInvalidValue)
      << "all of what?";
  EXPECT_EQ(hipStreamAttachMemAsync(reinterpret_cast<hipStream_t>(0x7777), managed, 0, hipMemAttachGlobal),
            hipErrorContextIsDestroyed);
  HIP_OK(hipFree(managed));
}

}  // namespace
}  // namespace tf::api_test
