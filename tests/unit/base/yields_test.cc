// SPDX-License-Identifier: Apache-2.0
// What yields are taken to say, on machines where they take a third of a microsecond, and where they take
// ten.
#include "transport/base/yields.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

namespace tf {
namespace {

using namespace std::chrono_literals;

TEST(YieldCost, AQuickOneIsNobodysWhateverTheSystemSays) {
  YieldCost cost;
  for (const std::optional<bool> displaced :
       {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    EXPECT_FALSE(cost.others_ran(300ns, displaced));
    EXPECT_FALSE(cost.others_ran(3us, displaced));
    EXPECT_FALSE(cost.was_slow());
  }
}

TEST(YieldCost, ASlowOneAmongQuickOnesIsOthers) {
  for (const auto time : {4us, 50us, 1000us}) {
    YieldCost cost;
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(cost.others_ran(400ns, std::nullopt));
    EXPECT_TRUE(cost.others_ran(time, std::nullopt));
    EXPECT_TRUE(cost.was_slow());
    EXPECT_TRUE(cost.others_ran(time, true));
  }
  YieldCost machine;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(machine.others_ran(400ns, std::nullopt));
  EXPECT_TRUE(machine.others_ran(5us, false)) << "a hypervisor's other guests";
}

// 1.5 us now and then, 4 to 8 us most of the time, and 20 us while the kernel handles packets: nobody else.
TEST(YieldCost, EmulatedProcessorsAreLearned) {
  YieldCost cost;
  EXPECT_FALSE(cost.others_ran(1500ns, std::nullopt));
  EXPECT_TRUE(cost.others_ran(8us, std::nullopt)) << "nobody knows yet";
  int taken_for_others = 0;
  for (const auto time : {5us, 8us, 4us, 6us, 7us, 5us, 8us, 6us})
    taken_for_others += cost.others_ran(time, false);
  EXPECT_LE(taken_for_others, 4) << "until it is known";
  for (const auto time : {5us, 8us, 4us, 30us, 7us, 5us, 8us, 6us})
    EXPECT_FALSE(cost.others_ran(time, false));
  EXPECT_GT(cost.alone(), 3us);
  EXPECT_LT(cost.alone(), 8us);
  EXPECT_FALSE(cost.others_ran(12us, true)) << "the kernel's own work";
  EXPECT_TRUE(cost.others_ran(60us, true)) << "a thread's";
  EXPECT_FALSE(cost.others_ran(1500ns, std::nullopt));
  EXPECT_FALSE(cost.others_ran(10us, true)) << "one quick yield changes little";
}

// A machine that stands still from time to time is no slower for it.
TEST(YieldCost, APauseOfTheMachineIsForgotten) {
  YieldCost cost;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(cost.others_ran(400ns, std::nullopt));
  (void)cost.others_ran(5ms, false);
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(cost.others_ran(400ns, std::nullopt));
  EXPECT_LT(cost.alone(), 600ns);
  EXPECT_TRUE(cost.others_ran(4us, true));
}

unsigned questions = 0;
std::uint64_t count_questions() { return ++questions; }

TEST(Yields, TheSystemIsAskedWhereYieldsAreSlowOnly) {
  YieldCost cost;
  questions = 0;
  constexpr Scheduler kQuick{.yield = [] {}, .displacements = count_questions};
  Yields quick(cost, kQuick);
  for (int i = 0; i < 20; ++i) quick.yield();
  EXPECT_LE(questions, 4u) << "but for pauses of this machine";
}

// Two threads that want one processor find each other. What the kernel counts is what counts here.
TEST(Yields, TheKernelTellsOfOthersOnTheSameProcessor) {
  cpu_set_t before, one;
  CPU_ZERO(&one);
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  std::atomic<bool> ready{false}, stop{false};
  std::thread other([&] {  // has the affinity of who started it
    ready.store(true);
    while (!stop.load()) {
    }
  });
  while (!ready.load()) std::this_thread::yield();
  const std::uint64_t count = Scheduler::real().displacements();
  for (int turn = 0; turn < 10 && Scheduler::real().displacements() == count; ++turn)
    Scheduler::real().yield();
  EXPECT_GT(Scheduler::real().displacements(), count);
  stop.store(true);
  other.join();
  ::sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace tf
