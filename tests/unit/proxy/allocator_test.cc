// SPDX-License-Identifier: Apache-2.0
// RangeAllocator against a model: random operations, after each of which blocks may not overlap, must lie in
// one range, and the books must balance. DeviceMemory over a lease source with a quota.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

#include "proxy/memory/device_memory.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

TEST(RangeAllocator, RandomAgainstModel) {
  std::mt19937 random(7);
  RangeAllocator allocator;
  constexpr std::uint64_t kBase = 0x10000000;
  constexpr std::uint64_t kRangeBytes = 1 << 20;
  for (std::uint64_t i = 0; i < 4; ++i)
    ASSERT_TRUE(allocator.add_range(kBase + i * kRangeBytes, kRangeBytes));
  std::map<std::uint64_t, std::uint64_t> model;
  int refused = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 5 < 3) {
      std::uint64_t bytes = 1 + random() % (random() % 10 == 0 ? 300000u : 4000u);
      auto block = allocator.allocate(bytes);
      if (!block) {
        ++refused;
      } else {
        ASSERT_EQ(block->address % kAllocationAlignmentBytes, 0u);
        std::uint64_t first = (block->address - kBase) / kRangeBytes;
        ASSERT_EQ(first, (block->address + bytes - 1 - kBase) / kRangeBytes) << "spans two ranges";
        auto next = model.lower_bound(block->address);
        if (next != model.end()) {
          ASSERT_GE(next->first, block->address + bytes);
        }
        if (next != model.begin()) {
          ASSERT_LE(std::prev(next)->first + std::prev(next)->second, block->address);
        }
        model[block->address] = bytes;
        ASSERT_EQ(allocator.find(block->address + bytes - 1)->address, block->address);
      }
    } else if (!model.empty()) {
      auto victim = std::next(model.begin(), static_cast<long>(random() % model.size()));
      ASSERT_EQ(allocator.release(victim->first)->bytes, victim->second);
      ASSERT_FALSE(allocator.find(victim->first).has_value());
      model.erase(victim);
    }
  }
  EXPECT_GT(refused, 0) << "the test never filled the ranges";
  for (const auto& [address, bytes] : model) ASSERT_TRUE(allocator.release(address));
  EXPECT_EQ(allocator.allocated_bytes(), 0u);
  // All free runs have merged again: a whole range fits four times.
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(allocator.allocate(kRangeBytes));
  EXPECT_FALSE(allocator.allocate(1));
}

TEST(RangeAllocator, RefusesBadRanges) {
  RangeAllocator allocator;
  EXPECT_FALSE(allocator.add_range(0, 4096));
  EXPECT_FALSE(allocator.add_range(4097, 4096));
  EXPECT_FALSE(allocator.add_range(~0xffull, 4096)) << "wraps around";
  ASSERT_TRUE(allocator.add_range(0x10000, 0x10000));
  EXPECT_FALSE(allocator.add_range(0x18000, 0x1000));
  EXPECT_FALSE(allocator.add_range(0x8000, 0x8100));
  EXPECT_TRUE(allocator.add_range(0x20000, 0x1000));
  EXPECT_FALSE(allocator.release(0x10000));
  EXPECT_FALSE(allocator.allocate(~0ull));
  auto block = allocator.allocate(0x10000);
  ASSERT_TRUE(block);
  EXPECT_FALSE(allocator.remove_range(0x10000)) << "in use";
  EXPECT_TRUE(allocator.remove_range(0x20000));
  EXPECT_FALSE(allocator.release(block->address + 256));
}

// Grants leases one after the other until its quota is used up.
class Source final : public LeaseSource {
 public:
  explicit Source(std::uint64_t quota) : elsewhere(0), quota_(quota), left_(quota) {}
  hipError_t lease(int, std::uint64_t bytes, unsigned flags, Lease& lease) override {
    const MutexLock lock(mutex_);
    if (flags != hipDeviceMallocDefault && !has_fine_grained) return hipErrorNotSupported;
    ++asked;
    if (bytes > left_) return hipErrorOutOfMemory;
    left_ -= bytes;
    lease = {next_, bytes};
    given_[next_] = bytes;
    next_ += bytes;
    return hipSuccess;
  }
  void return_lease(int, std::uint64_t address) override {
    const MutexLock lock(mutex_);
    left_ += given_.at(address);
    given_.erase(address);
    ++returned;
  }
  hipError_t find_free(int, std::uint64_t& bytes) override {
    bytes = quota_ - elsewhere;
    return hipSuccess;
  }
  hipError_t drain(int) override {
    ++drained;
    return hipSuccess;
  }
  std::atomic<int> asked{0};
  std::atomic<int> returned{0};
  std::atomic<int> drained{0};
  std::atomic<std::uint64_t> elsewhere;  // bytes that other processes have
  std::atomic<bool> has_fine_grained{true};

 private:
  const std::uint64_t quota_;
  Mutex mutex_;
  std::uint64_t left_ TF_GUARDED_BY(mutex_);
  std::uint64_t next_ TF_GUARDED_BY(mutex_) = 0x200000000000;
  std::map<std::uint64_t, std::uint64_t> given_ TF_GUARDED_BY(mutex_);
};

protocol::WorkerSnapshot snapshot_of(std::uint64_t memory) {
  protocol::WorkerSnapshot snapshot;
  snapshot.devices.resize(1);
  snapshot.devices[0].total_memory = memory;
  snapshot.devices[0].free_memory = memory;
  snapshot.devices[0].lease_granularity_bytes = 2 << 20;
  return snapshot;
}

TEST(DeviceMemory, AloneALeaseForEachAndReturnedWithIt) {
  Source source(1ull << 30);
  DeviceMemory memory(snapshot_of(1ull << 30), source);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  ASSERT_EQ(memory.allocate_alone(0, 100, hipDeviceMallocFinegrained, first), hipSuccess);
  ASSERT_EQ(memory.allocate_alone(0, 100, hipDeviceMallocFinegrained, second), hipSuccess);
  EXPECT_EQ(source.asked, 2);
  std::uint64_t plain = 0;
  ASSERT_EQ(memory.allocate(0, 100, plain), hipSuccess);
  EXPECT_EQ(source.asked, 3) << "nothing else is cut from such a lease";
  const auto block = memory.find_block(first + 99);
  ASSERT_TRUE(block);
  EXPECT_EQ(block->base, first);
  EXPECT_EQ(block->bytes, 100u);
  EXPECT_FALSE(memory.find_block(first + 100));
  EXPECT_EQ(memory.place_of(first + 100, 1), DeviceMemory::Place::kBeyond) << "and no host memory";
  EXPECT_EQ(memory.release(first), hipSuccess);
  EXPECT_EQ(source.returned, 1);
  EXPECT_FALSE(memory.find(first));
  EXPECT_EQ(memory.release(first), hipErrorInvalidValue);
  EXPECT_EQ(memory.release(second), hipSuccess);
  EXPECT_EQ(source.returned, 2);
}

TEST(DeviceMemory, AloneGivesUnusedLeasesBackBeforeItGivesUp) {
  Source source(64ull << 20);
  DeviceMemory memory(snapshot_of(64ull << 20), source);
  std::uint64_t plain = 0;
  ASSERT_EQ(memory.allocate(0, 1 << 20, plain), hipSuccess);
  ASSERT_EQ(memory.release(plain), hipSuccess);
  std::uint64_t alone = 0;
  ASSERT_EQ(memory.allocate_alone(0, 32 << 20, hipDeviceMallocFinegrained, alone), hipSuccess);
  EXPECT_EQ(memory.allocate_alone(0, 64 << 20, hipDeviceMallocFinegrained, plain), hipErrorOutOfMemory);
  EXPECT_EQ(memory.allocate_alone(0, 65 << 20, hipDeviceMallocFinegrained, plain), hipErrorOutOfMemory);
  EXPECT_EQ(memory.allocate_alone(1, 1, hipDeviceMallocFinegrained, plain), hipErrorInvalidDevice);
}

TEST(DeviceMemory, AloneFreedOnAStreamComesBackToo) {
  Source source(64ull << 20);
  DeviceMemory memory(snapshot_of(64ull << 20), source);
  std::uint64_t alone = 0;
  ASSERT_EQ(memory.allocate_alone(0, 4 << 20, hipDeviceMallocFinegrained, alone), hipSuccess);
  ASSERT_EQ(memory.release_on_stream(alone, 1), hipSuccess);
  std::uint64_t other = 0;
  ASSERT_EQ(memory.allocate_on_stream(0, 1, 4 << 20, other), hipSuccess);
  EXPECT_NE(other, alone) << "such memory has no other use";
  ASSERT_EQ(memory.release(other), hipSuccess);
  memory.device_idle(0);
  EXPECT_FALSE(memory.find(alone));
  ASSERT_EQ(memory.allocate(0, 4 << 20, other), hipSuccess);
  EXPECT_NE(other, alone);
  ASSERT_EQ(memory.release(other), hipSuccess);
  EXPECT_TRUE(memory.give_back_unused(0));
  EXPECT_EQ(source.returned, 2) << "and the ordinary one";
}

TEST(DeviceMemory, WithoutSuchMemoryAloneSaysSo) {
  Source source(64ull << 20);
  source.has_fine_grained = false;
  DeviceMemory memory(snapshot_of(64ull << 20), source);
  std::uint64_t alone = 0;
  EXPECT_EQ(memory.allocate_alone(0, 1, hipDeviceMallocFinegrained, alone), hipErrorNotSupported);
}

TEST(DeviceMemory, ManyAllocationsFewLeases) {
  Source source(1ull << 30);
  DeviceMemory memory(snapshot_of(1ull << 30), source);
  std::uint64_t address = 0;
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(memory.allocate(0, 10000, address), hipSuccess);
  EXPECT_EQ(source.asked, 1);
  EXPECT_TRUE(memory.is_device(address + 9999));
  EXPECT_FALSE(memory.is_device(address + 10000));
  EXPECT_TRUE(memory.contains(address, 10000));
  EXPECT_FALSE(memory.contains(address + 1, 10000));
}

TEST(DeviceMemory, OutOfMemoryIsAnsweredAndReturnedLeasesServeAgain) {
  constexpr std::uint64_t kQuota = 512ull << 20;
  Source source(kQuota);
  DeviceMemory memory(snapshot_of(kQuota), source);
  std::uint64_t small = 0;
  std::uint64_t big = 0;
  EXPECT_EQ(memory.allocate(0, kQuota + 1, big), hipErrorOutOfMemory);
  ASSERT_EQ(memory.allocate(0, 4096, small), hipSuccess);  // a slab of 64 MiB
  EXPECT_EQ(memory.allocate(0, kQuota, big), hipErrorOutOfMemory);
  ASSERT_EQ(memory.release(small), hipSuccess);
  ASSERT_EQ(memory.allocate(0, kQuota, big), hipSuccess) << "the unused slab was not given back";
  std::uint64_t free_bytes = 1;
  std::uint64_t total = 0;
  ASSERT_EQ(memory.info(0, free_bytes, total), hipSuccess);
  EXPECT_EQ(free_bytes, 0u);
  EXPECT_EQ(total, kQuota);
  int before = source.returned;
  ASSERT_EQ(memory.release(big), hipSuccess);
  EXPECT_EQ(source.returned, before + 1) << "a lease of its own goes back at once";
  EXPECT_EQ(memory.release(big), hipErrorInvalidValue);
}

TEST(DeviceMemory, StreamOrderedReuse) {
  Source source(64ull << 20);
  DeviceMemory memory(snapshot_of(64ull << 20), source);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  ASSERT_EQ(memory.allocate_on_stream(0, 11, 1 << 20, first), hipSuccess);
  ASSERT_EQ(memory.release_on_stream(first, 11), hipSuccess);
  EXPECT_EQ(memory.release_on_stream(first, 11), hipErrorInvalidValue) << "freed twice";
  ASSERT_EQ(memory.allocate_on_stream(0, 12, 1 << 20, second), hipSuccess);
  EXPECT_NE(first, second) << "another stream may not have it before a synchronization";
  std::uint64_t again = 0;
  ASSERT_EQ(memory.allocate_on_stream(0, 11, 1 << 20, again), hipSuccess);
  EXPECT_EQ(first, again);
  // Out of memory: what waits for a stream is waited for.
  ASSERT_EQ(memory.release_on_stream(again, 11), hipSuccess);
  ASSERT_EQ(memory.release_on_stream(second, 12), hipSuccess);
  std::uint64_t all = 0;
  EXPECT_EQ(memory.allocate(0, 64ull << 20, all), hipSuccess);
  EXPECT_EQ(source.drained, 1);
}

TEST(DeviceMemory, LeaseOutsideTheWindowIsRefused) {
  Source source(1ull << 30);
  protocol::WorkerSnapshot snapshot = snapshot_of(1ull << 30);
  snapshot.devices[0].window = {0x300000000000, 1ull << 40};
  DeviceMemory memory(snapshot, source);
  std::uint64_t address = 0;
  EXPECT_EQ(memory.allocate(0, 4096, address), hipErrorUnknown);
  EXPECT_EQ(source.returned, 1) << "and goes back to who granted it";
}

TEST(DeviceMemory, Threads) {
  Source source(1ull << 30);
  DeviceMemory memory(snapshot_of(1ull << 30), source);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<std::uint64_t> mine;
      for (int i = 0; i < 2000; ++i) {
        std::uint64_t address = 0;
        if (mine.size() < 50 && memory.allocate(0, 1 + random() % 100000, address) == hipSuccess) {
          mine.push_back(address);
        } else if (!mine.empty()) {
          EXPECT_EQ(memory.release(mine.back()), hipSuccess);
          mine.pop_back();
        }
      }
      for (std::uint64_t address : mine) EXPECT_EQ(memory.release(address), hipSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t free_bytes = 0;
  std::uint64_t total = 0;
  ASSERT_EQ(memory.info(0, free_bytes, total), hipSuccess);
  EXPECT_EQ(free_bytes, total);
  source.elsewhere = 4096;
  ASSERT_EQ(memory.info(0, free_bytes, total), hipSuccess);
  EXPECT_EQ(free_bytes, total - 4096);
}

}  // namespace
}  // namespace tf::proxy
