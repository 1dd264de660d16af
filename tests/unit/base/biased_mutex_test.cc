// SPDX-License-Identifier: Apache-2.0
#include "transport/base/biased_mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "transport/base/mutex.h"

namespace tf {
namespace {

constexpr std::uint64_t kAlone = 1000;   // more than it takes to get a bias
constexpr std::uint64_t kBriefly = 100;  // enough for a bias, and its slice is far from over

void add(BiasedMutex& mutex, std::uint64_t& sum, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    const MutexLock lock(mutex);
    ++sum;
  }
}

TEST(BiasedMutex, AnotherThreadTakesTheBiasAway) {
  if (!register_for_barriers()) GTEST_SKIP() << "membarrier() is not permitted here";
  BiasedMutex mutex(true);
  std::uint64_t sum = 0;
  add(mutex, sum, kAlone);
  EXPECT_EQ(mutex.losses(), 0u);
  std::thread([&] { add(mutex, sum, 1); }).join();
  EXPECT_EQ(mutex.losses(), 1u) << "the first thread had it";
  add(mutex, sum, 10);
  std::thread([&] { add(mutex, sum, 1); }).join();
  EXPECT_EQ(mutex.losses(), 1u) << "nobody had been alone for long";
  EXPECT_EQ(sum, kAlone + 12);
}

TEST(BiasedMutex, ItsOwnerIsWaitedFor) {
  if (!register_for_barriers()) GTEST_SKIP() << "membarrier() is not permitted here";
  BiasedMutex mutex(true);
  std::uint64_t sum = 0;
  add(mutex, sum, kAlone);
  std::atomic<bool> entered{false};
  mutex.lock();
  std::thread other([&] {
    const MutexLock lock(mutex);
    entered = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(entered);
  mutex.unlock();
  other.join();
  EXPECT_TRUE(entered);
}

// Phases in which one thread is alone alternate with others in which all want it, so that the bias comes and
// goes; a lost update would show in the sum, and as a race under tsan.
void stress(bool barriers) {
  constexpr unsigned kThreads = 4;
  constexpr std::uint64_t kRounds = 300;
  BiasedMutex mutex(barriers);
  std::uint64_t sum = 0;
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        add(mutex, sum, round % kThreads == thread ? kAlone : 3);
        if (round % 7 == thread) std::this_thread::yield();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, kRounds * (kAlone + 3 * (kThreads - 1)));
}

TEST(BiasedMutex, ExcludesWithBarriers) {
  if (!register_for_barriers()) GTEST_SKIP() << "membarrier() is not permitted here";
  stress(true);
}

TEST(BiasedMutex, ExcludesWithout) { stress(false); }

// Threads that all want it take slices: the busy owner passes the bias on, and nobody has to revoke it.
TEST(BiasedMutex, ABusyOwnerPassesItOn) {
  if (!register_for_barriers()) GTEST_SKIP() << "membarrier() is not permitted here";
  BiasedMutex mutex(true);
  std::uint64_t sum = 0;
  std::atomic<bool> stop{false};
  add(mutex, sum, kAlone);
  std::thread busy([&] {
    while (!stop) add(mutex, sum, kAlone);
  });
  std::uint64_t mine = 0;
  for (; mutex.inheritances() < 10 && mine < 200'000'000; mine += kAlone) add(mutex, sum, kAlone);
  stop = true;
  busy.join();
  EXPECT_GE(mutex.inheritances(), 10u);
  EXPECT_GE(sum, kAlone + mine);
}

// The end of a burst hands the bias over at once, long before a slice is over. The other thread may be late
// and find the owner gone, so there are several attempts.
TEST(BiasedMutex, TheEndOfABurstEndsTheSlice) {
  if (!register_for_barriers()) GTEST_SKIP() << "membarrier() is not permitted here";
  bool inherited = false;
  for (int attempt = 0; attempt < 100 && !inherited; ++attempt) {
    BiasedMutex mutex(true);
    std::uint64_t sum = 0;
    add(mutex, sum, kBriefly);
    mutex.lock();
    std::thread other([&] { add(mutex, sum, 1); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + attempt));
    mutex.end_burst();
    mutex.unlock();
    other.join();
    EXPECT_EQ(mutex.losses() + mutex.inheritances(), 1u);
    EXPECT_EQ(sum, kBriefly + 1);
    inherited = mutex.inheritances() == 1;
  }
  EXPECT_TRUE(inherited);
}

// Many more threads than may have a bias.
TEST(BiasedMutex, OutlivesManyThreads) {
  BiasedMutex mutex;
  std::uint64_t sum = 0;
  constexpr unsigned kThreads = 600;
  for (unsigned thread = 0; thread < kThreads; thread += 2) {
    std::thread first([&] { add(mutex, sum, 100); });
    std::thread second([&] { add(mutex, sum, 100); });
    first.join();
    second.join();
  }
  EXPECT_EQ(sum, kThreads * 100u);
}

}  // namespace
}  // namespace tf
