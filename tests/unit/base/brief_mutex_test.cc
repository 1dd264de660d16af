// SPDX-License-Identifier: Apache-2.0
// BriefMutex: one holder at a time, also where a waiter stops spinning and sleeps.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "transport/base/mutex.h"

namespace tf {
namespace {

TEST(BriefMutex, HasOneHolderAtATime) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 20'000;
  BriefMutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int each = 0; each < kThreads; ++each)
    threads.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const MutexLock lock(mutex);
        ++count;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kTurns);
}

TEST(BriefMutex, WhoWaitsForLongGetsIt) {
  BriefMutex mutex;
  bool held = true;
  mutex.lock();
  std::thread waiter([&] {
    const MutexLock lock(mutex);
    EXPECT_FALSE(held);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  held = false;
  mutex.unlock();
  waiter.join();
}

}  // namespace
}  // namespace tf
