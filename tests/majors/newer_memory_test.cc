// SPDX-License-Identifier: Apache-2.0
// Flags of memory and a direction of copies that later releases have, and earlier ones refuse.
#include <cstdint>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

constexpr std::size_t kMemoryBytes = 4096;
// Since HIP 6.
constexpr auto kByEngines = 1024;  // hipMemcpyDeviceToDeviceNoCU
constexpr unsigned kUncached = 3, kContiguous = 4;
// Since HIP 7.
constexpr unsigned kHostMallocUncached = 0x10000000;
constexpr unsigned kHostRegisterUncached = 0x80000000;

class NewerMemory : public Major {
 protected:
  void release(void* memory) const { EXPECT_EQ(get<hipError_t(void*)>("hipFree")(memory), hipSuccess); }
  void fill(void* memory, int value) const {
    EXPECT_EQ((get<hipError_t(void*, int, std::size_t)>("hipMemset")(memory, value, kMemoryBytes)),
              hipSuccess);
  }
  void expect_filled(const void* memory, unsigned char value) const {
    EXPECT_EQ(read<unsigned char>(memory, kMemoryBytes), std::vector<unsigned char>(kMemoryBytes, value));
  }
};

TEST_F(NewerMemory, DeviceMemoryIsUncachedOrContiguousSince6) {
  const auto allocate = get<hipError_t(void**, std::size_t, unsigned)>("hipExtMallocWithFlags");
  for (const unsigned flags : {kUncached, kContiguous}) {
    void* memory = nullptr;
    ASSERT_EQ(allocate(&memory, kMemoryBytes, flags), major_ >= 6 ? hipSuccess : kInvalid) << flags;
    if (memory == nullptr) continue;
    fill(memory, 5);
    expect_filled(memory, 5);
    release(memory);
  }
  void* memory = nullptr;
  EXPECT_EQ(allocate(&memory, kMemoryBytes, 5), kInvalid);
  EXPECT_EQ(allocate(&memory, kMemoryBytes, 2), kInvalid) << "signals have eight bytes";
}

TEST_F(NewerMemory, PoolsHaveALimitSince6) {
  hipMemPoolProps wanted{};
  wanted.allocType = hipMemAllocationTypePinned;
  wanted.location = {hipMemLocationTypeDevice, 0};
  constexpr std::uint64_t kLimit = 1 << 20;
  std::memcpy(reinterpret_cast<std::byte*>(&wanted) + 24, &kLimit, sizeof kLimit);  // maxSize
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(get<hipError_t(hipMemPool_t*, const hipMemPoolProps*)>("hipMemPoolCreate")(&pool, &wanted),
            hipSuccess);
  const auto take = get<hipError_t(void**, std::size_t, hipMemPool_t, hipStream_t)>("hipMallocFromPoolAsync");
  const auto give = get<hipError_t(void*, hipStream_t)>("hipFreeAsync");
  const hipError_t beyond = major_ >= 6 ? hipErrorOutOfMemory : hipSuccess;  // reserved bytes of HIP 5
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(take(&first, kLimit - 100, pool, nullptr), hipSuccess);
  EXPECT_EQ(take(&second, 101, pool, nullptr), beyond);
  if (second != nullptr) {
    EXPECT_EQ(give(second, nullptr), hipSuccess);
  }
  EXPECT_EQ(take(&second, 100, pool, nullptr), hipSuccess) << "up to the limit";
  EXPECT_EQ(give(second, nullptr), hipSuccess);
  EXPECT_EQ(give(first, nullptr), hipSuccess);
  synchronize();
  EXPECT_EQ(take(&first, kLimit, pool, nullptr), hipSuccess) << "what is freed counts no more";
  EXPECT_EQ(give(first, nullptr), hipSuccess);
  EXPECT_EQ(get<hipError_t(hipMemPool_t)>("hipMemPoolDestroy")(pool), hipSuccess);
}

TEST_F(NewerMemory, HostMemoryIsUncachedSince7) {
  const hipError_t expected = major_ >= 7 ? hipSuccess : kInvalid;
  void* memory = nullptr;
  ASSERT_EQ((get<hipError_t(void**, std::size_t, unsigned)>("hipHostMalloc")(&memory, kMemoryBytes,
                                                                             kHostMallocUncached)),
            expected);
  alignas(4096) static std::array<std::byte, kMemoryBytes> ours;
  const auto add = get<hipError_t(void*, std::size_t, unsigned)>("hipHostRegister");
  ASSERT_EQ(add(ours.data(), kMemoryBytes, kHostRegisterUncached), expected);
  if (major_ < 7) return;
  unsigned flags = 0;
  EXPECT_EQ((get<hipError_t(unsigned*, void*)>("hipHostGetFlags")(&flags, memory)), hipSuccess);
  EXPECT_EQ(flags, kHostMallocUncached);
  EXPECT_EQ(get<hipError_t(void*)>("hipHostUnregister")(ours.data()), hipSuccess);
  EXPECT_EQ(get<hipError_t(void*)>("hipHostFree")(memory), hipSuccess);
}

// Each form fills its target from a source of its own.
TEST_F(NewerMemory, CopiesWithinDevicesByTheirEngines) {
  void* const target = allocate(kMemoryBytes);
  void* const source = allocate(kMemoryBytes);
  const auto linear = get<hipError_t(void*, const void*, std::size_t, int)>("hipMemcpy");
  const auto rows =
      get<hipError_t(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int)>(
          "hipMemcpy2D");
  fill(source, 1);
  ASSERT_EQ(linear(target, source, kMemoryBytes, kByEngines), hipSuccess);
  expect_filled(target, 1);
  fill(source, 2);
  ASSERT_EQ(rows(target, 64, source, 64, 64, kMemoryBytes / 64, kByEngines), hipSuccess);
  expect_filled(target, 2);
  fill(source, 3);
  hipMemcpy3DParms box{};
  box.srcPtr = {source, 64, 64, kMemoryBytes / 64};
  box.dstPtr = {target, 64, 64, kMemoryBytes / 64};
  box.extent = {64, kMemoryBytes / 64, 1};
  std::memcpy(&box.kind, &kByEngines, sizeof kByEngines);
  ASSERT_EQ(get<decltype(hipMemcpy3D)>("hipMemcpy3D")(&box), hipSuccess);
  expect_filled(target, 3);
  std::vector<unsigned char> host(kMemoryBytes);
  EXPECT_EQ(rows(host.data(), 64, source, 64, 64, 4, kByEngines), kInvalid) << "it is no memory of a device";
  for (const int wrong : {5, 1023, 1025, -1})
    EXPECT_EQ(linear(target, source, kMemoryBytes, wrong), hipErrorInvalidMemcpyDirection) << wrong;
  release(target);
  release(source);
}

}  // namespace
}  // namespace tf::majors
