// SPDX-License-Identifier: Apache-2.0
// The page that a tenant's sessions share: sums, limits, and what a session leaves.
#include "worker/base/tenant_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace tf::worker {
namespace {

constexpr std::size_t kSlots = 4;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

class Page : public testing::Test {
 protected:
  void SetUp() override {
    Result<TenantPage> made = TenantPage::make(kSlots, file_);
    ASSERT_TRUE(made.is_ok()) << made.status().to_string();
    supervisors_ = std::move(*made);
  }
  TenantPage session(std::size_t slot) {
    Result<TenantPage> page = TenantPage::open(file_, slot);
    EXPECT_TRUE(page.is_ok()) << page.status().to_string();
    return std::move(*page);
  }

  net::OwnedFd file_;
  TenantPage supervisors_ = TenantPage::alone();
};

TEST_F(Page, ALimitIsForAllSessionsTogether) {
  TenantPage first = session(0);
  TenantPage second = session(3);
  EXPECT_TRUE(first.take(memory_of(1), 60, 100));
  EXPECT_FALSE(second.take(memory_of(1), 41, 100));
  EXPECT_TRUE(second.take(memory_of(1), 40, 100));
  EXPECT_TRUE(second.take(memory_of(0), 100, 100)) << "another device";
  EXPECT_EQ(first.used(memory_of(1)), 100u);
  EXPECT_EQ(first.used_here(memory_of(1)), 60u);
  EXPECT_EQ(first.used_by_others(memory_of(1)), 40u);
  first.give(memory_of(1), 60);
  EXPECT_TRUE(second.take(memory_of(1), 60, 100));
  EXPECT_TRUE(first.take(memory_of(1), kMost / 2, 0)) << "no limit";
}

TEST_F(Page, WhatASessionLeavesIsFreeAgain) {
  const pid_t child = ::fork();
  if (child == 0) {
    Result<TenantPage> page = TenantPage::open(file_, 2);
    ::_exit(page && page->take(Counter::kStreams, 7, 8) && page->take(Counter::kHost, 1, 0) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  TenantPage other = session(0);
  EXPECT_FALSE(other.take(Counter::kStreams, 2, 8));
  const TenantPage::Use left = supervisors_.clear(2);
  EXPECT_EQ(left[static_cast<std::size_t>(Counter::kStreams)], 7u);
  EXPECT_EQ(left[static_cast<std::size_t>(Counter::kHost)], 1u);
  EXPECT_TRUE(other.take(Counter::kStreams, 8, 8));
}

TEST_F(Page, SessionsThatAskAtOnceNeverGetMoreThanThereIs) {
  constexpr std::uint64_t kLimit = 3;
  constexpr int kRounds = 20'000;
  std::atomic<std::uint64_t> held{0};
  std::atomic<std::uint64_t> most{0};
  std::atomic<std::uint64_t> taken{0};
  const auto work = [&](std::size_t slot) {
    TenantPage page = session(slot);
    for (int round = 0; round < kRounds; ++round) {
      if (!page.take(Counter::kCompiles, 1, kLimit)) continue;
      const std::uint64_t now = ++held;
      ++taken;
      for (std::uint64_t before = most; now > before && !most.compare_exchange_weak(before, now);) continue;
      --held;
      page.give(Counter::kCompiles, 1);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t slot = 0; slot < kSlots; ++slot) threads.emplace_back(work, slot);
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, kLimit);
  EXPECT_GT(taken, 0u);
  EXPECT_EQ(supervisors_.used(Counter::kCompiles), 0u);
}

// A session process runs its client's native code, so anything may stand there.
TEST_F(Page, NonsenseInItHarmsTheTenantOnly) {
  TenantPage hostile = session(1);
  hostile.give(memory_of(0), 1);  // now the largest number
  TenantPage other = session(0);
  EXPECT_FALSE(other.take(memory_of(0), 2, 1u << 20));
  EXPECT_EQ(other.used(memory_of(0)), kMost);
  EXPECT_EQ(supervisors_.clear(1)[0], kMost);
  EXPECT_TRUE(other.take(memory_of(0), 2, 1u << 20));
  EXPECT_NE(::ftruncate(file_.get(), 0), 0) << "sealed";
}

TEST_F(Page, ASlotThatIsNotThereIsRefused) {
  EXPECT_EQ(TenantPage::open(file_, kSlots).code(), Code::kProtocol);
  EXPECT_EQ(TenantPage::open(file_, kMost).code(), Code::kProtocol);
  const net::OwnedFd empty(::memfd_create("empty", MFD_CLOEXEC));
  EXPECT_EQ(TenantPage::open(empty, 0).code(), Code::kProtocol);
  EXPECT_FALSE(TenantPage::open(net::OwnedFd(), 0).is_ok());
}

}  // namespace
}  // namespace tf::worker
