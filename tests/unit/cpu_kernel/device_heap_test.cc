// SPDX-License-Identifier: Apache-2.0
// DeviceHeap: what it hands out, its limit, what it takes from the device, and pointers that are not its own.
#include "worker/runtime/cpu/kernel/device_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "tests/unit/cpu_kernel/test_heap_memory.h"

namespace tf::cpu {
namespace {

constexpr std::size_t kReachBytes = 64 << 20;

// A heap over memory that counts.
struct DeviceHeapTest : ::testing::Test {
  TestHeapMemory memory;
  DeviceHeap heap{memory, kReachBytes};
};

TEST_F(DeviceHeapTest, AllocationsAreAlignedAndDoNotOverlap) {
  std::map<std::byte*, std::size_t> live;
  for (std::size_t bytes = 1; bytes < 40000; bytes += 1 + bytes / 9) {
    auto* const pointer = static_cast<std::byte*>(heap.allocate(bytes));
    ASSERT_NE(pointer, nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pointer) % DeviceHeap::kAlignmentBytes, 0u);
    std::memset(pointer, 0xff, bytes);
    live.emplace(pointer, bytes);
  }
  for (auto it = live.begin(), next = std::next(it); next != live.end(); ++it, ++next)
    EXPECT_LE(it->first + it->second, next->first);
  for (const auto& [pointer, bytes] : live) EXPECT_TRUE(heap.free(pointer)) << bytes;
}

TEST_F(DeviceHeapTest, NothingIsNothing) {
  EXPECT_EQ(heap.allocate(0), nullptr);
  EXPECT_TRUE(heap.free(nullptr));
  EXPECT_EQ(heap.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(memory.taken.load(), 0u);
}

TEST_F(DeviceHeapTest, TheLimitIsForAllTogether) {
  memory.limit = 1 << 20;
  EXPECT_EQ(heap.allocate((1 << 20) + 1), nullptr);
  void* const half = heap.allocate(1 << 19);
  EXPECT_NE(half, nullptr);
  std::size_t small = 0;
  while (heap.allocate(16)) ++small;
  EXPECT_EQ(small, (1u << 19) / 16);
  EXPECT_TRUE(heap.free(half));
  EXPECT_NE(heap.allocate(1 << 19), nullptr);
  memory.limit = 1 << 10;  // below what is there
  EXPECT_EQ(heap.allocate(16), nullptr);
}

TEST_F(DeviceHeapTest, TheDeviceMayHaveNoMemory) {
  memory.total = 3 * DeviceHeap::kUnitBytes;
  void* const run = heap.allocate(2 * DeviceHeap::kUnitBytes);
  EXPECT_NE(run, nullptr);
  EXPECT_NE(heap.allocate(16), nullptr);
  EXPECT_EQ(heap.allocate(32), nullptr) << "its size has no unit yet";
  EXPECT_TRUE(heap.free(run));
  EXPECT_NE(heap.allocate(32), nullptr);
}

TEST_F(DeviceHeapTest, OnlyItsOwnAllocationsAreFreed) {
  auto* const slot = static_cast<std::byte*>(heap.allocate(48));
  auto* const run = static_cast<std::byte*>(heap.allocate(200000));
  std::byte here{};
  for (std::byte* wrong :
       {&here, slot + 16, slot + 48, slot + 1, run + DeviceHeap::kUnitBytes, run + 16, run - 1,
        reinterpret_cast<std::byte*>(16), reinterpret_cast<std::byte*>(~std::uintptr_t{0})})
    EXPECT_FALSE(heap.free(wrong)) << wrong - slot;
  EXPECT_TRUE(heap.free(slot));
  EXPECT_FALSE(heap.free(slot)) << "twice";
  EXPECT_TRUE(heap.free(run));
  EXPECT_FALSE(heap.free(run)) << "twice";
}

TEST_F(DeviceHeapTest, MemoryGoesBackToTheDevice) {
  std::vector<void*> all;
  for (int i = 0; i < 20000; ++i) all.push_back(heap.allocate(100));
  for (int i = 0; i < 10; ++i) all.push_back(heap.allocate(100000));
  const std::size_t most = memory.taken;
  for (void* pointer : all) EXPECT_TRUE(heap.free(pointer));
  EXPECT_EQ(memory.taken.load(), DeviceHeap::kUnitBytes) << "one unit is kept of the size that was in use";
  for (void*& pointer : all) pointer = heap.allocate(100);
  EXPECT_LE(memory.taken.load(), most);
  heap.clear();
  EXPECT_EQ(memory.taken.load(), 0u);
  EXPECT_FALSE(heap.free(all[0]));
  EXPECT_NE(heap.allocate(100), nullptr);
}

// What a thread does at random: its pieces keep what it wrote there.
void use(DeviceHeap& heap, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::pair<unsigned char*, std::size_t>> live;
  for (int i = 0; i < 4000; ++i) {
    if (live.size() > 60 || (!live.empty() && random() % 2 == 0)) {
      const std::size_t at = random() % live.size();
      const auto [pointer, bytes] = live[at];
      ASSERT_TRUE(std::all_of(pointer, pointer + bytes, [seed](unsigned char c) { return c == seed; }));
      ASSERT_TRUE(heap.free(pointer));
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    const std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 150000 : 600);
    auto* const pointer = static_cast<unsigned char*>(heap.allocate(bytes));
    ASSERT_NE(pointer, nullptr);
    std::memset(pointer, static_cast<int>(seed), bytes);
    live.emplace_back(pointer, bytes);
  }
  for (const auto& piece : live) EXPECT_TRUE(heap.free(piece.first));
}

TEST_F(DeviceHeapTest, ThreadsShareIt) {
  std::vector<std::jthread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back([this, seed] { use(heap, seed); });
}

}  // namespace
}  // namespace tf::cpu
