// SPDX-License-Identifier: Apache-2.0
// How long to spin, in a model of two ends on a machine where waking a sleeper takes its time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

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

// Two ends in turn: each waits for the other's wake-up, if that sleeps, and for its own.
TEST_F(SpinBudgetTest, TwoSleepersFindOutThatSpinningPays) {
  constexpr auto kWake = 140us;
  constexpr auto kWork = 1us;
  SpinBudget client;
  SpinBudget server;
  for (int i = 0; i < 200; ++i) {
    client.learn(10ms);
    server.learn(10ms);
  }
  nanoseconds last = 10ms;
  for (int i = 0; i < 200; ++i) {
    const nanoseconds request = wait(server, kWork, kWake);
    last = wait(client, request, kWake);
  }
  EXPECT_LT(last, 5us);
}

}  // namespace
}  // namespace tf
