// SPDX-License-Identifier: Apache-2.0
// Lanes of a wave see each other's memory where they say that they exchange, and nobody waits for ever.
#include "tests/unit/cpu_kernel/kernel_fixture.h"
#include "worker/runtime/cpu/kernel/module.h"

#include <numeric>

namespace tf::cpu {
namespace {

class Waves : public KernelTest {
 protected:
  std::string file() const override { return "waves.co"; }

  static std::vector<unsigned> counting(std::size_t count) {
    std::vector<unsigned> values(count);
    std::iota(values.begin(), values.end(), 0u);
    return values;
  }
};

TEST_F(Waves, TilesSynchronize) {
  constexpr std::uint32_t kThreads = 144;  // two waves and a part
  const auto in = counting(kThreads);
  std::vector<unsigned> out(kThreads / 16);
  const unsigned* source = in.data();
  ASSERT_EQ(hipSuccess, run("tile_sums", line(1, kThreads), source, out.data()));
  for (unsigned tile = 0; tile < out.size(); ++tile) {
    const unsigned once = 16 * 16 * tile + 120;
    EXPECT_EQ(tile % 2 == 0 ? once : 2 * once + 16, out[tile]) << tile;
  }
  std::vector<unsigned> reversed(kThreads);
  ASSERT_EQ(hipSuccess, run("group_reverse", line(1, kThreads), reversed.data()));
  for (unsigned i = 0; i < kThreads; ++i) EXPECT_EQ(i ^ 7, reversed[i]);
}

TEST_F(Waves, VolatileAccessesAreInStep) {
  const auto in = counting(128);
  const unsigned* source = in.data();
  unsigned sum = 0;
  ASSERT_EQ(hipSuccess, run("volatile_sum", line(1, 128), source, &sum));
  EXPECT_EQ(127u * 64, sum);
  std::vector<unsigned> out(64), expected = counting(64);
  ASSERT_EQ(hipSuccess, run("volatile_shift", line(1, 64), out.data()));
  for (int turn = 0; turn < 3; ++turn) {
    const auto last = expected;
    for (unsigned i = 0; i < 64; ++i) expected[i] = last[(i + 1) % 64] + last[(i + 63) % 64];
  }
  EXPECT_EQ(expected, out);
}

TEST_F(Waves, FencesAreInStep) {
  constexpr unsigned kThreads = 128;
  std::vector<unsigned> out(3 * kThreads);
  ASSERT_EQ(hipSuccess, run("fences", line(1, kThreads, kThreads * sizeof(unsigned)), out.data()));
  for (unsigned i = 0; i < out.size(); ++i) EXPECT_EQ((i / kThreads + 1) * (i % kThreads ^ 63), out[i]) << i;
}

TEST_F(Waves, LanesThatAreGoneOrWaitElsewhereHoldNobodyUp) {
  constexpr unsigned kThreads = 256;
  std::vector<unsigned> out(kThreads, 7777);
  ASSERT_EQ(hipSuccess, run("some_are_gone", line(1, kThreads), out.data()));
  for (unsigned t = 0; t < kThreads; ++t) {
    const unsigned place = t % 8, first = t - place;
    const unsigned later = place == 7 ? 7777 : first + ((place ^ 4) ^ 3) + 1;
    EXPECT_EQ(place < 4 ? (t ^ 1 ^ 3) + 1 : later, out[t]) << t;
  }
}

TEST_F(Waves, ALoopThatWaitsForOthersEnds) {
  for (const unsigned setter : {1u, 63u, 64u, 1023u}) {
    unsigned out = 0;
    ASSERT_EQ(hipSuccess, run("spins", line(1, 1024), &out, setter));
    EXPECT_EQ(setter, out);
  }
}

TEST_F(Waves, ALoopThatWaitsByAtomicOperationsEnds) {
  for (const unsigned setter : {1u, 63u, 64u, 1023u}) {
    for (unsigned way = 0; way < 3; ++way) {
      unsigned out = 0;
      ASSERT_EQ(hipSuccess, run("spins_on_atomics", line(1, 1024), &out, setter, way));
      EXPECT_EQ(setter, out) << way;
    }
  }
}

TEST_F(Waves, ALoopThatWaitsEndsWithoutSharedMemory) {
  constexpr unsigned kBlocks = 5;
  const auto& record = *static_cast<const KernelRecord*>(code_->find("spins_without_shared")->owner);
  EXPECT_TRUE(record.spins);
  EXPECT_FALSE(record.parks);
  for (const Grid& shape : {Grid{{kBlocks, 1, 1}, {2, 1, 1}}, Grid{{kBlocks, 1, 1}, {1024, 1, 1}},
                            Grid{{kBlocks, 1, 1}, {7, 5, 3}}}) {
    for (unsigned way = 0; way < 4; ++way) {
      const unsigned threads = shape.threads[0] * shape.threads[1] * shape.threads[2];
      std::vector<unsigned> counts(std::size_t{2} * kBlocks * threads);
      ASSERT_EQ(hipSuccess, run("spins_without_shared", shape, counts.data(), way));
      EXPECT_EQ(std::vector<unsigned>(counts.size(), 1), counts) << threads << ' ' << way;
    }
  }
}

TEST_F(Waves, ManyOperationsThatDoNotWaitAreAllMade) {
  constexpr unsigned kThreads = 70, kTimes = 100000;
  unsigned sum = 0;
  ASSERT_EQ(hipSuccess, run("adds_without_shared", line(3, kThreads), &sum, kTimes));
  EXPECT_EQ(3 * kTimes * (kThreads * (kThreads + 1) / 2), sum);
}

TEST_F(Waves, CoalescedGroupsHoldTheLanesThatAreThere) {
  constexpr unsigned kThreads = 64, kSize = 22;
  std::vector<unsigned> out(kThreads);
  ASSERT_EQ(hipSuccess, run("coalesced", line(1, kThreads), out.data()));
  for (unsigned t = 0; t < kThreads; ++t)
    EXPECT_EQ(t % 3 != 0 ? 0 : 10000 * kSize + 100 * (t / 3) + 3 * (kSize - 1 - t / 3), out[t]) << t;
}

// The compiler would like to make one call of two that are the same on both paths.
TEST_F(Waves, PathsThatDoTheSameDoItApart) {
  constexpr unsigned kThreads = 64;
  std::vector<unsigned> in(kThreads), sizes(kThreads);
  std::vector<unsigned long long> found(kThreads);
  for (unsigned t = 0; t < kThreads; ++t) in[t] = t % 4 < 2 ? 10 : 20;
  const unsigned* const from = in.data();
  ASSERT_EQ(hipSuccess, run("coalesced_on_both_paths", line(1, kThreads), from, sizes.data(), found.data()));
  for (unsigned t = 0; t < kThreads; ++t) {
    EXPECT_EQ(kThreads / 2, sizes[t]) << t;
    EXPECT_EQ(t % 2 == 0 ? 0x1111111111111111u : 0x2222222222222222u, found[t]) << t;
  }
}

TEST_F(Waves, WithoutSharedMemoryKernelsStayLoops) {
  const Kernel* kernel = code_->find("fenced_global");
  ASSERT_NE(nullptr, kernel);
  EXPECT_FALSE(static_cast<const KernelRecord*>(kernel->owner)->parks);
  EXPECT_FALSE(static_cast<const KernelRecord*>(kernel->owner)->spins);
  EXPECT_TRUE(static_cast<const KernelRecord*>(code_->find("fences")->owner)->parks);
  std::vector<unsigned> out(128);
  ASSERT_EQ(hipSuccess, run("fenced_global", line(1, 128), out.data()));
  for (unsigned i = 0; i < out.size(); ++i) EXPECT_EQ(i + 1, out[i]);
}

}  // namespace
}  // namespace tf::cpu
