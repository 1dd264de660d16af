// SPDX-License-Identifier: Apache-2.0
// When a thread between blocks looks at the clock, and when it lets others run.
#include "worker/runtime/cpu/kernel/breaks.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tf::cpu {
namespace {

constexpr std::uint64_t kUs = 1000;

// A thread that runs blocks, with a clock of its own.
struct Runner {
  Breaks breaks;
  std::uint64_t now = 1'000'000 * kUs;
  std::uint64_t others_us = 0;  // how long others run in each break
  unsigned looks = 0;
  unsigned breaks_taken = 0;

  void run(std::uint64_t blocks, std::uint64_t block_us) {
    breaks.come_to(blocks);
    for (std::uint64_t block = 0; block < blocks; ++block) {
      if (breaks.looks()) {
        ++looks;
        if (breaks.is_due(now)) {
          ++breaks_taken;
          now += others_us * kUs;
          breaks.ended(now);
        }
      }
      now += block_us * kUs;
    }
  }
};

TEST(BreaksTest, BetweenLongBlocksEachTime) {
  Runner runner;
  runner.run(64, 1000);
  EXPECT_EQ(runner.breaks_taken, 62u);  // not before the first block; the second look says when it came
}

TEST(BreaksTest, BetweenShortBlocksOnceInAWhile) {
  Runner runner;
  runner.run(100'000, 1);
  EXPECT_GT(runner.breaks_taken, 100'000 / 600u);
  EXPECT_LE(runner.breaks_taken, 100'000 / 400u);
  EXPECT_LT(runner.looks, 100'000 / 30u);  // few readings of the clock
}

TEST(BreaksTest, ASingleBlockReadsNoClock) {
  Runner runner;
  for (int burst = 0; burst < 100; ++burst) {
    runner.run(1, 1000);
    runner.breaks.rest();
  }
  EXPECT_EQ(runner.looks, 0u);
}

TEST(BreaksTest, LongGridsOfOneBlockInARowHaveThem) {
  Runner runner;
  for (int grid = 0; grid < 64; ++grid) runner.run(1, 1000);
  EXPECT_EQ(runner.breaks_taken, 62u);
}

TEST(BreaksTest, ARestIsNoLackOfBreaks) {
  Runner runner;
  runner.run(3, 100);
  runner.breaks.rest();
  runner.now += 1'000'000 * kUs;
  runner.run(3, 100);
  EXPECT_EQ(runner.breaks_taken, 0u);
}

TEST(BreaksTest, LongBlocksAfterShortOnesAreSeenSoon) {
  Runner runner;
  runner.run(100'000, 1);
  runner.breaks_taken = 0;
  runner.run(16, 1000);
  EXPECT_GE(runner.breaks_taken, 13u);
}

// Each yield costs the rest of a slice there.
TEST(BreaksTest, BesideBusyProgramsTheyAreRare) {
  Runner runner;
  runner.others_us = 3000;
  const std::uint64_t begin = runner.now;
  runner.run(100'000, 10);
  const std::uint64_t lost_us = runner.breaks_taken * runner.others_us;
  EXPECT_GT(runner.breaks_taken, 30u);
  EXPECT_LT(lost_us, (runner.now - begin) / kUs / 8);
}

TEST(BreaksTest, OftenWhereOthersAreDoneSoon) {
  Runner runner;
  runner.others_us = 50;
  runner.run(100'000, 10);
  EXPECT_GT(runner.breaks_taken, 1'000'000 / 600u);
}

TEST(BreaksTest, TheyComeAgainHoweverLongOneWas) {
  Runner runner;
  runner.others_us = 3'600'000'000;
  runner.run(1000, 1000);
  EXPECT_GT(runner.breaks_taken, 8u);
}

TEST(BreaksTest, WhenOthersHaveGoneTheyAreOftenAgain) {
  Runner runner;
  runner.others_us = 10'000;
  runner.run(100, 1000);
  runner.others_us = 0;
  runner.run(100, 1000);
  runner.breaks_taken = 0;
  runner.run(100, 1000);
  EXPECT_EQ(runner.breaks_taken, 100u);
}

}  // namespace
}  // namespace tf::cpu
