// SPDX-License-Identifier: Apache-2.0
// Waits that the executor looks at itself: answered in time, or handed over; none where waits are long.
#include "worker/session/short_waits.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tf::worker {
namespace {

struct Outcome {
  bool is_ready = false;
  int answered = 0;
  int handed_over = 0;
};

ShortWaits::Wait wait_for(Outcome& outcome, const void* object = nullptr) {
  ShortWaits::Wait wait;
  wait.objects = {object};
  wait.answer = [&outcome] { return outcome.is_ready && ++outcome.answered > 0; };
  wait.hand_over = [&outcome] { ++outcome.handed_over; };
  return wait;
}

// One that lasts too long already.
ShortWaits::Wait long_wait_for(Outcome& outcome) {
  ShortWaits::Wait wait = wait_for(outcome);
  wait.since -= std::chrono::seconds(1);
  return wait;
}

TEST(ShortWaits, AnsweredOnceWhenReady) {
  ShortWaits waits;
  Outcome outcome;
  int object = 0;
  ShortWaits::Wait wait = wait_for(outcome, &object);
  wait.since += std::chrono::hours(1);  // never too long
  waits.add(std::move(wait));
  waits.progress();
  EXPECT_FALSE(waits.empty());
  EXPECT_TRUE(waits.uses(&object));
  EXPECT_FALSE(waits.uses(&outcome));
  outcome.is_ready = true;
  waits.progress();
  waits.progress();
  EXPECT_TRUE(waits.empty());
  EXPECT_FALSE(waits.uses(&object));
  EXPECT_EQ(outcome.answered, 1);
  EXPECT_EQ(outcome.handed_over, 0);
}

TEST(ShortWaits, HandedOverWhenItLasts) {
  ShortWaits waits;
  Outcome outcome;
  waits.add(long_wait_for(outcome));
  EXPECT_EQ(outcome.handed_over, 0);
  waits.progress();
  EXPECT_TRUE(waits.empty());
  EXPECT_EQ(outcome.handed_over, 1);
  EXPECT_EQ(outcome.answered, 0);
}

TEST(ShortWaits, LongOnesAreNotLookedAtForLong) {
  ShortWaits waits;
  Outcome outcome;
  int looked_at = 0;
  for (int round = 0; round < 1000; ++round) {
    waits.add(long_wait_for(outcome));
    if (!waits.empty()) ++looked_at;
    waits.progress();
  }
  EXPECT_EQ(outcome.handed_over, 1000);
  EXPECT_GT(looked_at, 10) << "now and then one is, or short ones would never be noticed again";
  EXPECT_LT(looked_at, 200);
}

TEST(ShortWaits, NoMoreThanTheLimit) {
  ShortWaits waits;
  Outcome outcome;
  for (std::size_t count = 0; count < kShortWaitsMax + 3; ++count) waits.add(wait_for(outcome));
  EXPECT_EQ(outcome.handed_over, 3);
}

}  // namespace
}  // namespace tf::worker
