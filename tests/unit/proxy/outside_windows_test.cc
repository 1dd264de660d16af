// SPDX-License-Identifier: Apache-2.0
// Addresses that a runtime chose are kept free of this process's own memory.
#include "proxy/memory/outside_windows.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace tf::proxy {
namespace {

constexpr std::uint64_t kOutsideBytes = 1 << 20;

// Of kOutsideBytes, which this process does not use.
std::uint64_t free_address() {
  void* const memory = ::mmap(nullptr, kOutsideBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  EXPECT_EQ(::munmap(memory, kOutsideBytes), 0);
  return reinterpret_cast<std::uint64_t>(memory);
}

bool is_free(std::uint64_t address) {
  const bool reserved = static_cast<bool>(ReservedWindow::reserve(address, kOutsideBytes));
  return reserved;
}

class OutsideWindowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!may_map(address_, kOutsideBytes)) GTEST_SKIP() << "the thread sanitizer allows no such addresses";
  }
  const std::uint64_t address_ = free_address();
  OutsideWindows windows_;
};

TEST_F(OutsideWindowsTest, NothingElseComesThereUntilItIsDropped) {
  ASSERT_TRUE(windows_.reserve(address_, kOutsideBytes));
  EXPECT_FALSE(is_free(address_));
  EXPECT_FALSE(windows_.reserve(address_, kOutsideBytes)) << "it is there already";
  EXPECT_FALSE(windows_.reserve(address_ + kOutsideBytes / 2, kOutsideBytes)) << "a part is";
  windows_.drop(address_ + 1);
  EXPECT_FALSE(is_free(address_)) << "that was another one";
  windows_.drop(address_);
  EXPECT_TRUE(is_free(address_));
  windows_.drop(address_);
}

TEST_F(OutsideWindowsTest, WholePagesAroundIt) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  ASSERT_TRUE(windows_.reserve(address_ + page + 256, 512));
  EXPECT_FALSE(ReservedWindow::reserve(address_ + page, page));
  EXPECT_TRUE(ReservedWindow::reserve(address_, page));
  EXPECT_TRUE(ReservedWindow::reserve(address_ + 2 * page, page));
}

TEST_F(OutsideWindowsTest, WhatIsNoRangeIsRefused) {
  EXPECT_FALSE(windows_.reserve(0, kOutsideBytes));
  EXPECT_FALSE(windows_.reserve(address_, 0));
  EXPECT_FALSE(windows_.reserve(address_, UINT64_MAX - address_));
  EXPECT_FALSE(windows_.reserve(UINT64_MAX - 10, 100));
  EXPECT_TRUE(is_free(address_));
}

}  // namespace
}  // namespace tf::proxy
