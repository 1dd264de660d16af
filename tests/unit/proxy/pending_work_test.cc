// SPDX-License-Identifier: Apache-2.0
// PendingWork: who may say that nothing is left to wait for.
#include "proxy/pending_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tf::proxy {
namespace {

constexpr std::uint64_t kNull = PendingWork::mark_of(0, 0);
constexpr std::uint64_t kStream = PendingWork::mark_of(0, std::uint64_t{1} << 56 | 7);
constexpr std::uint64_t kOther = PendingWork::mark_of(0, std::uint64_t{1} << 56 | 8);

void wait_for(PendingWork& work, std::uint64_t mark, bool all = false) {
  work.end(work.begin(mark, all), true);
}

TEST(PendingWork, IsIdleOnceItsStreamWasWaitedFor) {
  PendingWork work;
  EXPECT_TRUE(work.quiet());
  work.started(kStream);
  EXPECT_FALSE(work.idle());
  wait_for(work, kOther);
  EXPECT_FALSE(work.idle()) << "another stream says nothing of it";
  wait_for(work, kStream);
  EXPECT_TRUE(work.quiet());
}

TEST(PendingWork, OfSeveralStreamsOnlyAWaitForAllTells) {
  PendingWork work;
  work.started(kStream);
  work.started(kNull);
  wait_for(work, kStream);
  wait_for(work, kNull);
  EXPECT_FALSE(work.idle());
  wait_for(work, kNull, true);
  EXPECT_TRUE(work.idle());
}

TEST(PendingWork, APostDuringTheWaitSpoilsTheProof) {
  PendingWork work;
  work.started(kStream);
  const PendingWork::Proof proof = work.begin(kStream, false);
  EXPECT_FALSE(work.idle());
  work.started(kStream);
  work.end(proof, true);
  EXPECT_FALSE(work.idle());
}

TEST(PendingWork, AWaitThatDidNotEndLeavesWhatWas) {
  PendingWork work;
  work.started(kStream);
  work.end(work.begin(kStream, false), false);
  EXPECT_FALSE(work.idle());
  wait_for(work, kStream);
  EXPECT_TRUE(work.idle());
}

TEST(PendingWork, TheSecondOfTwoWaitsProvesNothing) {
  PendingWork work;
  work.started(kStream);
  const PendingWork::Proof first = work.begin(kStream, false);
  const PendingWork::Proof second = work.begin(kStream, true);
  work.end(second, true);
  EXPECT_FALSE(work.idle());
  work.end(first, true);
  EXPECT_TRUE(work.idle());
}

TEST(PendingWork, DevicesHaveNullStreamsOfTheirOwn) {
  PendingWork work;
  work.started(PendingWork::mark_of(1, 0));
  wait_for(work, PendingWork::mark_of(0, 0));
  EXPECT_FALSE(work.idle());
  wait_for(work, PendingWork::mark_of(1, 0));
  EXPECT_TRUE(work.idle());
}

TEST(PendingWork, WhatMayFailIsNotWorkButNotQuietEither) {
  PendingWork work;
  work.note(0, {Leaves::kSilence, 0});
  EXPECT_TRUE(work.quiet());
  work.note(0, {Leaves::kNothing, 0});
  EXPECT_TRUE(work.idle());
  EXPECT_FALSE(work.quiet());
  wait_for(work, kNull);
  EXPECT_TRUE(work.quiet());
}

// A model of two threads on one stream: what a post has counted before it returned is either waited for or
// keeps the word from saying "idle". `done` trails `posted`, as a worker does.
TEST(PendingWork, NeverForgetsWhatWasPostedBeforeAWaitEnded) {
  PendingWork work;
  std::atomic<std::uint64_t> posted{0};
  std::atomic<std::uint64_t> returned{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20000; ++n) {
        const std::uint64_t mine = posted.fetch_add(1) + 1;
        work.started(kStream);
        std::uint64_t seen = returned.load();
        while (seen < mine && !returned.compare_exchange_weak(seen, mine)) {
        }
        if (n % 64 == 0) std::this_thread::yield();
      }
      stop.store(true);
    });
  }
  threads.emplace_back([&] {
    while (!stop.load()) {
      const PendingWork::Proof proof = work.begin(kStream, false);
      const std::uint64_t through = posted.load();
      std::uint64_t before = done.load();
      while (before < through && !done.compare_exchange_weak(before, through)) {
      }
      work.end(proof, true);
    }
  });
  threads.emplace_back([&] {
    while (!stop.load()) {
      const std::uint64_t known = returned.load();
      if (work.idle() && done.load() < known) wrong.fetch_add(1);
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace tf::proxy
