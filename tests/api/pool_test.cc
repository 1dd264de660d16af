// SPDX-License-Identifier: Apache-2.0
// Stream-ordered memory and pools.
#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

bool pools_supported() {
  int supported = 0;
  return hipDeviceGetAttribute(&supported, hipDeviceAttributeMemoryPoolsSupported, 0) == hipSuccess &&
         supported;
}

TEST(Pool, AllocateUseFree) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  TestStream stream;
  for (int round = 0; round < 20; ++round) {
    void* pointer = nullptr;
    HIP_OK(hipMallocAsync(&pointer, 100000, stream));
    HIP_OK(hipMemsetAsync(pointer, round, 100000, stream));
    unsigned char back = 0;
    HIP_OK(hipMemcpyAsync(&back, static_cast<char*>(pointer) + 99999, 1, hipMemcpyDeviceToHost, stream));
    HIP_OK(hipFreeAsync(pointer, stream));
    HIP_OK(hipStreamSynchronize(stream));
    EXPECT_EQ(back, round);
  }
}

TEST(Pool, BadArgumentsAreRefused) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  TestStream stream;
  void* pointer = nullptr;
  EXPECT_EQ(hipMallocAsync(static_cast<void**>(nullptr), 10, stream), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocAsync(&pointer, SIZE_MAX / 4, stream), hipErrorOutOfMemory);
  int on_stack = 0;
  EXPECT_EQ(hipFreeAsync(&on_stack, stream), hipErrorInvalidValue);
  HIP_OK(hipMallocAsync(&pointer, 10, stream));
  HIP_OK(hipFreeAsync(pointer, stream));
  EXPECT_EQ(hipFreeAsync(pointer, stream), hipErrorInvalidValue) << "freed twice";
}

TEST(Pool, AsyncMemoryMayBeFreedPlainly) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  void* pointer = nullptr;
  HIP_OK(hipMallocAsync(&pointer, 5000, nullptr));
  HIP_OK(hipFree(pointer));
}

TEST(Pool, AttributesCount) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  hipMemPoolProps props = {};
  props.allocType = hipMemAllocationTypePinned;
  props.location = {hipMemLocationTypeDevice, 0};
  hipMemPool_t pool = nullptr;
  HIP_OK(hipMemPoolCreate(&pool, &props));
  std::uint64_t threshold = UINT64_MAX;
  HIP_OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
  void* pointer = nullptr;
  HIP_OK(hipMallocFromPoolAsync(&pointer, 1 << 20, pool, nullptr));
  std::uint64_t used = 0;
  std::uint64_t reserved = 0;
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  EXPECT_GE(used, std::uint64_t{1} << 20);
  HIP_OK(hipFreeAsync(pointer, nullptr));
  HIP_OK(hipStreamSynchronize(nullptr));
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0u);
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReservedMemCurrent, &reserved));
  EXPECT_GE(reserved, std::uint64_t{1} << 20) << "kept below the threshold";
  HIP_OK(hipMemPoolTrimTo(pool, 0));
  HIP_OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReservedMemCurrent, &reserved));
  EXPECT_EQ(reserved, 0u);
  HIP_OK(hipMemPoolDestroy(pool));
  EXPECT_NE(hipMemPoolDestroy(pool), hipSuccess);
}

// A pool of its own, and what it says.
class OwnPool {
 public:
  explicit OwnPool(std::uint64_t threshold) {
    hipMemPoolProps props = {};
    props.allocType = hipMemAllocationTypePinned;
    props.location = {hipMemLocationTypeDevice, 0};
    EXPECT_EQ(hipMemPoolCreate(&pool_, &props), hipSuccess);
    EXPECT_EQ(hipMemPoolSetAttribute(pool_, hipMemPoolAttrReleaseThreshold, &threshold), hipSuccess);
  }
  ~OwnPool() { EXPECT_EQ(hipMemPoolDestroy(pool_), hipSuccess); }
  OwnPool(const OwnPool&) = delete;
  OwnPool& operator=(const OwnPool&) = delete;

  void* allocate(std::size_t bytes, hipStream_t stream) {
    void* pointer = nullptr;
    EXPECT_EQ(hipMallocFromPoolAsync(&pointer, bytes, pool_, stream), hipSuccess);
    return pointer;
  }
  std::uint64_t get(hipMemPoolAttr attribute) const {
    std::uint64_t value = 0;
    EXPECT_EQ(hipMemPoolGetAttribute(pool_, attribute, &value), hipSuccess);
    return value;
  }
  std::uint64_t used() const { return get(hipMemPoolAttrUsedMemCurrent); }
  std::uint64_t reserved() const { return get(hipMemPoolAttrReservedMemCurrent); }
  std::uint64_t trimmed_to(std::size_t bytes) {
    EXPECT_EQ(hipMemPoolTrimTo(pool_, bytes), hipSuccess);
    return reserved();
  }

 private:
  hipMemPool_t pool_ = nullptr;
};

constexpr std::size_t kLarge = 64 << 20;
constexpr std::size_t kSmall = 2 << 20;

TEST(Pool, TrimmingKeepsWhatItsStreamHasNotFreedYet) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  TestStream blocking;
  TestStream unordered(hipStreamNonBlocking);
  for (const hipStream_t stream : {hipStream_t{nullptr}, hipStream_t{blocking}, hipStream_t{unordered}}) {
    OwnPool pool(UINT64_MAX);
    void* const large = pool.allocate(kLarge, stream);
    void* const small = pool.allocate(kSmall, stream);
    HIP_OK(hipStreamSynchronize(stream));
    const std::uint64_t reserved = pool.reserved();
    Gate gate;
    gate.close(stream);
    HIP_OK(hipFreeAsync(large, stream));
    EXPECT_EQ(pool.used(), kSmall);
    EXPECT_EQ(pool.reserved(), reserved);
    EXPECT_EQ(pool.trimmed_to(0), reserved) << "the stream stands before the free";
    gate.open();
    HIP_OK(hipStreamSynchronize(stream));
    EXPECT_EQ(pool.reserved(), reserved) << "below the threshold";
    EXPECT_LE(pool.trimmed_to(0), reserved - kLarge);
    EXPECT_GE(pool.reserved(), kSmall);
    EXPECT_EQ(pool.get(hipMemPoolAttrReservedMemHigh), reserved);
    HIP_OK(hipFreeAsync(small, stream));
    HIP_OK(hipStreamSynchronize(stream));
  }
}

TEST(Pool, WaitingForOneStreamReleasesNothingThatAnotherHasNotFreedYet) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  TestStream still(hipStreamNonBlocking);
  TestStream other(hipStreamNonBlocking);
  OwnPool pool(0);
  void* const large = pool.allocate(kLarge, still);
  void* const small = pool.allocate(kSmall, other);
  const std::uint64_t reserved = pool.reserved();
  Gate gate;
  gate.close(still);
  HIP_OK(hipFreeAsync(large, still));
  HIP_OK(hipFreeAsync(small, other));
  HIP_OK(hipStreamSynchronize(other));
  EXPECT_GE(pool.reserved(), kLarge);
  EXPECT_LE(pool.reserved(), reserved);
  gate.open();
  HIP_OK(hipStreamSynchronize(still));
  EXPECT_EQ(pool.reserved(), 0u);
  EXPECT_EQ(pool.used(), 0u);
}

// Nobody has waited for the stream.
TEST(Pool, TrimmingFindsOutWhatItsStreamHasFreed) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  TestStream stream;
  OwnPool pool(UINT64_MAX);
  void* const large = pool.allocate(kLarge, stream);
  HIP_OK(hipMemsetAsync(large, 1, kLarge, stream));
  HIP_OK(hipFreeAsync(large, stream));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (pool.trimmed_to(0) != 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(pool.reserved(), 0u);
  HIP_OK(hipStreamSynchronize(stream));
}

TEST(Pool, TheNullStreamsWaitCoversBlockingStreams) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  TestStream blocking;
  OwnPool pool(0);
  void* const large = pool.allocate(kLarge, blocking);
  HIP_OK(hipMemsetAsync(large, 1, kLarge, blocking));
  HIP_OK(hipFreeAsync(large, blocking));
  HIP_OK(hipStreamSynchronize(nullptr));
  EXPECT_EQ(pool.reserved(), 0u);
}

TEST(Pool, TrimmingReleasesWholeBlocks) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  if (is_nvidia()) GTEST_SKIP() << "NVIDIA's driver reserves in pieces of its own";
  OwnPool pool(UINT64_MAX);
  void* const large = pool.allocate(kLarge, nullptr);
  void* const small = pool.allocate(1000, nullptr);
  EXPECT_EQ(pool.used(), kLarge + 1000) << "as asked for";
  HIP_OK(hipFreeAsync(large, nullptr));
  HIP_OK(hipStreamSynchronize(nullptr));
  const std::uint64_t reserved = pool.reserved();
  EXPECT_EQ(pool.trimmed_to(reserved), reserved);
  EXPECT_EQ(pool.trimmed_to(kLarge / 2), reserved - kLarge);
  HIP_OK(hipFreeAsync(small, nullptr));
  HIP_OK(hipStreamSynchronize(nullptr));
}

TEST(Pool, AccessIsForAsManyDevicesAsThereAre) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  hipMemPoolProps props = {};
  props.allocType = hipMemAllocationTypePinned;
  props.location = {hipMemLocationTypeDevice, 0};
  hipMemPool_t pool = nullptr;
  HIP_OK(hipMemPoolCreate(&pool, &props));
  const auto devices = static_cast<std::size_t>(device_count());
  const std::vector<hipMemAccessDesc> access(devices + 1, {props.location, hipMemAccessFlagsProtReadWrite});
  EXPECT_EQ(hipMemPoolSetAccess(pool, access.data(), devices), hipSuccess);
  EXPECT_EQ(hipMemPoolSetAccess(pool, access.data(), devices + 1), hipErrorInvalidDevice);
  EXPECT_EQ(hipMemPoolSetAccess(pool, nullptr, devices + 1), hipErrorInvalidValue);
  volatile unsigned raw = 0xffff;
  const hipMemAccessDesc unknown = {props.location, static_cast<hipMemAccessFlags>(raw)};
  EXPECT_EQ(hipMemPoolSetAccess(pool, &unknown, 1), hipErrorInvalidValue);
  const hipMemAccessDesc none = {{hipMemLocationTypeDevice, device_count() - 1}, hipMemAccessFlagsProtNone};
  EXPECT_EQ(hipMemPoolSetAccess(pool, &none, 1), hipErrorInvalidDevice) << "no access can be taken away";
  HIP_OK(hipMemPoolDestroy(pool));
}

TEST(Pool, ItsMemoryOutlivesIt) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  hipMemPoolProps props = {};
  props.allocType = hipMemAllocationTypePinned;
  props.location = {hipMemLocationTypeDevice, 0};
  TestStream stream;
  for (int round = 0; round < 3; ++round) {
    hipMemPool_t pool = nullptr;
    HIP_OK(hipMemPoolCreate(&pool, &props));
    void* first = nullptr;
    void* second = nullptr;
    HIP_OK(hipMallocFromPoolAsync(&first, 5000, pool, stream));
    HIP_OK(hipMallocFromPoolAsync(&second, 1 << 20, pool, stream));
    HIP_OK(hipMemPoolDestroy(pool));
    EXPECT_EQ(hipMemPoolDestroy(pool), hipErrorInvalidValue);
    void* third = nullptr;
    EXPECT_EQ(hipMallocFromPoolAsync(&third, 10, pool, stream), hipErrorInvalidValue);
    HIP_OK(hipMemsetAsync(second, 7, 1 << 20, stream));
    unsigned char back = 0;
    HIP_OK(hipMemcpyAsync(&back, static_cast<char*>(second) + 999999, 1, hipMemcpyDeviceToHost, stream));
    HIP_OK(hipFreeAsync(first, stream));
    HIP_OK(hipFreeAsync(second, stream));
    HIP_OK(hipStreamSynchronize(stream));
    EXPECT_EQ(back, 7);
  }
}

TEST(Pool, WhatIsNoStreamIsAnInvalidHandle) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  const auto stray = reinterpret_cast<hipStream_t>(std::uintptr_t{0x7777});
  hipMemPool_t pool = nullptr;
  HIP_OK(hipDeviceGetDefaultMemPool(&pool, 0));
  void* pointer = nullptr;
  EXPECT_EQ(hipMallocAsync(&pointer, 10, stray), hipErrorInvalidHandle);
  EXPECT_EQ(hipMallocFromPoolAsync(&pointer, 10, pool, stray), hipErrorInvalidHandle);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidHandle);
  HIP_OK(hipMallocAsync(&pointer, 10, nullptr));
  EXPECT_EQ(hipFreeAsync(pointer, stray), hipErrorInvalidHandle);
  HIP_OK(hipFreeAsync(pointer, nullptr));
}

TEST(Pool, DefaultAndCurrent) {
  if (!pools_supported()) GTEST_SKIP() << "no memory pools";
  hipMemPool_t first = nullptr;
  hipMemPool_t current = nullptr;
  HIP_OK(hipDeviceGetDefaultMemPool(&first, 0));
  HIP_OK(hipDeviceGetMemPool(&current, 0));
  EXPECT_EQ(first, current);
  HIP_OK(hipDeviceSetMemPool(0, first));
  EXPECT_NE(hipMemPoolDestroy(first), hipSuccess) << "the default pool stays";
  for (const int none : {-1, device_count()}) {  // what AMD's library answers to whom is no device
    EXPECT_EQ(hipDeviceGetDefaultMemPool(&current, none), hipErrorInvalidDevice);
    EXPECT_EQ(hipDeviceGetMemPool(&current, none), hipErrorInvalidValue);
    EXPECT_EQ(hipDeviceSetMemPool(none, first), hipErrorInvalidValue);
  }
}

}  // namespace
}  // namespace tf::api_test
