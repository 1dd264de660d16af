// SPDX-License-Identifier: Apache-2.0
// What is cut from the host window, and what host memory says of it.
#include "proxy/memory/host_window.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "proxy/memory/host_memory.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

// Grants everything up to a limit, once each.
class PartSource final : public HostPartSource {
 public:
  hipError_t open_host_part(std::uint64_t address, std::uint64_t bytes, Use) override {
    const MutexLock lock(mutex_);
    if (bytes > left) return hipErrorOutOfMemory;
    if (address < lasting_end) return hipErrorHostMemoryAlreadyRegistered;
    left -= bytes;
    auto next = parts.lower_bound(address);
    EXPECT_TRUE(next == parts.end() || next->first >= address + bytes);
    if (next != parts.begin()) {
      EXPECT_LE(std::prev(next)->first + std::prev(next)->second, address);
    }
    EXPECT_EQ(address % protocol::kHostPartBytes, 0u);
    EXPECT_EQ(bytes % protocol::kHostPartBytes, 0u);
    parts[address] = bytes;
    ++opened;
    return hipSuccess;
  }
  void close_host_part(std::uint64_t address, std::uint64_t) override {
    const MutexLock lock(mutex_);
    ASSERT_TRUE(parts.contains(address));
    left += parts[address];
    parts.erase(address);
  }
  hipError_t map_host_file(std::uint64_t, std::uint64_t, int, std::uint64_t) override {
    return hipErrorNotSupported;
  }
  void unmap_host_file(std::uint64_t) override {}
  std::uint64_t left = 1ull << 30;
  std::uint64_t lasting_end = 0;  // up to here, the runtime could not take back what it had
  int opened = 0;
  std::map<std::uint64_t, std::uint64_t> parts;

 private:
  Mutex mutex_;
};

constexpr std::uint64_t kWindowBytes = 4ull << 30;
// Free in a plain process and above the shadow of the address sanitizer; what the thread sanitizer allows.
constexpr std::uint64_t kBases[] = {0x1a00'0000'0000, 0x50'0000'0000};

class HostWindowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Status mapped;
    for (const std::uint64_t base : kBases) {
      addresses_ = {base, kWindowBytes};
      mapped = window_.map(addresses_, protocol::HostAccess::kMirrored, -1);
      if (mapped.is_ok()) return;
    }
    FAIL() << mapped.to_string();
  }
  protocol::AddressWindow addresses_;
  PartSource source_;
  HostWindow window_{source_};
};

TEST_F(HostWindowTest, BlocksArePagesOfFewParts) {
  std::set<std::uint64_t> all;
  for (int i = 0; i < 500; ++i) {
    std::uint64_t address = 0;
    ASSERT_EQ(window_.allocate(100 + static_cast<std::uint64_t>(i), address), hipSuccess);
    EXPECT_EQ(address % kHostPageBytes, 0u);
    EXPECT_TRUE(window_.inside(address));
    EXPECT_TRUE(all.insert(address).second);
    std::memset(reinterpret_cast<void*>(address), 1, 100);
  }
  EXPECT_EQ(source_.opened, 1);
  for (const std::uint64_t address : all) window_.release(address);
  std::uint64_t again = 0;
  ASSERT_EQ(window_.allocate(4096 * 500, again), hipSuccess);
  EXPECT_EQ(source_.opened, 1) << "what was freed is used again";
}

TEST_F(HostWindowTest, LargeOnesHavePartsOfTheirOwnAndGiveThemBack) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  ASSERT_EQ(window_.allocate(kOwnHostPartBytes + 1, first), hipSuccess);
  ASSERT_EQ(window_.allocate(kOwnHostPartBytes + 1, second), hipSuccess);
  EXPECT_EQ(source_.parts.size(), 2u);
  window_.release(first);
  EXPECT_EQ(source_.parts.size(), 1u);
  std::uint64_t again = 0;
  ASSERT_EQ(window_.allocate(kOwnHostPartBytes + 1, again), hipSuccess);
  EXPECT_EQ(again, first) << "the gap is found";
  EXPECT_EQ(window_.allocate(2ull << 30, again), hipErrorOutOfMemory);
  EXPECT_EQ(window_.allocate(kWindowBytes + 1, again), hipErrorOutOfMemory);
  EXPECT_EQ(window_.allocate(0, again), hipErrorOutOfMemory);
  EXPECT_EQ(source_.parts.size(), 2u) << "a refused part leaves nothing";
}

TEST_F(HostWindowTest, AddressesThatTheRuntimeCouldNotTakeBackAreLeftAlone) {
  source_.lasting_end = addresses_.base + kOwnHostPartBytes + 1;
  std::uint64_t address = 0;
  ASSERT_EQ(window_.allocate(kOwnHostPartBytes + 1, address), hipSuccess);
  EXPECT_GE(address, source_.lasting_end);
  EXPECT_EQ(source_.parts.size(), 1u);
}

TEST_F(HostWindowTest, ManyThreads) {
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([this, id] {
      std::vector<std::uint64_t> mine;
      for (int i = 0; i < 300; ++i) {
        std::uint64_t address = 0;
        ASSERT_EQ(window_.allocate(i % 50 == 0 ? kOwnHostPartBytes : 20000, address), hipSuccess);
        auto* const word = reinterpret_cast<int*>(address);
        *word = id;
        mine.push_back(address);
        if (i % 3 != 0) continue;
        EXPECT_EQ(*reinterpret_cast<int*>(mine.front()), id);
        window_.release(mine.front());
        mine.erase(mine.begin());
      }
      for (const std::uint64_t address : mine) window_.release(address);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(HostWindowTest, ItsAddressesMustBeFree) {
  HostWindow second(source_);
  EXPECT_FALSE(second.map(addresses_, protocol::HostAccess::kMirrored, -1).is_ok());
  EXPECT_EQ(second.access(), protocol::HostAccess::kNone);
  std::uint64_t address = 0;
  EXPECT_EQ(second.allocate(10, address), hipErrorNotSupported);
  EXPECT_FALSE(second.inside(addresses_.base));
}

TEST_F(HostWindowTest, ReservedAddressesAreOpenedLater) {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  ASSERT_EQ(window_.reserve(100, first), hipSuccess);
  ASSERT_EQ(window_.reserve(3 << 20, second), hipSuccess);
  EXPECT_EQ(second, first + protocol::kHostPartBytes);
  EXPECT_EQ(source_.opened, 0);
  ASSERT_EQ(window_.open(second), hipSuccess);
  EXPECT_EQ(source_.parts, (std::map<std::uint64_t, std::uint64_t>{{second, 2 * protocol::kHostPartBytes}}));
  *reinterpret_cast<int*>(second) = 7;
  window_.unreserve(second, true);
  window_.unreserve(first, false);
  EXPECT_TRUE(source_.parts.empty());
  ASSERT_EQ(window_.reserve(5 << 20, first), hipSuccess);
  EXPECT_EQ(*reinterpret_cast<int*>(second), 0) << "fresh pages";
  EXPECT_EQ(window_.reserve(kWindowBytes, second), hipErrorOutOfMemory);
  EXPECT_EQ(window_.reserve(0, second), hipErrorOutOfMemory);
}

TEST_F(HostWindowTest, PinnedMemoryOfAMirrorSleepsAndWakes) {
  HostMemory memory(window_);
  memory.mirror_pinned();
  void* pinned = nullptr;
  ASSERT_EQ(memory.allocate(HostRange::Kind::kPinned, 0, 100, 0, pinned), hipSuccess);
  const auto address = reinterpret_cast<std::uint64_t>(pinned);
  EXPECT_TRUE(memory.has_dormant());
  EXPECT_FALSE(memory.reaches(address, 1));
  EXPECT_TRUE(memory.could_reach(address, 100));
  EXPECT_FALSE(memory.could_reach(address, 101));
  EXPECT_TRUE(memory.find_dormant(address + 99).has_value());
  EXPECT_FALSE(memory.find_dormant(address + 100).has_value());
  ASSERT_EQ(memory.open(address), hipSuccess);
  memory.wake(address);
  EXPECT_FALSE(memory.has_dormant());
  EXPECT_TRUE(memory.reaches(address, 100));
  EXPECT_EQ(memory.release(pinned), hipSuccess);
  EXPECT_TRUE(source_.parts.empty());
}

TEST_F(HostWindowTest, RegisteredMemoryOfAMirrorHasASecondAddress) {
  HostMemory memory(window_);
  memory.mirror_pinned();
  std::vector<char> data(10'000);
  const auto address = reinterpret_cast<std::uint64_t>(data.data() + 1);
  ASSERT_EQ(memory.add(0, data.data() + 1, 9'000, 0), hipSuccess);
  const std::uint64_t other = memory.find(data.data() + 1)->other;
  EXPECT_EQ(memory.seen_by_devices(address, 1), address) << "still asleep";
  ASSERT_TRUE(memory.find_dormant(other).has_value());
  ASSERT_EQ(memory.open(other), hipSuccess);
  memory.wake(other);
  EXPECT_EQ(memory.seen_by_devices(address + 5, 8'995), other + 5);
  EXPECT_EQ(memory.seen_by_devices(address + 5, 8'996), address + 5);
  EXPECT_EQ(memory.seen_here(other + 5), address + 5);
  EXPECT_EQ(memory.seen_here(address + 5), address + 5);
  EXPECT_EQ(memory.remove(data.data() + 1), hipSuccess);
  EXPECT_TRUE(source_.parts.empty());
  ASSERT_EQ(memory.add(0, data.data() + 1, 9'000, 0), hipSuccess);
  EXPECT_TRUE(memory.has_dormant());
  EXPECT_EQ(memory.remove(data.data() + 1), hipSuccess);
  EXPECT_FALSE(memory.has_dormant());
}

// Without that, pinned memory of a mirror is the program's alone; managed memory is not.
TEST_F(HostWindowTest, HostMemoryOfAMirror) {
  HostMemory memory(window_);
  void* pinned = nullptr;
  void* managed = nullptr;
  ASSERT_EQ(memory.allocate(HostRange::Kind::kPinned, 0, 100, 0, pinned), hipSuccess);
  ASSERT_EQ(memory.allocate(HostRange::Kind::kManaged, 0, 100, 1, managed), hipSuccess);
  const auto raw = [](void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  EXPECT_FALSE(memory.reaches(raw(pinned), 1));
  EXPECT_TRUE(memory.reaches(raw(managed), 100));
  EXPECT_FALSE(memory.reaches(raw(managed), 101));
  EXPECT_FALSE(memory.reaches(raw(managed) + 1, 100));
  const auto within = memory.find(static_cast<char*>(managed) + 99);
  ASSERT_TRUE(within.has_value());
  EXPECT_EQ(within->kind, HostRange::Kind::kManaged);
  EXPECT_EQ(memory.find(pinned)->kind, HostRange::Kind::kPinned);
  EXPECT_EQ(memory.release(managed), hipSuccess);
  EXPECT_EQ(memory.release(managed), hipErrorInvalidValue);
  EXPECT_FALSE(memory.reaches(raw(managed), 1));
  EXPECT_EQ(memory.release(pinned), hipSuccess);
}

// hipFree and its like wait while there is some, and no longer.
TEST_F(HostWindowTest, DevicesReachHostMemoryAsLongAsThereIsSome) {
  HostMemory memory(window_);
  memory.mirror_pinned();
  EXPECT_FALSE(memory.any_reached());
  void* managed = nullptr;
  void* pinned = nullptr;
  using Kind = HostRange::Kind;
  ASSERT_EQ(memory.allocate(Kind::kManaged, 0, 100, 0, managed), hipSuccess);
  ASSERT_EQ(memory.allocate(Kind::kPinned, 0, 100, 0, pinned), hipSuccess);
  EXPECT_TRUE(memory.any_reached());
  EXPECT_EQ(memory.release(managed), hipSuccess);
  EXPECT_FALSE(memory.any_reached()) << "dormant memory";
  const auto address = reinterpret_cast<std::uint64_t>(pinned);
  ASSERT_EQ(memory.open(address), hipSuccess);
  memory.wake(address);
  EXPECT_TRUE(memory.any_reached());
  EXPECT_EQ(memory.release(pinned), hipSuccess);
  EXPECT_FALSE(memory.any_reached());
  std::vector<std::byte> own(3 * kHostPageBytes);
  for (const bool awake : {false, true}) {
    ASSERT_EQ(memory.add(0, own.data(), own.size(), 0), hipSuccess);
    EXPECT_FALSE(memory.any_reached()) << "dormant memory";
    if (awake) {
      const std::uint64_t other =
          memory.will_be_seen_by_devices(reinterpret_cast<std::uint64_t>(own.data()), own.size());
      ASSERT_EQ(memory.open(other), hipSuccess);
      memory.wake(other);
      EXPECT_TRUE(memory.any_reached());
    }
    EXPECT_EQ(memory.remove(own.data()), hipSuccess);
    EXPECT_FALSE(memory.any_reached());
  }
}

TEST(HostMemoryAlone, ManagedNeedsAWindow) {
  PartSource source;
  HostWindow none(source);
  HostMemory memory(none);
  void* pointer = nullptr;
  EXPECT_EQ(memory.allocate(HostRange::Kind::kManaged, 0, 100, 1, pointer), hipErrorNotSupported);
  ASSERT_EQ(memory.allocate(HostRange::Kind::kPinned, 0, 100, 0, pointer), hipSuccess);
  EXPECT_EQ(memory.release(pointer), hipSuccess);
}

}  // namespace
}  // namespace tf::proxy
