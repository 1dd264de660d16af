// SPDX-License-Identifier: Apache-2.0
// How long to spin, in a model of two ends on a machine where waking a sleeper takes its time; and whether to
// spin at all, where others want the processor.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "transport/base/spin.h"

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
  client.yield_cost().others_ran(10us, false);
  server.yield_cost().others_ran(10us, false);
  EXPECT_LT(answer_each_other(client, server, 450us), 5us);
  SpinBudget native;
  native.yield_cost().others_ran(300ns, false);
  native.learn(10ms);
  const nanoseconds before = native.current();
  native.learn(9ms);
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

int yields = 0;
void late_yield() {
  ++yields;
  std::this_thread::sleep_for(1ms);
}
constexpr Scheduler kAloneScheduler{.yield = [] {}, .displacements = [] { return std::uint64_t{0}; }};
constexpr Scheduler kCrowded{.yield = late_yield, .displacements = [] { return std::uint64_t(yields); }};
// As slow, but of its own.
constexpr Scheduler kSlow{.yield = late_yield, .displacements = [] { return std::uint64_t{0}; }};

// A yield from which it takes long to return is the sign of others.
TEST_F(SpinBudgetTest, SpinningEndsWhereOthersWantToRun) {
  SpinBudget budget;
  const auto now = SpinBudget::Clock::now();
  yields = 0;
  Spin first(budget, now, kCrowded);
  EXPECT_TRUE(first.go_on(now + 1us));
  EXPECT_EQ(yields, 0) << "an answer that comes soon costs no yield";
  EXPECT_FALSE(first.go_on(now + kSpinAlone));
  EXPECT_EQ(yields, 1);
  Spin second(budget, now + 1ms, kCrowded);
  EXPECT_FALSE(second.go_on(now + 1ms));
  EXPECT_EQ(yields, 1) << "it is known that there are others";
  budget.lost(now - 1h, 1ms);
  const auto later = SpinBudget::Clock::now();
  Spin third(budget, later, kCrowded);
  EXPECT_FALSE(third.go_on(later));
  EXPECT_EQ(yields, 2) << "it asks before it spins again";
}

Yields::Outcome others_ran(nanoseconds time) { return {.end = {}, .time = time, .others = true}; }

// Two ends on one processor are no crowd: each yields, at once, and finds the answer when it runs again.
TEST_F(SpinBudgetTest, WhoeverFindsItsAnswersAfterShortYieldsYieldsFirst) {
  SpinBudget budget;
  const SpinBudget::Clock::time_point now{1h};
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(budget.yielded(others_ran(20us), true));
    budget.answered_elsewhere();
  }
  EXPECT_EQ(budget.crowd(now), Crowd::kNone) << "chance";
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(budget.yielded(others_ran(20us), false));
  EXPECT_EQ(budget.crowd(now), Crowd::kNone) << "no answer";
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(budget.yielded(others_ran(20us), true));
  EXPECT_EQ(budget.crowd(now), Crowd::kAsk);
  EXPECT_FALSE(budget.yielded({.end = now, .time = 300ns, .others = false}, true));
  EXPECT_EQ(budget.crowd(now), Crowd::kNone) << "the peer has left this processor";
}

TEST_F(SpinBudgetTest, WhoeverYieldedToATimeSliceOfOthersSleeps) {
  SpinBudget budget;
  EXPECT_FALSE(budget.yielded(others_ran(300us), false)) << "some turns of clients and sessions";
  EXPECT_EQ(budget.crowd(SpinBudget::Clock::time_point{1us}), Crowd::kNone);
  EXPECT_TRUE(budget.yielded(others_ran(3ms), true));
  EXPECT_EQ(budget.crowd(SpinBudget::Clock::time_point{1ms}), Crowd::kSure);
}

// Put up once for the process, so for all tests of this program.
class Sign final : public CrowdSign {
 public:
  Sign() { put_up(*this); }
  bool crowded() const override { return wanted; }
  std::atomic<bool> wanted{false};
};

TEST_F(SpinBudgetTest, NobodyYieldsWhereASignSaysThatOthersWantTo) {
  static Sign sign;
  SpinBudget budget;
  const auto now = SpinBudget::Clock::now();
  yields = 0;
  sign.wanted = true;
  Spin spin(budget, now, kCrowded);
  EXPECT_TRUE(spin.go_on(now)) << "a moment is better than to sleep and wake up";
  EXPECT_FALSE(spin.go_on(now + kSpinAlone));
  EXPECT_EQ(yields, 0);
  EXPECT_EQ(budget.crowd(now), Crowd::kNone) << "the sign is asked again the next time";
  sign.wanted = false;
  EXPECT_TRUE(Spin(budget, now, kAloneScheduler).go_on(now + kSpinAlone)) << "it is not remembered";
}

// A machine on which every yield is slow: the first looks like others, and that is the end of it.
TEST_F(SpinBudgetTest, SpinningGoesOnWhereNobodyElseWantsTo) {
  SpinBudget budget;
  const auto now = SpinBudget::Clock::now();
  Spin first(budget, now, kSlow);
  EXPECT_FALSE(first.go_on(now + kSpinAlone)) << "nobody knows yet";
  EXPECT_TRUE(budget.crowded());
  budget.lost(now - 1h, 1ms);
  const auto later = SpinBudget::Clock::now();
  Spin second(budget, later, kSlow);
  EXPECT_TRUE(second.go_on(later));
  EXPECT_FALSE(budget.crowded());
}

}  // namespace
}  // namespace tf
