// SPDX-License-Identifier: Apache-2.0
// What hipMemAdvise and hipMemPrefetchAsync say, and hipMemRangeGetAttribute gives back.
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <utility>

#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kNobody = hipInvalidDeviceId;
constexpr int kFine = hipMemRangeCoherencyModeFineGrain;
constexpr int kCoarse = hipMemRangeCoherencyModeCoarseGrain;
constexpr int kMixed = hipMemRangeCoherencyModeIndeterminate;

int ask(hipMemRangeAttribute attribute, const void* pointer, std::size_t bytes) {
  int value = 77;
  EXPECT_EQ(hipMemRangeGetAttribute(&value, sizeof value, attribute, pointer, bytes), hipSuccess);
  return value;
}

class MemoryAdvice : public ::testing::Test {
 protected:
  void SetUp() override {
    int managed = 0;
    ASSERT_EQ(hipDeviceGetAttribute(&managed, hipDeviceAttributeManagedMemory, 0), hipSuccess);
    if (managed == 0) GTEST_SKIP() << "no managed memory";
    ASSERT_EQ(hipMallocManaged(&allocation_, 5 * kPage, hipMemAttachGlobal), hipSuccess);
    pages_ =
        reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(allocation_) + kPage - 1) & ~(kPage - 1));
  }
  void TearDown() override {
    if (allocation_ == nullptr) return;
    HIP_OK(hipFree(allocation_));
  }
  int first(hipMemRangeAttribute attribute) { return ask(attribute, pages_, kPage); }
  int both(hipMemRangeAttribute attribute) { return ask(attribute, pages_, 2 * kPage); }
  void advise_first(hipMemoryAdvise advice, int device) {
    HIP_OK(hipMemAdvise(pages_, kPage, advice, device));
  }
  std::vector<int> accessed_by(std::size_t room, std::size_t bytes) {
    std::vector<int> devices(room, 77);
    EXPECT_EQ(hipMemRangeGetAttribute(devices.data(), room * sizeof(int), hipMemRangeAttributeAccessedBy,
                                      pages_, bytes),
              hipSuccess);
    return devices;
  }

  void* allocation_ = nullptr;
  char* pages_ = nullptr;  // four of them
};

TEST_F(MemoryAdvice, ReadMostly) {
  EXPECT_EQ(both(hipMemRangeAttributeReadMostly), 0);
  advise_first(hipMemAdviseSetReadMostly, 0);
  EXPECT_EQ(first(hipMemRangeAttributeReadMostly), 1);
  EXPECT_EQ(both(hipMemRangeAttributeReadMostly), 0) << "not all of it";
  HIP_OK(hipMemAdvise(pages_ + kPage, kPage, hipMemAdviseSetReadMostly, 99));  // of no account here
  EXPECT_EQ(both(hipMemRangeAttributeReadMostly), 1);
  advise_first(hipMemAdviseUnsetReadMostly, -12);
  EXPECT_EQ(first(hipMemRangeAttributeReadMostly), 0);
  EXPECT_EQ(ask(hipMemRangeAttributeReadMostly, pages_ + kPage, kPage), 1);
}

TEST_F(MemoryAdvice, PreferredLocation) {
  EXPECT_EQ(both(hipMemRangeAttributePreferredLocation), kNobody);
  advise_first(hipMemAdviseSetPreferredLocation, 0);
  EXPECT_EQ(first(hipMemRangeAttributePreferredLocation), 0);
  EXPECT_EQ(both(hipMemRangeAttributePreferredLocation), kNobody) << "not all of it";
  HIP_OK(hipMemAdvise(pages_, 2 * kPage, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
  EXPECT_EQ(both(hipMemRangeAttributePreferredLocation), hipCpuDeviceId);
  advise_first(hipMemAdviseUnsetPreferredLocation, 0);
  EXPECT_EQ(first(hipMemRangeAttributePreferredLocation), kNobody);
  EXPECT_EQ(first(hipMemRangeAttributeLastPrefetchLocation), kNobody) << "advice moves nothing";
}

TEST_F(MemoryAdvice, LastPrefetchLocation) {
  EXPECT_EQ(first(hipMemRangeAttributeLastPrefetchLocation), kNobody);
  TestStream stream;
  HIP_OK(hipMemPrefetchAsync(pages_, kPage, 0, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(first(hipMemRangeAttributeLastPrefetchLocation), 0);
  EXPECT_EQ(both(hipMemRangeAttributeLastPrefetchLocation), kNobody) << "not all of it";
  HIP_OK(hipMemPrefetchAsync(pages_, 2 * kPage, hipCpuDeviceId, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(both(hipMemRangeAttributeLastPrefetchLocation), hipCpuDeviceId);
  EXPECT_EQ(first(hipMemRangeAttributePreferredLocation), kNobody);
  EXPECT_NE(hipMemPrefetchAsync(pages_, kPage, 1000, stream), hipSuccess);
  EXPECT_EQ(first(hipMemRangeAttributeLastPrefetchLocation), hipCpuDeviceId);
}

TEST_F(MemoryAdvice, AccessedBy) {
  EXPECT_EQ(accessed_by(3, kPage), (std::vector<int>{kNobody, kNobody, kNobody}));
  advise_first(hipMemAdviseSetAccessedBy, hipCpuDeviceId);
  advise_first(hipMemAdviseSetAccessedBy, 0);
  EXPECT_EQ(accessed_by(3, kPage), (std::vector<int>{0, hipCpuDeviceId, kNobody})) << "devices come first";
  EXPECT_EQ(accessed_by(1, kPage), std::vector<int>{0}) << "as many as there is room for";
  EXPECT_EQ(accessed_by(3, 2 * kPage), (std::vector<int>{kNobody, kNobody, kNobody})) << "not all of it";
  advise_first(hipMemAdviseUnsetAccessedBy, 0);
  EXPECT_EQ(accessed_by(2, kPage), (std::vector<int>{hipCpuDeviceId, kNobody}));
  advise_first(hipMemAdviseUnsetAccessedBy, hipCpuDeviceId);
  EXPECT_EQ(accessed_by(1, kPage), std::vector<int>{kNobody});
  int devices = 0;
  HIP_OK(hipGetDeviceCount(&devices));
  std::vector<int> all;
  for (int device = 0; device < devices; ++device) {
    all.push_back(device);
    advise_first(hipMemAdviseSetAccessedBy, device);
  }
  EXPECT_EQ(accessed_by(all.size(), kPage), all);
}

TEST_F(MemoryAdvice, CoherencyOfManagedMemory) {
  EXPECT_EQ(both(hipMemRangeAttributeCoherencyMode), kFine);
  advise_first(hipMemAdviseSetCoarseGrain, 0);
  EXPECT_EQ(first(hipMemRangeAttributeCoherencyMode), kCoarse);
  EXPECT_EQ(both(hipMemRangeAttributeCoherencyMode), kMixed);
  advise_first(hipMemAdviseUnsetCoarseGrain, 0);
  EXPECT_EQ(both(hipMemRangeAttributeCoherencyMode), kFine);
}

TEST_F(MemoryAdvice, CoherencyOfOtherMemory) {
  DeviceBuffer device(kPage);
  EXPECT_EQ(ask(hipMemRangeAttributeCoherencyMode, device.get(), kPage), kCoarse);
  void* fine = nullptr;
  HIP_OK(hipExtMallocWithFlags(&fine, kPage, hipDeviceMallocFinegrained));
  EXPECT_EQ(ask(hipMemRangeAttributeCoherencyMode, fine, kPage), kFine);
  HIP_OK(hipFree(fine));
  DeviceBuffer next(kPage);  // likely in the same place
  EXPECT_EQ(ask(hipMemRangeAttributeCoherencyMode, next.get(), kPage), kCoarse);
  HIP_OK(hipExtMallocWithFlags(&fine, kPage, hipDeviceMallocFinegrained));
  HIP_OK(hipFreeAsync(fine, nullptr));
  HIP_OK(hipDeviceSynchronize());
  DeviceBuffer after(kPage);
  EXPECT_EQ(ask(hipMemRangeAttributeCoherencyMode, after.get(), kPage), kCoarse);
  for (const unsigned flags : {0u, unsigned{hipHostMallocMapped}, unsigned{hipHostMallocNonCoherent}}) {
    void* host = nullptr;
    HIP_OK(hipHostMalloc(&host, kPage, flags));
    EXPECT_EQ(ask(hipMemRangeAttributeCoherencyMode, host, kPage),
              flags == hipHostMallocNonCoherent ? kCoarse : kFine);
    HIP_OK(hipHostFree(host));
  }
  std::vector<char> own(kPage);
  HIP_OK(hipHostRegister(own.data(), kPage, hipHostRegisterDefault));
  EXPECT_EQ(ask(hipMemRangeAttributeCoherencyMode, own.data(), kPage), kFine);
  HIP_OK(hipHostUnregister(own.data()));
}

TEST_F(MemoryAdvice, SeveralAtOnce) {
  advise_first(hipMemAdviseSetReadMostly, 0);
  advise_first(hipMemAdviseSetPreferredLocation, 0);
  advise_first(hipMemAdviseSetAccessedBy, 0);
  HIP_OK(hipMemPrefetchAsync(pages_, kPage, hipCpuDeviceId, nullptr));
  std::array attributes = {hipMemRangeAttributeReadMostly, hipMemRangeAttributePreferredLocation,
                           hipMemRangeAttributeLastPrefetchLocation, hipMemRangeAttributeAccessedBy,
                           hipMemRangeAttributeCoherencyMode};
  std::array<int, 2> values[5];
  std::array<void*, 5> data;
  for (std::size_t i = 0; i < data.size(); ++i) {
    values[i] = {77, 77};
    data[i] = values[i].data();
  }
  std::array<std::size_t, 5> sizes = {4, 4, 4, 8, 4};
  HIP_OK(hipMemRangeGetAttributes(data.data(), sizes.data(), attributes.data(), 5, pages_, kPage));
  EXPECT_EQ(values[0][0], 1);
  EXPECT_EQ(values[1][0], 0);
  EXPECT_EQ(values[2][0], hipCpuDeviceId);
  EXPECT_EQ(values[3], (std::array<int, 2>{0, kNobody}));
  EXPECT_EQ(values[4][0], kFine);

  const auto asked = [&](std::size_t count, const void* pointer, std::size_t bytes) {
    return hipMemRangeGetAttributes(data.data(), sizes.data(), attributes.data(), count, pointer, bytes);
  };
  EXPECT_EQ(asked(0, pages_, kPage), hipErrorInvalidValue);
  EXPECT_EQ(asked(5, nullptr, kPage), hipErrorInvalidValue);
  EXPECT_EQ(asked(5, pages_, 0), hipErrorInvalidValue);
  DeviceBuffer device(kPage);
  EXPECT_EQ(asked(5, device.get(), kPage), hipErrorInvalidValue);
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{2}, std::size_t{7}, std::size_t{8}}) {
    sizes[0] = wrong;
    EXPECT_EQ(asked(5, pages_, kPage), hipErrorInvalidValue) << wrong;
  }
  sizes[0] = 4;
  data[2] = nullptr;
  EXPECT_EQ(asked(5, pages_, kPage), hipErrorInvalidValue);
  data[2] = values[2].data();
  attributes[4] = static_cast<hipMemRangeAttribute>(99);
  EXPECT_EQ(asked(5, pages_, kPage), hipErrorInvalidValue);
}

TEST_F(MemoryAdvice, BadQuestionsAreRefused) {
  int data[4] = {};
  const auto asked = [&](void* to, std::size_t room, hipMemRangeAttribute attribute, const void* pointer,
                         std::size_t bytes) {
    return hipMemRangeGetAttribute(to, room, attribute, pointer, bytes);
  };
  constexpr auto kReadMostly = hipMemRangeAttributeReadMostly;
  EXPECT_EQ(asked(nullptr, 4, kReadMostly, pages_, kPage), hipErrorInvalidValue);
  for (const std::size_t room : {std::size_t{0}, std::size_t{6}, std::size_t{8}})
    for (const auto attribute : {kReadMostly, hipMemRangeAttributePreferredLocation,
                                 hipMemRangeAttributeLastPrefetchLocation, hipMemRangeAttributeCoherencyMode})
      EXPECT_EQ(asked(data, room, attribute, pages_, kPage), hipErrorInvalidValue) << room << attribute;
  EXPECT_EQ(asked(data, 10, hipMemRangeAttributeAccessedBy, pages_, kPage), hipErrorInvalidValue);
  EXPECT_EQ(asked(data, 4, static_cast<hipMemRangeAttribute>(99), pages_, kPage), hipErrorInvalidValue);
  EXPECT_EQ(asked(data, 4, kReadMostly, nullptr, kPage), hipErrorInvalidValue);
  EXPECT_EQ(asked(data, 4, kReadMostly, pages_, 0), hipErrorInvalidValue);
  EXPECT_EQ(asked(data, 4, kReadMostly, pages_, 6 * kPage), hipErrorInvalidValue) << "beyond the allocation";
  DeviceBuffer device(kPage);
  PinnedBuffer pinned(kPage);
  for (const void* other : {device.get(), pinned.as<void>()})
    EXPECT_EQ(asked(data, 4, kReadMostly, other, 16), hipErrorInvalidValue);
}

TEST_F(MemoryAdvice, BadAdviceIsRefused) {
  EXPECT_EQ(hipMemAdvise(pages_, 0, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemAdvise(nullptr, kPage, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemAdvise(pages_, 6 * kPage, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemAdvise(pages_, kPage, static_cast<hipMemoryAdvise>(99), 0), hipErrorInvalidValue);
  for (const auto advice :
       {hipMemAdviseSetAccessedBy, hipMemAdviseSetPreferredLocation, hipMemAdviseSetCoarseGrain})
    EXPECT_EQ(hipMemAdvise(pages_, kPage, advice, hipInvalidDeviceId), hipErrorInvalidDevice);
  DeviceBuffer device(kPage);
  EXPECT_EQ(hipMemAdvise(device.get(), kPage, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
  EXPECT_EQ(both(hipMemRangeAttributeReadMostly), 0);
}

// Advice counts for whole pages, but never for another allocation.
TEST_F(MemoryAdvice, IsRoundedToPages) {
  HIP_OK(hipMemAdvise(pages_ + kPage / 2, kPage, hipMemAdviseSetAccessedBy, 0));
  EXPECT_EQ(accessed_by(1, 2 * kPage), std::vector<int>{0});
  EXPECT_EQ(accessed_by(1, 2 * kPage + 1), std::vector<int>{kNobody});
  std::array<char*, 2> small = {};
  for (char*& one : small) HIP_OK(hipMallocManaged(reinterpret_cast<void**>(&one), 100, hipMemAttachGlobal));
  HIP_OK(hipMemAdvise(small[0] + 50, 1, hipMemAdviseSetReadMostly, 0));
  EXPECT_EQ(ask(hipMemRangeAttributeReadMostly, small[0], 100), 1);
  // NVIDIA's driver puts both into one page, and its advice is for pages.
  if (!is_bare_nvidia()) {
    EXPECT_EQ(ask(hipMemRangeAttributeReadMostly, small[1], 100), 0);
  }
  for (char* one : small) HIP_OK(hipFree(one));
}

// Memory of mmap(), which HIP knows nothing of.
class MemoryAdvicePageable : public MemoryAdvice {
 protected:
  static constexpr std::size_t kBytes = 4 * kPage;

  void SetUp() override {
    MemoryAdvice::SetUp();
    if (IsSkipped()) return;
    own_ =
        static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(own_), MAP_FAILED);
  }
  void TearDown() override {
    if (own_ != nullptr) munmap(own_, kBytes);
    MemoryAdvice::TearDown();
  }

  char* own_ = nullptr;
};

TEST_F(MemoryAdvicePageable, IsTakenWhereDevicesReachIt) {
  if (!reaches_pageable_memory()) {
    int value = 77;
    EXPECT_EQ(hipMemAdvise(own_, kPage, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
    EXPECT_EQ(hipMemPrefetchAsync(own_, kPage, 0, nullptr), hipErrorInvalidValue);
    for (const auto attribute : {hipMemRangeAttributeReadMostly, hipMemRangeAttributeCoherencyMode})
      EXPECT_EQ(hipMemRangeGetAttribute(&value, sizeof value, attribute, own_, kPage), hipErrorInvalidValue);
    return;
  }
  EXPECT_EQ(ask(hipMemRangeAttributeReadMostly, own_, kBytes), 0);
  EXPECT_EQ(ask(hipMemRangeAttributeCoherencyMode, own_, kBytes), kFine);
  HIP_OK(hipMemAdvise(own_ + 100, kPage, hipMemAdviseSetReadMostly, 0));
  EXPECT_EQ(ask(hipMemRangeAttributeReadMostly, own_, 2 * kPage), 1) << "whole pages";
  EXPECT_EQ(ask(hipMemRangeAttributeReadMostly, own_, 3 * kPage), 0);
  HIP_OK(hipMemAdvise(own_, kBytes, hipMemAdviseSetPreferredLocation, 0));
  EXPECT_EQ(ask(hipMemRangeAttributePreferredLocation, own_, kBytes), 0);
  HIP_OK(hipMemPrefetchAsync(own_, kBytes, hipCpuDeviceId, nullptr));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(ask(hipMemRangeAttributeLastPrefetchLocation, own_, kBytes), hipCpuDeviceId);
}

TEST_F(MemoryAdvicePageable, MustBeThere) {
  munmap(own_ + 2 * kPage, kPage);
  for (const std::size_t bytes : {std::size_t{0}, 3 * kPage, SIZE_MAX})
    EXPECT_EQ(hipMemAdvise(own_, bytes, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue) << bytes;
}

// What a reset leaves of the memory is not the next allocation's.
TEST_F(MemoryAdvice, EndsWithAReset) {
  HIP_OK(hipMemAdvise(allocation_, 5 * kPage, hipMemAdviseSetReadMostly, 0));
  HIP_OK(hipDeviceReset());
  void* next = nullptr;  // likely in the same place
  HIP_OK(hipMallocManaged(&next, 5 * kPage, hipMemAttachGlobal));
  EXPECT_EQ(ask(hipMemRangeAttributeReadMostly, next, 5 * kPage), 0);
  HIP_OK(hipFree(next));
  static_cast<void>(hipFree(std::exchange(allocation_, nullptr)));
}

TEST_F(MemoryAdvice, EndsWithTheAllocation) {
  for (int round = 0; round < 3; ++round) {
    char* memory = nullptr;
    ASSERT_EQ(hipMallocManaged(reinterpret_cast<void**>(&memory), 300, hipMemAttachGlobal), hipSuccess);
    EXPECT_EQ(ask(hipMemRangeAttributeReadMostly, memory, 300), 0);
    EXPECT_EQ(ask(hipMemRangeAttributePreferredLocation, memory, 300), kNobody);
    HIP_OK(hipMemAdvise(memory, 300, hipMemAdviseSetReadMostly, 0));
    HIP_OK(hipMemAdvise(memory, 300, hipMemAdviseSetPreferredLocation, 0));
    HIP_OK(hipFree(memory));
  }
}

}  // namespace
}  // namespace tf::api_test
