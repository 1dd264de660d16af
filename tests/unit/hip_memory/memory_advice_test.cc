// SPDX-License-Identifier: Apache-2.0
// MemoryAdvice beside a model that keeps an answer for every page; and its limit.
#include "hipcore/memory/memory_advice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace tf::hipcore {
namespace {

constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

// Pages [first, first + count) of an allocation of so many.
AdvisedMemory pages(std::uint64_t first, std::uint64_t count, std::uint64_t of) {
  AdvisedMemory memory;
  memory.range = {kBase, of * kAdvisedPageBytes, kBase + first * kAdvisedPageBytes,
                  count * kAdvisedPageBytes};
  memory.managed = true;
  return memory;
}

int ask(const MemoryAdvice& advice, hipMemRangeAttribute attribute, const AdvisedMemory& memory) {
  int value = 77;
  EXPECT_EQ(advice.get(memory, attribute, &value, sizeof value), hipSuccess);
  return value;
}

TEST(MemoryAdvice, IsKeptForEveryPage) {
  constexpr std::uint64_t kPages = 24;
  constexpr int kDevices = 3;
  MemoryAdvice advice;
  std::array<int, kPages> preferred;
  std::array<int, kPages> read_mostly{};
  preferred.fill(hipInvalidDeviceId);
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    const std::uint64_t first = random() % kPages;
    const std::uint64_t count = 1 + random() % (kPages - first);
    const AdvisedMemory memory = pages(first, count, kPages);
    const auto fill = [&](auto& model, int value) { std::fill_n(model.begin() + first, count, value); };
    const int device = static_cast<int>(random() % kDevices);
    const auto say = [&](hipMemoryAdvise what) {
      EXPECT_EQ(advice.advise(memory, what, device, kDevices), hipSuccess);
    };
    switch (random() % 8) {
      case 0: fill(preferred, device), say(hipMemAdviseSetPreferredLocation); break;
      case 1: fill(preferred, hipInvalidDeviceId), say(hipMemAdviseUnsetPreferredLocation); break;
      case 2: fill(read_mostly, 1), say(hipMemAdviseSetReadMostly); break;
      case 3: fill(read_mostly, 0), say(hipMemAdviseUnsetReadMostly); break;
      default: {
        const int* const begin = preferred.data() + first;
        const bool same = std::count(begin, begin + count, *begin) == static_cast<long>(count);
        ASSERT_EQ(ask(advice, hipMemRangeAttributePreferredLocation, memory),
                  same ? *begin : hipInvalidDeviceId);
        const int* const flags = read_mostly.data() + first;
        ASSERT_EQ(ask(advice, hipMemRangeAttributeReadMostly, memory),
                  *std::min_element(flags, flags + count));
      }
    }
  }
  advice.forget(kBase, kPages * kAdvisedPageBytes);
  EXPECT_FALSE(advice.any());
}

// Allocations that share a page, and touch.
TEST(MemoryAdvice, SynchronousIsAWholeAllocation) {
  MemoryAdvice advice;
  EXPECT_FALSE(advice.is_synchronous(kBase));
  EXPECT_EQ(advice.set_synchronous(kBase, 100, true), hipSuccess);
  EXPECT_TRUE(advice.is_synchronous(kBase));
  EXPECT_TRUE(advice.is_synchronous(kBase + 99));
  EXPECT_FALSE(advice.is_synchronous(kBase + 100));
  EXPECT_FALSE(advice.is_synchronous(kBase - 1));
  EXPECT_EQ(advice.set_synchronous(kBase + 100, 50, true), hipSuccess);
  advice.forget(kBase, 100);
  EXPECT_FALSE(advice.is_synchronous(kBase + 99));
  EXPECT_TRUE(advice.is_synchronous(kBase + 100));
  EXPECT_TRUE(advice.any());
  EXPECT_EQ(advice.set_synchronous(kBase + 100, 50, false), hipSuccess);
  EXPECT_FALSE(advice.any());
}

// Every synchronous copy asks, so advice alone must not cost it a lock.
TEST(MemoryAdvice, OnlySynchronousMemoryMakesCopiesAsk) {
  MemoryAdvice advice;
  EXPECT_EQ(advice.advise(pages(0, 1, 4), hipMemAdviseSetReadMostly, 0, 1), hipSuccess);
  EXPECT_FALSE(advice.any_synchronous());
  EXPECT_EQ(advice.set_synchronous(kBase, 4 * kAdvisedPageBytes, true), hipSuccess);
  EXPECT_TRUE(advice.any_synchronous());
  advice.forget(kBase, 4 * kAdvisedPageBytes);
  EXPECT_FALSE(advice.any_synchronous());
  EXPECT_FALSE(advice.any());
}

TEST(MemoryAdvice, SynchronousMemoryHasALimit) {
  MemoryAdvice advice;
  for (std::uint64_t i = 0; i < kAdvisedRangesMax; ++i)
    ASSERT_EQ(advice.set_synchronous(kBase + 64 * i, 64, true), hipSuccess);
  EXPECT_EQ(advice.set_synchronous(kBase - 64, 64, true), hipErrorOutOfMemory);
  EXPECT_FALSE(advice.is_synchronous(kBase - 64));
  EXPECT_EQ(advice.set_synchronous(kBase, 64, true), hipSuccess) << "it is so already";
  EXPECT_EQ(advice.set_synchronous(kBase, 64, false), hipSuccess);
  EXPECT_EQ(advice.set_synchronous(kBase - 64, 64, true), hipSuccess);
}

TEST(MemoryAdvice, HasALimit) {
  constexpr std::uint64_t kPages = 4 * kAdvisedRangesMax;
  MemoryAdvice advice;
  std::size_t kept = 0;
  while (kept < kPages / 2 &&
         advice.advise(pages(2 * kept, 1, kPages), hipMemAdviseSetReadMostly, 0, 1) == hipSuccess)
    ++kept;
  EXPECT_EQ(kept, kAdvisedRangesMax);
  const AdvisedMemory more = pages(2 * kept, 1, kPages);
  EXPECT_EQ(advice.advise(more, hipMemAdviseSetReadMostly, 0, 1), hipErrorOutOfMemory);
  EXPECT_EQ(ask(advice, hipMemRangeAttributeReadMostly, more), 0);
  EXPECT_EQ(advice.prefetch(more, 0), hipSuccess) << "it fails by no table";
  EXPECT_EQ(ask(advice, hipMemRangeAttributeLastPrefetchLocation, more), hipInvalidDeviceId);
  EXPECT_EQ(ask(advice, hipMemRangeAttributeReadMostly, pages(0, 1, kPages)), 1);
  // What makes one of many is welcome.
  EXPECT_EQ(advice.advise(pages(0, 1, kPages), hipMemAdviseUnsetReadMostly, 0, 1), hipSuccess);
  EXPECT_EQ(advice.advise(more, hipMemAdviseSetReadMostly, 0, 1), hipSuccess);
}

TEST(MemoryAdvice, IdsAreNewForEachAllocationAndLimited) {
  MemoryAdvice advice;
  EXPECT_FALSE(advice.any());
  std::uint32_t first = 0, again = 0;
  ASSERT_EQ(advice.id_of(kBase, first), hipSuccess);
  EXPECT_TRUE(advice.any()) << "or nobody would forget it";
  ASSERT_EQ(advice.id_of(kBase, again), hipSuccess);
  EXPECT_EQ(again, first);
  advice.forget(kBase, 1);
  EXPECT_FALSE(advice.any());
  ASSERT_EQ(advice.id_of(kBase, again), hipSuccess);
  EXPECT_NE(again, first);
  for (std::uint64_t i = 1; i < kIdsMax; ++i) ASSERT_EQ(advice.id_of(kBase + i, again), hipSuccess);
  EXPECT_EQ(advice.id_of(kBase + kIdsMax, again), hipErrorOutOfMemory);
  EXPECT_EQ(advice.id_of(kBase + 5, again), hipSuccess) << "it has one";
}

}  // namespace
}  // namespace tf::hipcore
