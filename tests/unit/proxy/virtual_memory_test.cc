// SPDX-License-Identifier: Apache-2.0
// The client's account of virtual memory, and what the handles of shared memory say.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "proxy/memory/shared_memory.h"
#include "proxy/memory/virtual_memory.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

constexpr std::uint64_t kBase = 0x10000000;
constexpr std::uint64_t kUnit = 0x1000;

class Account : public ::testing::Test {
 protected:
  Account() { memory_.open({kBase, 16 * kUnit}, kUnit); }
  std::uint64_t reserve(std::uint64_t units, std::uint64_t alignment = 0, std::uint64_t wish = 0)
      TF_REQUIRES(memory_.order()) {
    std::uint64_t address = 0;
    return memory_.reserve(units * kUnit, alignment, wish, address) == hipSuccess ? address : 0;
  }
  VirtualMemoryMap memory_;
};

TEST_F(Account, ReservationsFillTheWindowAndNoMore) {
  const MutexLock lock(memory_.order());
  EXPECT_EQ(reserve(4), kBase);
  EXPECT_EQ(reserve(4, 8 * kUnit), kBase + 8 * kUnit);
  EXPECT_EQ(reserve(4), kBase + 4 * kUnit) << "the gap";
  EXPECT_EQ(reserve(5), 0u);
  EXPECT_EQ(reserve(4), kBase + 12 * kUnit);
  EXPECT_EQ(reserve(1), 0u) << "full";
  EXPECT_EQ(memory_.unreserve(kBase + 4 * kUnit, 4 * kUnit), hipSuccess);
  EXPECT_EQ(reserve(2, 0, kBase + 6 * kUnit), kBase + 6 * kUnit) << "as wished";
  EXPECT_EQ(reserve(1, 0, kBase + 6 * kUnit), kBase + 4 * kUnit) << "taken";
  EXPECT_EQ(reserve(~std::uint64_t{0} / kUnit), 0u);
}

TEST_F(Account, WishesOutsideTheWindowAreNotFollowed) {
  const MutexLock lock(memory_.order());
  EXPECT_EQ(reserve(1, 0, kBase - kUnit), kBase);
  EXPECT_EQ(reserve(1, 0, kBase + 16 * kUnit), kBase + kUnit);
  EXPECT_EQ(reserve(2, 0, kBase + 15 * kUnit), kBase + 2 * kUnit) << "would reach over the end";
  EXPECT_EQ(reserve(1, 0, kBase + 5 * kUnit + 1), kBase + 4 * kUnit) << "not aligned";
}

TEST_F(Account, MemoryGoesWithItsLastOwner) {
  const MutexLock lock(memory_.order());
  constexpr std::uint64_t kHandle = 77;
  memory_.created(kHandle, {.device = 0, .bytes = 2 * kUnit});
  ASSERT_EQ(reserve(4), kBase);
  ASSERT_EQ(memory_.check_map(kBase, 2 * kUnit, 0, kHandle), hipSuccess);
  memory_.mapped(kBase, kUnit, kHandle);
  memory_.mapped(kBase + kUnit, kUnit, kHandle);
  EXPECT_EQ(memory_.check_map(kBase + kUnit, kUnit, 0, kHandle), hipErrorInvalidValue) << "taken";
  EXPECT_EQ(memory_.check_map(kBase + 4 * kUnit, kUnit, 0, kHandle), hipErrorInvalidValue) << "not reserved";
  EXPECT_EQ(memory_.check_map(kBase + 3 * kUnit, 2 * kUnit, 0, kHandle), hipErrorInvalidValue);
  EXPECT_EQ(memory_.check_map(kBase + 2 * kUnit, kUnit, 2 * kUnit, kHandle), hipErrorInvalidValue);
  VirtualMemoryMap::Memory gone;
  EXPECT_EQ(memory_.release(kHandle, gone), hipSuccess);
  EXPECT_TRUE(gone.empty());
  EXPECT_EQ(memory_.find(kHandle), nullptr);
  EXPECT_EQ(memory_.release(kHandle, gone), hipErrorInvalidValue);
  EXPECT_EQ(memory_.unreserve(kBase, 4 * kUnit), hipErrorInvalidValue);
  EXPECT_FALSE(memory_.is_mapped(kBase, 3 * kUnit));
  EXPECT_EQ(memory_.unmapped(kBase, kUnit, gone).size(), 1u);
  EXPECT_TRUE(gone.empty());
  std::uint64_t again = 0;
  EXPECT_EQ(memory_.retain(kBase, again), hipErrorInvalidValue);
  EXPECT_EQ(memory_.retain(kBase + kUnit + 5, again), hipSuccess);
  EXPECT_EQ(again, kHandle);
  EXPECT_EQ(memory_.unmapped(kBase + kUnit, kUnit, gone).size(), 1u);
  EXPECT_TRUE(gone.empty()) << "retained";
  EXPECT_EQ(memory_.release(kHandle, gone), hipSuccess);
  EXPECT_TRUE(gone.contains(kHandle));
  EXPECT_EQ(memory_.unreserve(kBase, 4 * kUnit), hipSuccess);
}

TEST(Handles, SayWhatWasWritten) {
  const SharedKey key{0x123456789abcdef0, 0xfedcba9876543210};
  const auto ticket = read_handle(write_handle({key, 4096}));
  ASSERT_TRUE(ticket.has_value());
  EXPECT_EQ(ticket->key, key);
  EXPECT_EQ(ticket->offset, 4096u);
  EXPECT_FALSE(read_handle(hipIpcMemHandle_t{}).has_value());
  const hipIpcEventHandle_t event = write_event_handle(key);
  EXPECT_EQ(read_event_handle(event), key);
  hipIpcMemHandle_t confused{};
  std::memcpy(confused.reserved, event.reserved, sizeof confused.reserved);
  EXPECT_FALSE(read_handle(confused).has_value());
}

TEST(Handles, TokenFilesCannotBeChanged) {
  const SharedKey key{1, 2};
  const net::OwnedFd pool = make_pool_file(3);
  EXPECT_EQ(read_pool_file(pool.get()), 3);
  EXPECT_FALSE(read_token_file(pool.get()).has_value());
  EXPECT_FALSE(read_pool_file(-1).has_value());
  const net::OwnedFd file = make_token_file(key);
  EXPECT_FALSE(read_pool_file(file.get()).has_value());
  ASSERT_TRUE(file);
  EXPECT_EQ(read_token_file(file.get()), key);
  EXPECT_EQ(::pwrite(file.get(), "x", 1, 0), -1);
  EXPECT_EQ(::ftruncate(file.get(), 0), -1);
  EXPECT_EQ(read_token_file(file.get()), key);
  EXPECT_FALSE(read_token_file(-1).has_value());
  EXPECT_FALSE(read_token_file(STDIN_FILENO).has_value());
}

TEST(SharedMemory, WhatIsOpenedTwiceStaysOpenUntilBothAreClosed) {
  constexpr auto kIpc = SharedMemory::Way::kIpc;
  SharedMemory memory;
  const MemoryTicket first{{1, 2}, 0};
  EXPECT_FALSE(memory.open_again(first)) << "nothing is open";
  memory.opened(0x10000, 0x1000, first, kIpc);
  EXPECT_FALSE(memory.open_again({{1, 3}, 0})) << "another key";
  EXPECT_FALSE(memory.open_again({{1, 2}, 0x1000})) << "beyond it";
  EXPECT_EQ(memory.open_again({{1, 2}, 0x100}), 0x10000u) << "another pointer into it";
  auto closed = memory.close(0x10100, kIpc);
  ASSERT_TRUE(closed);
  EXPECT_FALSE(closed->last);
  closed = memory.close(0x10000, kIpc);
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->base, 0x10000u);
  EXPECT_TRUE(closed->last);
  EXPECT_FALSE(memory.close(0x10000, kIpc));
  EXPECT_FALSE(memory.open_again(first));
}

TEST(SharedMemory, KeysGoWithTheirAllocation) {
  SharedMemory memory;
  EXPECT_FALSE(memory.freed(kBase).has_value());
  memory.shared(kBase, {3, 4});
  EXPECT_TRUE(memory.is_ours({3, 4}));
  EXPECT_FALSE(memory.is_ours({3, 5}));
  EXPECT_EQ(memory.freed(kBase), (SharedKey{3, 4}));
  EXPECT_FALSE(memory.is_ours({3, 4}));
}

TEST(SharedMemory, IsClosedTheWayItWasOpened) {
  using Way = SharedMemory::Way;
  SharedMemory memory;
  memory.opened(kBase, kUnit, {{1, 2}, 0}, Way::kIpc);
  EXPECT_FALSE(memory.close(kBase + kUnit, Way::kIpc).has_value());
  EXPECT_FALSE(memory.close(kBase, Way::kPool).has_value());
  const auto closed = memory.close(kBase + 5, Way::kIpc);
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->base, kBase);
  EXPECT_FALSE(memory.close(kBase, Way::kIpc).has_value());
  memory.opened(kBase, kUnit, {{1, 2}, 8}, Way::kPool);
  EXPECT_FALSE(memory.close(kBase + 8, Way::kIpc).has_value())
      << "a pool's pointer is not closed as an IPC handle's";
  EXPECT_FALSE(memory.close(kBase, Way::kPool).has_value()) << "the program got another pointer";
  EXPECT_FALSE(memory.close(kBase + 9, Way::kPool).has_value());
  EXPECT_FALSE(memory.open_again({{1, 2}, 8})) << "each import is one of its own";
  EXPECT_TRUE(memory.close(kBase + 8, Way::kPool).has_value());
}

}  // namespace
}  // namespace tf::proxy
