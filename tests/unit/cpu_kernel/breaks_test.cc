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
  unsigned looks = 0;
  unsigned breaks_taken = 0;

  void run(std::uint64_t blocks, std::uint64_t block_us) {
    breaks.come_to(blocks);
    for (std::uint64_t block = 0; block < blocks; ++block) {
      if (breaks.looks()) {
        ++looks;
        if (breaks.is_due(now)) {
          ++breaks_taken;
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

}  // namespace
}  // namespace tf::cpu
