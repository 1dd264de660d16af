// SPDX-License-Identifier: Apache-2.0
// hipMalloc and friends: addresses, limits, freeing, what is known of a pointer.
#include <array>
#include <set>

#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

TEST(Memory, MallocAndFree) {
  void* pointer = nullptr;
  HIP_OK(hipMalloc(&pointer, 1000));
  ASSERT_NE(pointer, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pointer) % 256, 0u);
  HIP_OK(hipFree(pointer));
  EXPECT_EQ(hipFree(pointer), hipErrorInvalidValue) << "freed twice";
}

TEST(Memory, EdgesOfMalloc) {
  void* pointer = &pointer;
  HIP_OK(hipMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  HIP_OK(hipFree(nullptr));
  EXPECT_EQ(hipMalloc(static_cast<void**>(nullptr), 10), hipErrorInvalidValue);
  EXPECT_EQ(hipMalloc(&pointer, SIZE_MAX / 2), hipErrorOutOfMemory);
  EXPECT_EQ(hipMalloc(&pointer, SIZE_MAX), hipErrorOutOfMemory);
  static_cast<void>(hipGetLastError());
  int on_stack = 0;
  EXPECT_EQ(hipFree(&on_stack), hipErrorInvalidValue);
}

TEST(Memory, OutOfMemoryIsAnsweredAndRecovers) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  HIP_OK(hipMemGetInfo(&free_bytes, &total_bytes));
  EXPECT_LE(free_bytes, total_bytes);
  void* pointer = nullptr;
  EXPECT_EQ(hipMalloc(&pointer, total_bytes + (std::size_t{1} << 30)), hipErrorOutOfMemory);
  HIP_OK(hipMalloc(&pointer, 1 << 20));
  HIP_OK(hipFree(pointer));
}

TEST(Memory, InfoCountsAllocations) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::size_t before = 0;
  std::size_t during = 0;
  std::size_t total = 0;
  HIP_OK(hipMemGetInfo(&before, &total));
  {
    DeviceBuffer buffer(kBytes);
    HIP_OK(hipMemGetInfo(&during, &total));
    EXPECT_LE(during + kBytes, before);
  }
  std::size_t after = 0;
  HIP_OK(hipMemGetInfo(&after, &total));
  EXPECT_GE(after, during + kBytes);
}

TEST(Memory, AllocationsAreDistinct) {
  std::vector<void*> pointers(200);
  std::set<void*> distinct;
  for (void*& pointer : pointers) {
    HIP_OK(hipMalloc(&pointer, 333));
    distinct.insert(pointer);
  }
  EXPECT_EQ(distinct.size(), pointers.size());
  for (std::size_t i = 0; i < pointers.size(); ++i) HIP_OK(hipMemset(pointers[i], static_cast<int>(i), 333));
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    std::vector<unsigned char> back(333);
    HIP_OK(hipMemcpy(back.data(), pointers[i], back.size(), hipMemcpyDeviceToHost));
    for (const unsigned char byte : back) ASSERT_EQ(byte, static_cast<unsigned char>(i));
  }
  for (void* pointer : pointers) HIP_OK(hipFree(pointer));
}

TEST(Memory, PitchedAllocations) {
  void* pointer = nullptr;
  std::size_t pitch = 0;
  HIP_OK(hipMallocPitch(&pointer, &pitch, 100, 50));
  EXPECT_GE(pitch, 100u);
  HIP_OK(hipMemset2D(pointer, pitch, 1, 100, 50));
  HIP_OK(hipFree(pointer));
  hipPitchedPtr pitched = {};
  HIP_OK(hipMalloc3D(&pitched, make_hipExtent(100, 20, 10)));
  EXPECT_GE(pitched.pitch, 100u);
  EXPECT_EQ(pitched.xsize, 100u);
  EXPECT_EQ(pitched.ysize, 20u);
  HIP_OK(hipFree(pitched.ptr));
  EXPECT_EQ(hipMallocPitch(nullptr, &pitch, 10, 10), hipErrorInvalidValue);
}

TEST(Memory, AddressRange) {
  DeviceBuffer buffer(5000);
  hipDeviceptr_t base = nullptr;
  std::size_t bytes = 0;
  HIP_OK(hipMemGetAddressRange(&base, &bytes, buffer.at(1234)));
  EXPECT_EQ(base, buffer.get());
  EXPECT_EQ(bytes, 5000u);
  int on_stack = 0;
  EXPECT_NE(hipMemGetAddressRange(&base, &bytes, &on_stack), hipSuccess);
}

TEST(Memory, PointerAttributes) {
  DeviceBuffer buffer(5000);
  hipPointerAttribute_t attributes = {};
  HIP_OK(hipPointerGetAttributes(&attributes, buffer.at(100)));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, buffer.at(100));
  EXPECT_EQ(attributes.isManaged, 0);
  int on_stack = 0;
  EXPECT_EQ(hipPointerGetAttributes(&attributes, &on_stack), hipErrorInvalidValue);
  EXPECT_EQ(hipPointerGetAttributes(nullptr, buffer.get()), hipErrorInvalidValue);
  hipMemoryType type = hipMemoryTypeHost;
  HIP_OK(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, buffer.get()));
  EXPECT_EQ(type, hipMemoryTypeDevice);
}

// The types are those of AMD's runtime: what lies behind the answer stays.
TEST(Memory, PointerAttributesOneByOne) {
  DeviceBuffer buffer(5000);
  DeviceBuffer other(5000);
  PinnedBuffer pinned(5000);
  std::array<unsigned, 3> ids{};
  const std::array<void*, 3> pointers{buffer.get(), other.at(100), pinned.as<void>()};
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    std::array<unsigned, 2> answer{0, 0xeeeeeeee};
    HIP_OK(hipPointerGetAttribute(answer.data(), HIP_POINTER_ATTRIBUTE_BUFFER_ID, pointers[i]));
    EXPECT_EQ(answer[1], 0xeeeeeeee);
    ids[i] = answer[0];
  }
  EXPECT_TRUE(ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2]);
  unsigned again = 0;
  HIP_OK(hipPointerGetAttribute(&again, HIP_POINTER_ATTRIBUTE_BUFFER_ID, buffer.at(4999)));
  EXPECT_EQ(again, ids[0]);
  for (const hipPointer_attribute which : {HIP_POINTER_ATTRIBUTE_IS_MANAGED, HIP_POINTER_ATTRIBUTE_MAPPED}) {
    std::array<unsigned char, 4> answer{0xee, 0xee, 0xee, 0xee};
    HIP_OK(hipPointerGetAttribute(answer.data(), which, buffer.get()));
    EXPECT_EQ(answer,
              (std::array<unsigned char, 4>{which == HIP_POINTER_ATTRIBUTE_MAPPED, 0xee, 0xee, 0xee}));
  }
}

// A program asks the attribute first; what it says must be so.
TEST(Memory, IsManagedWhereTheDeviceSaysSo) {
  int managed = -1;
  HIP_OK(hipDeviceGetAttribute(&managed, hipDeviceAttributeManagedMemory, 0));
  hipDeviceProp_t properties;
  HIP_OK(hipGetDeviceProperties(&properties, 0));
  EXPECT_EQ(properties.managedMemory, managed);
  void* memory = nullptr;
  const hipError_t status = hipMallocManaged(&memory, 4096, hipMemAttachGlobal);
  if (managed == 0) {
    EXPECT_EQ(status, hipErrorNotSupported);
    return;
  }
  ASSERT_EQ(status, hipSuccess);
  *static_cast<volatile int*>(memory) = 1;
  HIP_OK(hipFree(memory));
}

TEST(Memory, RowsAreOfElementsOfFourEightOrSixteenBytes) {
  hipDeviceptr_t memory = nullptr;
  std::size_t pitch = 0;
  for (const unsigned bytes : {0U, 3U, 17U})
    EXPECT_EQ(hipMemAllocPitch(&memory, &pitch, 64, 4, bytes), hipErrorInvalidValue) << bytes;
  for (const unsigned bytes : {4U, 8U, 16U}) {
    HIP_OK(hipMemAllocPitch(&memory, &pitch, 64, 4, bytes));
    HIP_OK(hipFree(memory));
  }
}

// The call says so, not a later one.
TEST(Memory, WordsOfStreamsAreAligned) {
  char* memory = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&memory), 64));
  EXPECT_EQ(hipStreamWriteValue32(nullptr, memory + 1, 1, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamWriteValue64(nullptr, memory + 4, 1, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamWaitValue32(nullptr, memory + 1, 0, hipStreamWaitValueGte, ~0U), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamWaitValue64(nullptr, memory + 4, 0, hipStreamWaitValueGte, ~0ULL), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamWaitValue32(nullptr, memory, 0, 4, ~0U), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamWaitValue64(nullptr, memory, 0, 4, ~0ULL), hipErrorInvalidValue);
  HIP_OK(hipDeviceSynchronize());
  HIP_OK(hipFree(memory));
}

}  // namespace
}  // namespace tf::api_test
