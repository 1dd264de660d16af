// SPDX-License-Identifier: Apache-2.0
// How long to spin, in a model of two ends on a machine where waking a sleeper takes its time; and whether to
// spin at all, where others want the processor.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "transport/wakeup.h"

namespace tf {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

// An end waits for what comes after `answer`; whoever does not spin that long sleeps, and wakes `wake` later.
nanoseconds wait(SpinBudget& budget, nanoseconds answer, nanoseconds wake) {
  const bool sleeps = budget.current() < answer;
  const nanoseconds waited = sleeps ? answer + wake : answer;
  budget.learn(waited);
  return waited;
}

class SpinBudgetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "nobody spins on one processor";
  }
};

TEST_F(SpinBudgetTest, LongWaitsEndSpinningButForAProbe) {
  SpinBudget budget;
  for (int i = 0; i < 200; ++i) budget.learn(10ms);
  int spins = 0;
  for (int i = 0; i < 320; ++i) {
    spins += budget.current() > 1us ? 1 : 0;
    budget.learn(10ms);
  }
  EXPECT_EQ(spins, 10) << "one in 32";
}

TEST_F(SpinBudgetTest, ShortWaitsAreSpunFor) {
  SpinBudget budget;
  for (int i = 0; i < 200; ++i) budget.learn(10ms);
  budget.learn(2us);
  EXPECT_GE(budget.current(), 4us);
}

// Two ends in turn, which have slept so far: each waits for the other's wake-up, if that sleeps, and for its
// own. Returns the last wait of the client.
nanoseconds answer_each_other(SpinBudget& client, SpinBudget& server, nanoseconds wake) {
  constexpr auto kWork = 1us;
  for (int i = 0; i < 200; ++i) {
    client.learn(10ms);
    server.learn(10ms);
  }
  nanoseconds last = 10ms;
  for (int i = 0; i < 400; ++i) {
    const nanoseconds request = wait(server, kWork, wake);
    last = wait(client, request, wake);
  }
  return last;
}

TEST_F(SpinBudgetTest, TwoSleepersFindOutThatSpinningPays) {
  SpinBudget client, server;
  EXPECT_LT(answer_each_other(client, server, 140us), 5us);
}

// On emulated processors everything takes longer, and so does what a sleep is weighed against.
TEST_F(SpinBudgetTest, WhereYieldsAreSlowSpinningPaysForLonger) {
  SpinBudget client, server;
  client.others_ran(10us);
  server.others_ran(10us);
  EXPECT_LT(answer_each_other(client, server, 450us), 5us);
  SpinBudget native;
  native.others_ran(300ns);
  native.learn(1ms);
  const nanoseconds before = native.current();
  native.learn(900us);
  EXPECT_LT(native.current(), before) << "longer than spinning can pay for";
}

using Crowd = SpinBudget::Crowd;

// Whoever lost its processor to others leaves them alone for longer than it lost, and asks afterwards.
TEST_F(SpinBudgetTest, WhoeverLostTheProcessorSleepsForAWhile) {
  SpinBudget budget;
  const SpinBudget::Clock::time_point now{1h};
  EXPECT_EQ(budget.crowd(now), Crowd::kNone);
  budget.lost(now, 3ms);
  EXPECT_EQ(budget.crowd(now), Crowd::kSure);
  EXPECT_EQ(budget.crowd(now + 64 * 3ms - 1us), Crowd::kSure);
  EXPECT_EQ(budget.crowd(now + 64 * 3ms), Crowd::kAsk);
  budget.alone();
  EXPECT_EQ(budget.crowd(now), Crowd::kNone);
  budget.lost(now, 10s);
  EXPECT_EQ(budget.crowd(now + 1s), Crowd::kAsk) << "not for much longer than the others are there";
}

// What a yield costs depends on the machine, what a slice of another thread takes does not.
TEST_F(SpinBudgetTest, AYieldIsLateByWhatTheQuickestTook) {
  SpinBudget native;
  EXPECT_FALSE(native.others_ran(300ns));
  EXPECT_FALSE(native.others_ran(3us));
  EXPECT_TRUE(native.others_ran(4us));
  SpinBudget emulated;
  EXPECT_FALSE(emulated.others_ran(12us));
  EXPECT_FALSE(emulated.others_ran(40us));
  EXPECT_TRUE(emulated.others_ran(60us));
  EXPECT_FALSE(emulated.others_ran(10us));
  EXPECT_TRUE(emulated.others_ran(45us));
  SpinBudget crowded;
  EXPECT_TRUE(crowded.others_ran(1ms)) << "the first already";
}

int yields = 0;
void late_yield() {
  ++yields;
  std::this_thread::sleep_for(1ms);
}

// A yield from which it takes long to return is the sign of others.
TEST_F(SpinBudgetTest, SpinningEndsWhereOthersWantToRun) {
  SpinBudget budget;
  const auto now = SpinBudget::Clock::now();
  yields = 0;
  Spin first(budget, now, late_yield);
  EXPECT_TRUE(first.go_on(now + 1us));
  EXPECT_EQ(yields, 0) << "an answer that comes soon costs no yield";
  EXPECT_FALSE(first.go_on(now + kSpinAlone));
  EXPECT_EQ(yields, 1);
  Spin second(budget, now + 1ms, late_yield);
  EXPECT_FALSE(second.go_on(now + 1ms));
  EXPECT_EQ(yields, 1) << "it is known that there are others";
  budget.lost(now - 1h, 1ms);
  const auto later = SpinBudget::Clock::now();
  Spin third(budget, later, late_yield);
  EXPECT_FALSE(third.go_on(later));
  EXPECT_EQ(yields, 2) << "it asks before it spins again";
}

}  // namespace
}  // namespace tf
