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
    HIP_OK(hipMemGetAllocationGranularity(&granularity_, &prop_, hipMemAllocationGranularityMinimum));
    ASSERT_GT(granularity_, 0u);
  }
  hipError_t allow(void* pointer, std::size_t bytes,
                   hipMemAccessFlags flags = hipMemAccessFlagsProtReadWrite) {
    hipMemAccessDesc access = {};
    access.location = prop_.location;
    access.flags = flags;
    return hipMemSetAccess(pointer, bytes, &access, 1);
  }
  // Reserved, mapped to memory of its own and accessible.
  void make(std::size_t bytes, void*& base, hipMemGenericAllocationHandle_t& handle) {
    HIP_OK(hipMemAddressReserve(&base, bytes, 0, nullptr, 0));
    HIP_OK(hipMemCreate(&handle, bytes, &prop_, 0));
    HIP_OK(hipMemMap(base, bytes, 0, handle, 0));
    HIP_OK(allow(base, bytes));
  }
  void unmake(void* base, std::size_t bytes, hipMemGenericAllocationHandle_t handle) {
    HIP_OK(hipMemUnmap(base, bytes));
    HIP_OK(hipMemRelease(handle));
    HIP_OK(hipMemAddressFree(base, bytes));
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

// hipMemset() may return before the memory is filled. Whoever takes the access away waits for it.
TEST_F(VirtualMemory, AFillIsDoneBeforeItsAccessGoes) {
  void* base = nullptr;
  hipMemGenericAllocationHandle_t handle = nullptr;
  make(granularity_, base, handle);
  HIP_OK(hipMemset(base, 1, granularity_));
  HIP_OK(hipDeviceSynchronize());
  Gate gate;
  gate.close(nullptr);
  const SoonOpen opener(gate);
  HIP_OK(hipMemset(base, 3, granularity_));
  HIP_OK(allow(base, granularity_, hipMemAccessFlagsProtNone));
  HIP_OK(hipDeviceSynchronize());
  HIP_OK(allow(base, granularity_));
  std::vector<unsigned char> back(granularity_);
  HIP_OK(hipMemcpy(back.data(), base, granularity_, hipMemcpyDeviceToHost));
  EXPECT_TRUE(back == std::vector<unsigned char>(granularity_, 3));
  unmake(base, granularity_, handle);
}

// AMD's 7.2 compares sizes of all mappings of a range.
TEST_F(VirtualMemory, RangesHaveMappingsOfTheirOwnSizes) {
  for (const bool large_first : {false, true}) {
    void* base[2] = {};
    hipMemGenericAllocationHandle_t handle[2] = {};
    const std::size_t bytes[2] = {(large_first ? 2 : 1) * granularity_, (large_first ? 1 : 2) * granularity_};
    for (int range = 0; range < 2; ++range) {
      HIP_OK(hipMemAddressReserve(&base[range], 4 * granularity_, 0, nullptr, 0));
      HIP_OK(hipMemCreate(&handle[range], bytes[range], &prop_, 0));
      HIP_OK(hipMemMap(base[range], bytes[range], 0, handle[range], 0));
    }
    for (int range = 0; range < 2; ++range) {
      HIP_OK(allow(base[range], bytes[range]));
      HIP_OK(hipMemset(base[range], 7 + range, bytes[range]));
    }
    for (int range = 0; range < 2; ++range) {
      std::vector<unsigned char> back(bytes[range]);
      HIP_OK(hipMemcpy(back.data(), base[range], bytes[range], hipMemcpyDeviceToHost));
      EXPECT_TRUE(back == std::vector<unsigned char>(bytes[range], static_cast<unsigned char>(7 + range)));
      HIP_OK(hipMemUnmap(base[range], bytes[range]));
      HIP_OK(hipMemRelease(handle[range]));
      HIP_OK(hipMemAddressFree(base[range], 4 * granularity_));
    }
  }
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
  if (is_bare_nvidia()) GTEST_SKIP() << "NVIDIA's driver may choose another";
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

TEST_F(VirtualMemory, CopiesInEveryDirectionAndAcrossTheSeam) {
  const std::size_t bytes = 2 * granularity_;
  void* base = nullptr;
  HIP_OK(hipMemAddressReserve(&base, bytes, 0, nullptr, 0));
  hipMemGenericAllocationHandle_t handle = nullptr;
  HIP_OK(hipMemCreate(&handle, bytes, &prop_, 0));
  void* const half = static_cast<char*>(base) + granularity_;
  const hipError_t error = hipMemMap(half, granularity_, 0, handle, 0);  // the halves change places
  if ((error == hipErrorNotSupported && is_nvidia()) || (error == hipErrorInvalidValue && is_amd())) {
    HIP_OK(hipMemRelease(handle));
    HIP_OK(hipMemAddressFree(base, bytes));
    GTEST_SKIP() << "AMD's runtime and NVIDIA's driver map a handle only whole";
  }
  HIP_OK(error);
  HIP_OK(hipMemMap(base, granularity_, granularity_, handle, 0));
  HIP_OK(allow(base, bytes));
  const std::vector<std::uint32_t> sent = counting(bytes / 4, 1);
  HIP_OK(hipMemcpy(base, sent.data(), bytes, hipMemcpyHostToDevice));
  DeviceBuffer plain(bytes);
  HIP_OK(hipMemcpy(plain.get(), base, bytes, hipMemcpyDeviceToDevice));
  std::vector<std::uint32_t> back(bytes / 4);
  HIP_OK(hipMemcpy(back.data(), plain.get(), bytes, hipMemcpyDefault));
  EXPECT_TRUE(back == sent);
  TestStream stream;
  HIP_OK(hipMemsetD32Async(half, 9, granularity_ / 4, stream));
  HIP_OK(hipMemcpyAsync(back.data(), base, bytes, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(back[granularity_ / 4 - 1], granularity_ / 4);
  EXPECT_EQ(back[granularity_ / 4], 9u);
  EXPECT_EQ(back.back(), 9u);
  EXPECT_EQ(hipMemcpy(back.data(), static_cast<char*>(base) + 4, bytes, hipMemcpyDeviceToHost),
            hipErrorInvalidValue);
  unmake(base, bytes, handle);
}

TEST_F(VirtualMemory, AHandleLivesAsLongAsItsReferences) {
  void* base = nullptr;
  hipMemGenericAllocationHandle_t handle = nullptr;
  make(granularity_, base, handle);
  hipMemGenericAllocationHandle_t again = nullptr;
  HIP_OK(hipMemRetainAllocationHandle(&again, static_cast<char*>(base) + 17));
  EXPECT_EQ(again, handle);
  HIP_OK(hipMemRelease(handle));
  hipMemAllocationProp properties = {};
  HIP_OK(hipMemGetAllocationPropertiesFromHandle(&properties, handle));
  EXPECT_EQ(properties.type, hipMemAllocationTypePinned);
  EXPECT_EQ(properties.location.id, 0);
  HIP_OK(hipMemRelease(handle));
  EXPECT_EQ(hipMemRelease(handle), hipErrorInvalidValue);
  EXPECT_EQ(hipMemGetAllocationPropertiesFromHandle(&properties, handle), hipErrorInvalidValue);
  HIP_OK(hipMemset(base, 3, granularity_)) << "the mapping still owns the memory";
  HIP_OK(hipMemRetainAllocationHandle(&again, base));
  HIP_OK(hipMemUnmap(base, granularity_));
  HIP_OK(hipMemMap(base, granularity_, 0, again, 0));
  HIP_OK(allow(base, granularity_));
  unsigned char back = 0;
  HIP_OK(hipMemcpy(&back, base, 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, 3);
  unmake(base, granularity_, again);
  EXPECT_EQ(hipMemRetainAllocationHandle(&again, base), hipErrorInvalidValue);
}

TEST_F(VirtualMemory, AccessIsKeptPerDevice) {
  void* base = nullptr;
  hipMemGenericAllocationHandle_t handle = nullptr;
  make(granularity_, base, handle);
  unsigned long long flags = 0;
  HIP_OK(hipMemGetAccess(&flags, &prop_.location, base));
  EXPECT_EQ(flags, hipMemAccessFlagsProtReadWrite);
  HIP_OK(allow(base, granularity_, hipMemAccessFlagsProtRead));
  HIP_OK(hipMemGetAccess(&flags, &prop_.location, static_cast<char*>(base) + 5));
  EXPECT_EQ(flags, hipMemAccessFlagsProtRead);
  hipMemLocation nowhere = {hipMemLocationTypeDevice, device_count()};
  EXPECT_EQ(hipMemGetAccess(&flags, &nowhere, base), hipErrorInvalidValue);
  if (device_count() > 1) {
    const hipMemLocation other = {hipMemLocationTypeDevice, 1};
    HIP_OK(hipMemGetAccess(&flags, &other, base));
    EXPECT_EQ(flags, hipMemAccessFlagsProtNone);
    const hipMemAccessDesc both[] = {{prop_.location, hipMemAccessFlagsProtReadWrite},
                                     {other, hipMemAccessFlagsProtNone}};
    HIP_OK(hipMemSetAccess(base, granularity_, both, 2));
    HIP_OK(hipMemset(base, 1, granularity_));
    HIP_OK(hipDeviceSynchronize());
  }
  EXPECT_EQ(hipMemSetAccess(base, 2 * granularity_, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(allow(base, 2 * granularity_), hipErrorInvalidValue) << "more than is mapped";
  unmake(base, granularity_, handle);
  EXPECT_EQ(hipMemGetAccess(&flags, &prop_.location, base), hipErrorInvalidValue);
}

TEST_F(VirtualMemory, PointersAreKnownWhileMapped) {
  void* base = nullptr;
  hipMemGenericAllocationHandle_t handle = nullptr;
  make(granularity_, base, handle);
  void* const inside = static_cast<char*>(base) + 100;
  hipPointerAttribute_t attributes = {};
  HIP_OK(hipPointerGetAttributes(&attributes, inside));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, inside);
  hipDeviceptr_t start = nullptr;
  std::size_t length = 0;
  HIP_OK(hipMemGetAddressRange(&start, &length, inside));
  EXPECT_EQ(start, base);
  EXPECT_EQ(length, granularity_);
  EXPECT_EQ(hipFree(base), hipErrorInvalidValue) << "not of hipMalloc";
  HIP_OK(hipMemUnmap(base, granularity_));
  EXPECT_EQ(hipPointerGetAttributes(&attributes, inside), hipErrorInvalidValue);
  HIP_OK(hipMemMap(base, granularity_, 0, handle, 0));
  unmake(base, granularity_, handle);
}

TEST_F(VirtualMemory, MemoryIsBookedUntilItsLastOwnerIsGone) {
  std::size_t before = 0;
  std::size_t total = 0;
  HIP_OK(hipMemGetInfo(&before, &total));
  void* base = nullptr;
  hipMemGenericAllocationHandle_t handle = nullptr;
  make(4 * granularity_, base, handle);
  std::size_t now = 0;
  HIP_OK(hipMemGetInfo(&now, &total));
  EXPECT_EQ(before - now, 4 * granularity_);
  HIP_OK(hipMemRelease(handle));
  HIP_OK(hipMemGetInfo(&now, &total));
  EXPECT_EQ(before - now, 4 * granularity_) << "still mapped";
  HIP_OK(hipMemUnmap(base, 4 * granularity_));
  HIP_OK(hipMemGetInfo(&now, &total));
  EXPECT_EQ(now, before);
  HIP_OK(hipMemAddressFree(base, 4 * granularity_));
  const std::size_t too_much = (total / granularity_ + 1) * granularity_;
  EXPECT_EQ(hipMemCreate(&handle, too_much, &prop_, 0), hipErrorOutOfMemory);
}

TEST_F(VirtualMemory, WhatHipFreeGaveBackCanBeCreated) {
  std::size_t total = 0;
  std::size_t available = 0;
  HIP_OK(hipMemGetInfo(&available, &total));
  const std::size_t most = available / 4 * 3 / granularity_ * granularity_;
  void* pointer = nullptr;
  HIP_OK(hipMalloc(&pointer, 3 * granularity_));
  HIP_OK(hipFree(pointer));
  HIP_OK(hipMalloc(&pointer, most));
  HIP_OK(hipFree(pointer));
  hipMemGenericAllocationHandle_t handle = nullptr;
  HIP_OK(hipMemCreate(&handle, most, &prop_, 0));
  HIP_OK(hipMemRelease(handle));
  HIP_OK(hipMalloc(&pointer, most));
  HIP_OK(hipFree(pointer));
}

TEST_F(VirtualMemory, ReservationsKeepApart) {
  void* bases[3] = {};
  for (void*& base : bases)
    HIP_OK(hipMemAddressReserve(&base, 3 * granularity_, 8 * granularity_, nullptr, 0));
  for (void* base : bases) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(base) % (8 * granularity_), 0u);
  void* taken = nullptr;
  HIP_OK(hipMemAddressReserve(&taken, granularity_, 0, bases[1], 0)) << "the address is a wish";
  for (void* base : bases) EXPECT_NE(taken, base);
  HIP_OK(hipMemAddressFree(taken, granularity_));
  EXPECT_EQ(hipMemAddressReserve(&taken, granularity_, 3, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemAddressReserve(&taken, granularity_, 0, nullptr, 1), hipErrorInvalidValue);
  EXPECT_EQ(hipMemAddressReserve(&taken, 0, 0, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemAddressFree(bases[0], granularity_), hipErrorInvalidValue) << "not all of it";
  for (void* base : bases) HIP_OK(hipMemAddressFree(base, 3 * granularity_));
}

TEST_F(VirtualMemory, WhatIsInUseStays) {
  void* base = nullptr;
  hipMemGenericAllocationHandle_t handle = nullptr;
  make(2 * granularity_, base, handle);
  EXPECT_EQ(hipMemAddressFree(base, 2 * granularity_), hipErrorInvalidValue) << "mapped";
  EXPECT_EQ(hipMemMap(base, granularity_, 0, handle, 0), hipErrorInvalidValue) << "mapped already";
  EXPECT_EQ(hipMemUnmap(base, granularity_), hipErrorInvalidValue) << "half a mapping";
  EXPECT_EQ(hipMemMap(base, granularity_, 0, nullptr, 0), hipErrorInvalidValue);
  unmake(base, 2 * granularity_, handle);
}

// As an allocator uses it that grows a buffer in place.
TEST_F(VirtualMemory, ABufferGrowsInPlace) {
  constexpr std::size_t kSteps = 8;
  void* base = nullptr;
  HIP_OK(hipMemAddressReserve(&base, kSteps * granularity_, 0, nullptr, 0));
  for (std::size_t step = 0; step < kSteps; ++step) {
    void* const end = static_cast<char*>(base) + step * granularity_;
    hipMemGenericAllocationHandle_t handle = nullptr;
    HIP_OK(hipMemCreate(&handle, granularity_, &prop_, 0));
    HIP_OK(hipMemMap(end, granularity_, 0, handle, 0));
    HIP_OK(hipMemRelease(handle));
    HIP_OK(allow(end, granularity_));
    HIP_OK(hipMemsetAsync(base, static_cast<int>(step), (step + 1) * granularity_, nullptr));
  }
  std::vector<unsigned char> back(kSteps * granularity_);
  HIP_OK(hipMemcpy(back.data(), base, back.size(), hipMemcpyDeviceToHost));
  EXPECT_TRUE(back == std::vector<unsigned char>(back.size(), kSteps - 1));
  HIP_OK(hipMemUnmap(base, kSteps * granularity_));
  HIP_OK(hipMemAddressFree(base, kSteps * granularity_));
}

}  // namespace
}  // namespace tf::api_test
