// SPDX-License-Identifier: Apache-2.0
// Memory of pools, shared between processes.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/api/hip_test.h"
#include "tests/api/partner.h"

extern "C" hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute,
                                             hipDeviceptr_t pointer);  // HIP 5.5

namespace tf::api_test {
namespace {

constexpr std::size_t kCount = 100'000;
constexpr std::size_t kSharedBytes = kCount * sizeof(std::uint32_t);
constexpr auto kFile = hipMemHandleTypePosixFileDescriptor;
constexpr const char* kPartner = "PoolPartner.DISABLED_Run";

hipMemPool_t make_pool(hipMemAllocationHandleType type) {
  hipMemPoolProps properties = {};
  properties.allocType = hipMemAllocationTypePinned;
  properties.handleTypes = type;
  properties.location = {hipMemLocationTypeDevice, 0};
  hipMemPool_t pool = nullptr;
  EXPECT_EQ(hipMemPoolCreate(&pool, &properties), hipSuccess);
  return pool;
}

// A pool for other processes, its descriptor, and memory with counting numbers.
class PoolSharing : public testing::Test {
 protected:
  void SetUp() override {
    int supported = 0;
    HIP_OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeMemoryPoolsSupported, 0));
    if (supported == 0) GTEST_SKIP() << "no memory pools";
    pool_ = make_pool(kFile);
    HIP_OK(hipMallocFromPoolAsync(&memory_, kSharedBytes, pool_, stream_));
    const std::vector<std::uint32_t> numbers = counting(kCount, 7);
    HIP_OK(hipMemcpyAsync(memory_, numbers.data(), kSharedBytes, hipMemcpyHostToDevice, stream_));
    HIP_OK(hipMemPoolExportToShareableHandle(&file_, pool_, kFile, 0));
    EXPECT_GE(file_, 0);
  }
  void TearDown() override {
    if (memory_ != nullptr) {
      EXPECT_EQ(hipFreeAsync(memory_, stream_), hipSuccess);
    }
    HIP_OK(hipStreamSynchronize(stream_));
    if (pool_ != nullptr) {
      EXPECT_EQ(hipMemPoolDestroy(pool_), hipSuccess);
    }
    if (file_ >= 0) ::close(file_);
  }
  void* file() const { return reinterpret_cast<void*>(static_cast<std::intptr_t>(file_)); }

  TestStream stream_;
  hipMemPool_t pool_ = nullptr;
  void* memory_ = nullptr;
  int file_ = -1;
};

TEST_F(PoolSharing, AnotherProcessReadsAndWrites) {
  hipMemPoolPtrExportData data = {};
  HIP_OK(hipMemPoolExportPointer(&data, memory_));
  EXPECT_EQ(exit_code(start_partner("change", hex(data), file_, kPartner)), 0);
  std::uint32_t last = 0;
  HIP_OK(hipMemcpy(&last, static_cast<std::byte*>(memory_) + kSharedBytes - sizeof last, sizeof last,
                   hipMemcpyDeviceToHost));
  EXPECT_EQ(last, 42u);
}

TEST_F(PoolSharing, APointerIsFreedAsItWasGiven) {
  if (is_bare_nvidia()) GTEST_SKIP() << "NVIDIA's driver shares whole allocations only";
  hipMemPoolPtrExportData data = {};
  HIP_OK(hipMemPoolExportPointer(&data, static_cast<std::uint32_t*>(memory_) + 1));
  EXPECT_EQ(exit_code(start_partner("inner", hex(data), file_, kPartner)), 0);
}

TEST_F(PoolSharing, WhatWasFreedIsGone) {
  if (is_bare_nvidia()) GTEST_SKIP() << "NVIDIA's driver gives what its owner has freed";
  hipMemPoolPtrExportData data = {};
  HIP_OK(hipMemPoolExportPointer(&data, memory_));
  HIP_OK(hipFreeAsync(memory_, stream_));
  memory_ = nullptr;
  HIP_OK(hipStreamSynchronize(stream_));
  EXPECT_EQ(exit_code(start_partner("gone", hex(data), file_, kPartner)), 0);
}

// The thread may be the one that lets the stream go on.
TEST_F(PoolSharing, FreeingItWaitsForNothing) {
  hipMemPoolPtrExportData data = {};
  HIP_OK(hipMemPoolExportPointer(&data, memory_));
  Gate gate;
  gate.close(stream_);
  HIP_OK(hipFreeAsync(memory_, stream_));
  memory_ = nullptr;
  EXPECT_EQ(hipStreamQuery(stream_), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(stream_));
  std::uint64_t reserved = 1;
  HIP_OK(hipMemPoolGetAttribute(pool_, hipMemPoolAttrReservedMemCurrent, &reserved));
  EXPECT_EQ(reserved, 0u);
}

TEST_F(PoolSharing, OnlyItsOwnMemoryIsShared) {
  hipMemPoolPtrExportData data = {};
  DeviceBuffer plain(64);
  EXPECT_EQ(hipMemPoolExportPointer(&data, plain.get()), hipErrorInvalidValue);
  hipMemPool_t unshared = make_pool(hipMemHandleTypeNone);
  void* memory = nullptr;
  HIP_OK(hipMallocFromPoolAsync(&memory, 64, unshared, stream_));
  EXPECT_EQ(hipMemPoolExportPointer(&data, memory), hipErrorInvalidValue);
  int file = -1;
  EXPECT_EQ(hipMemPoolExportToShareableHandle(&file, unshared, kFile, 0), hipErrorInvalidValue);
  EXPECT_EQ(file, -1);
  HIP_OK(hipFreeAsync(memory, stream_));
  HIP_OK(hipStreamSynchronize(stream_));
  HIP_OK(hipMemPoolDestroy(unshared));
}

TEST_F(PoolSharing, AnImportedPoolGivesNoMemory) {
  hipMemPool_t imported = nullptr;
  HIP_OK(hipMemPoolImportFromShareableHandle(&imported, file(), kFile, 0));
  void* memory = nullptr;
  EXPECT_EQ(hipMallocFromPoolAsync(&memory, 64, imported, stream_), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceSetMemPool(0, imported), hipErrorInvalidValue);
  hipMemPoolPtrExportData data = {};
  HIP_OK(hipMemPoolExportPointer(&data, memory_));
  EXPECT_EQ(hipMemPoolExportToShareableHandle(&file_, imported, kFile, 0), hipErrorInvalidValue);
  HIP_OK(hipMemPoolDestroy(imported));
  EXPECT_EQ(hipMemPoolImportPointer(&memory, imported, &data), hipErrorInvalidValue) << "it is gone";
}

// At another address, which lasts longer than the first.
TEST_F(PoolSharing, TheProcessItselfHasASecondView) {
  hipMemPool_t imported = nullptr;
  HIP_OK(hipMemPoolImportFromShareableHandle(&imported, file(), kFile, 0));
  hipMemPoolPtrExportData data = {};
  HIP_OK(hipMemPoolExportPointer(&data, memory_));
  void* view = nullptr;
  HIP_OK(hipMemPoolImportPointer(&view, imported, &data));
  EXPECT_NE(view, memory_);
  HIP_OK(hipMemsetD32Async(view, 42, 1, stream_));
  HIP_OK(hipMemsetD32Async(static_cast<std::uint32_t*>(memory_) + 1, 43, 1, stream_));
  HIP_OK(hipStreamSynchronize(stream_));
  std::vector<std::uint32_t> expected = counting(kCount, 7);
  expected[0] = 42;
  expected[1] = 43;
  std::vector<std::uint32_t> seen(kCount);
  HIP_OK(hipMemcpy(seen.data(), memory_, kSharedBytes, hipMemcpyDeviceToHost));
  EXPECT_TRUE(seen == expected);
  HIP_OK(hipFreeAsync(memory_, stream_));
  memory_ = nullptr;
  HIP_OK(hipStreamSynchronize(stream_));
  std::fill(seen.begin(), seen.end(), 0u);
  HIP_OK(hipMemcpy(seen.data(), view, kSharedBytes, hipMemcpyDeviceToHost));
  EXPECT_TRUE(seen == expected);
  HIP_OK(hipFree(view));
  HIP_OK(hipMemPoolDestroy(imported));
}

// The descriptor by value, pointed to, and by value in the lower half of what the program passes.
TEST_F(PoolSharing, ADescriptorInThreeForms) {
  const auto low = static_cast<std::uintptr_t>(file_);
  for (void* const handle : {reinterpret_cast<void*>(low), static_cast<void*>(&file_),
                             reinterpret_cast<void*>(low | std::uintptr_t{0x656c646e} << 32),
                             reinterpret_cast<void*>(low | std::uintptr_t{0x1} << 32)}) {
    hipMemPool_t imported = nullptr;
    HIP_OK(hipMemPoolImportFromShareableHandle(&imported, handle, kFile, 0));
    HIP_OK(hipMemPoolDestroy(imported));
  }
}

TEST_F(PoolSharing, BadArgumentsAreRefused) {
  int file = -1;
  hipMemPool_t pool = nullptr;
  void* pointer = nullptr;
  hipMemPoolPtrExportData data = {};
  EXPECT_EQ(hipMemPoolExportToShareableHandle(nullptr, pool_, kFile, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolExportToShareableHandle(&file, nullptr, kFile, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolExportToShareableHandle(&file, pool_, hipMemHandleTypeNone, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolExportToShareableHandle(&file, pool_, hipMemHandleTypeWin32, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolExportToShareableHandle(&file, pool_, kFile, 1), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolImportFromShareableHandle(nullptr, this->file(), kFile, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolImportFromShareableHandle(&pool, nullptr, kFile, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolImportFromShareableHandle(&pool, this->file(), hipMemHandleTypeNone, 0),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolImportFromShareableHandle(&pool, this->file(), kFile, 1), hipErrorInvalidValue);
  void* const no_pool = reinterpret_cast<void*>(static_cast<std::intptr_t>(999));
  EXPECT_EQ(hipMemPoolImportFromShareableHandle(&pool, no_pool, kFile, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolExportPointer(nullptr, memory_), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolExportPointer(&data, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolExportPointer(&data, &data), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolImportPointer(nullptr, pool_, &data), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolImportPointer(&pointer, nullptr, &data), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolImportPointer(&pointer, pool_, nullptr), hipErrorInvalidValue);
  HIP_OK(hipMemPoolImportFromShareableHandle(&pool, this->file(), kFile, 0));
  EXPECT_EQ(hipMemPoolImportPointer(&pointer, pool, &data), hipErrorInvalidValue) << "no export data";
  EXPECT_EQ(pointer, nullptr);
  HIP_OK(hipMemPoolDestroy(pool));
}

void change(hipMemPool_t pool, hipMemPoolPtrExportData& data) {
  void* shared = nullptr;
  HIP_OK(hipMemPoolImportPointer(&shared, pool, &data));
  std::vector<std::uint32_t> seen(kCount);
  HIP_OK(hipMemcpy(seen.data(), shared, kSharedBytes, hipMemcpyDeviceToHost));
  EXPECT_TRUE(seen == counting(kCount, 7));
  HIP_OK(hipMemsetD32(static_cast<std::byte*>(shared) + kSharedBytes - sizeof(std::uint32_t), 42, 1));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(hipFreeAsync(static_cast<std::byte*>(shared) + 4, nullptr), hipErrorInvalidValue);
  const unsigned on = 1;
  HIP_OK(hipPointerSetAttribute(&on, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, shared));
  HIP_OK(hipFreeAsync(shared, nullptr));
  HIP_OK(hipDeviceSynchronize());
  HIP_OK(hipMemPoolImportPointer(&shared, pool, &data)) << "freed, so it can be had again";
  bool synchronous = true;
  HIP_OK(hipPointerGetAttribute(&synchronous, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, shared));
  EXPECT_FALSE(synchronous) << "other memory, though at the same address";
  EXPECT_EQ(hipFree(static_cast<std::byte*>(shared) + 4), hipErrorInvalidValue);
  HIP_OK(hipFree(shared));
  EXPECT_EQ(hipFree(shared), hipErrorInvalidValue);
}

// The exporter's pointer was inside its allocation.
void free_inner(hipMemPool_t pool, hipMemPoolPtrExportData& data) {
  void* inner = nullptr;
  HIP_OK(hipMemPoolImportPointer(&inner, pool, &data));
  auto* const base = static_cast<std::uint32_t*>(inner) - 1;
  EXPECT_EQ(hipFree(base), hipErrorInvalidValue) << "not the pointer that was given";
  std::uint32_t seen = 0;
  HIP_OK(hipMemcpy(&seen, inner, sizeof seen, hipMemcpyDeviceToHost));
  EXPECT_EQ(seen, 8u);
  HIP_OK(hipFree(inner));
}

// Remotely hipFreeAsync waits for the devices, as hipFree does.
void free_behind_gate(hipMemPool_t pool, hipMemPoolPtrExportData& data) {
  void* shared = nullptr;
  HIP_OK(hipMemPoolImportPointer(&shared, pool, &data));
  TestStream stream;
  Gate gate;
  gate.close(stream);
  HIP_OK(hipFreeAsync(shared, stream));
  EXPECT_EQ(hipStreamQuery(stream), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(stream));
}

TEST(PoolPartner, DISABLED_Run) {
  const char* const role = std::getenv("HIP_TEST_PARTNER");
  const char* const text = std::getenv("HIP_TEST_HANDLE");
  if (role == nullptr || text == nullptr) GTEST_SKIP() << "only as somebody's partner";
  auto data = from_hex<hipMemPoolPtrExportData>(text);
  hipMemPool_t pool = nullptr;
  int file = kPartnerFd;
  HIP_OK(hipMemPoolImportFromShareableHandle(&pool, &file, kFile, 0)) << "pointed to";
  if (std::string(role) == "change") change(pool, data);
  if (std::string(role) == "change" && !is_remote()) free_behind_gate(pool, data);
  if (std::string(role) == "inner") free_inner(pool, data);
  void* shared = nullptr;
  if (std::string(role) == "gone") {
    EXPECT_EQ(hipMemPoolImportPointer(&shared, pool, &data), hipErrorInvalidValue);
  }
  HIP_OK(hipMemPoolDestroy(pool));
}

}  // namespace
}  // namespace tf::api_test
