// SPDX-License-Identifier: Apache-2.0
// The headers of ours that stand before HIP 5's: bfloat16, what tiles know of their parent, wave functions
// with masks, atomics of pairs.
#include "tests/unit/cpu_kernel/kernel_fixture.h"

#include <bit>
#include <cmath>
#include <limits>

namespace tf::cpu {
namespace {

class Headers : public KernelTest {
 protected:
  std::string file() const override { return "headers.co"; }
};

float widen(std::uint32_t upper) { return std::bit_cast<float>(upper << 16); }

// The nearer of the two neighbours; of two as near the one whose last bit is zero.
std::uint32_t nearest(float value) {
  const std::uint32_t down = std::bit_cast<std::uint32_t>(value) >> 16;
  const double low = widen(down), exact = value;
  // Behind the largest comes what would be the next power of two.
  double high = widen(down + 1);
  if (std::isinf(high)) high = std::copysign(std::ldexp(1.0, 128), exact);
  const double to_low = std::fabs(exact - low), to_high = std::fabs(high - exact);
  if (to_low != to_high) return to_low < to_high ? down : down + 1;
  return down % 2 == 0 ? down : down + 1;
}

TEST_F(Headers, AProgramsOwnHalfFunctionsAreTaken) {
  float out[4 * 64] = {};
  ASSERT_EQ(hipSuccess, run("own_half_functions", line(1, 64), &out[0]));
  for (int lane = 0; lane < 64; ++lane) {
    const float* const own = out + 4 * lane;
    EXPECT_EQ(static_cast<float>(lane ^ 1), own[0]);
    EXPECT_EQ(100.0f, own[1]);
    EXPECT_EQ(7.0f, own[2]);
    EXPECT_EQ(5.0f, own[3]);
  }
}

TEST_F(Headers, AtomicsOfDoublesCountEveryThread) {
  double d[6] = {0, 0, 0, 0, 1000, 1000};
  ASSERT_EQ(hipSuccess, run("float_atomics", line(64, 128), &d[0]));
  for (const int which : {0, 1}) EXPECT_EQ(64 * 128 * 0.5, d[which]);
  for (const int which : {2, 3}) EXPECT_EQ(127.0, d[which]);
  for (const int which : {4, 5}) EXPECT_EQ(0.0, d[which]);
}

TEST_F(Headers, Bfloat16RoundsToNearestEven) {
  std::vector<float> in = {0.0f, -0.0f, 1.0f, -2.5f, 1e-40f, 3.0e38f, std::numeric_limits<float>::max()};
  for (std::uint32_t i = 0; in.size() < 1024; ++i) {  // every exponent, and halves of the last place
    const std::uint32_t bits = i * 2654435761u;
    const float value = std::bit_cast<float>(i % 3 == 0 ? (bits & 0xffff0000u) | 0x8000u : bits);
    if (std::isfinite(value)) in.push_back(value);
  }
  std::vector<unsigned short> out(in.size());
  std::vector<float> back(in.size());
  const float* source = in.data();
  ASSERT_EQ(hipSuccess, run("bfloat16_round", line(1, 1024), source, out.data(), back.data()));
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(nearest(in[i]), out[i]) << in[i];
    EXPECT_EQ(widen(out[i]), back[i]) << in[i];
  }
  const float special[3] = {std::numeric_limits<float>::infinity(), std::bit_cast<float>(0x7f800001u),
                            -std::numeric_limits<float>::infinity()};
  const float* specials = special;
  ASSERT_EQ(hipSuccess, run("bfloat16_round", line(1, 3), specials, out.data(), back.data()));
  EXPECT_EQ(0x7f80, out[0]);
  EXPECT_TRUE(std::isnan(back[1]));
  EXPECT_EQ(0xff80, out[2]);
}

TEST_F(Headers, Bfloat16Computes) {
  const unsigned short in[2] = {0x3fc0, 0x4080};  // 1.5 and 4
  const unsigned short* source = in;
  std::vector<float> out(14);
  ASSERT_EQ(hipSuccess, run("bfloat16_math", line(1, 1), source, out.data()));
  const std::vector<float> expected = {5.5f,  -2.5f, 6.0f, 0.375f, 7.5f, 5.5f, 6.0f,
                                       16.0f, -1.5f, 1.5f, 4.0f,   2.0f, 1.0f, 1.0f};
  EXPECT_EQ(expected, out);
}

TEST_F(Headers, TilesKnowTheirPlace) {
  constexpr unsigned kThreads = 80;
  std::vector<unsigned> out(4 * kThreads);
  ASSERT_EQ(hipSuccess, run("meta_groups", line(1, kThreads), out.data()));
  for (unsigned t = 0; t < kThreads; ++t) {
    EXPECT_EQ(500 + t / 16, out[t]) << t;
    EXPECT_EQ(400 + t % 16 / 4, out[kThreads + t]) << t;
    EXPECT_EQ(500 + t / 16, out[2 * kThreads + t]) << t;
    EXPECT_EQ(2 * (t / 16 * 16 + 3) + t % 16 + 8, out[3 * kThreads + t]) << t;
  }
}

TEST_F(Headers, AtomicsOfPairsCountEveryThread) {
  std::uint32_t halves = 0, bfloats = 0;
  ASSERT_EQ(hipSuccess, run("pair_atomics", line(4, 32), &halves, &bfloats));
  EXPECT_EQ(0x58005400u, halves);  // 64 and 128: all sums up to there are exact
  EXPECT_EQ(0x43004280u, bfloats);
}

// All lanes; the lower half; some, the first not among them.
constexpr std::uint64_t kMasks[] = {~std::uint64_t{0}, 0xffffffffu, 0x00ff00ff00ff0ff0u};

template <typename Test>
void for_each_lane(std::uint64_t mask, Test test) {
  for (unsigned lane = 0; lane < 64; ++lane)
    if ((mask >> lane & 1) != 0) test(lane);
}

TEST_F(Headers, VotesWithMasks) {
  constexpr unsigned kValues = 9;
  for (const std::uint64_t mask : kMasks) {
    std::vector<std::uint64_t> out(64 * kValues);
    std::uint64_t odd = 0, same[3] = {0, 0, 0};
    for_each_lane(mask, [&](unsigned lane) {
      const std::uint64_t bit = std::uint64_t{1} << lane;
      if (lane % 2 != 0) odd |= bit;
      same[lane % 3] |= bit;
    });
    const bool is_low = (mask >> 40) == 0, is_mixed = (mask & 3) != 0;
    ASSERT_EQ(hipSuccess, run("wave_votes", line(1, 64), mask, out.data()));
    for_each_lane(mask, [&](unsigned lane) {
      const std::uint64_t expected[kValues] = {
          mask, odd, mask >> 5 & 1,       is_low ? 1u : 0u,  same[lane % 3],
          mask, 1,   is_mixed ? 0 : mask, is_mixed ? 0u : 1u};
      for (unsigned i = 0; i < kValues; ++i)
        EXPECT_EQ(expected[i], out[lane * kValues + i]) << std::hex << mask << " lane " << lane << " " << i;
    });
  }
}

TEST_F(Headers, ExchangesWithMasks) {
  constexpr unsigned kValues = 12;
  for (const std::uint64_t mask : {kMasks[0], kMasks[1]}) {
    const int lanes = std::popcount(mask);
    std::vector<int> out(64 * kValues);
    ASSERT_EQ(hipSuccess, run("wave_exchanges", line(1, 64), mask, out.data()));
    for_each_lane(mask, [&](unsigned unsigned_lane) {
      const int lane = static_cast<int>(unsigned_lane);
      const std::vector<int> got(out.begin() + lane * kValues, out.begin() + (lane + 1) * kValues);
      // A lane beyond the wave gives the own value; one that does not take part gives what nobody may use.
      const int down = lane + 2 < lanes ? lane + 2 : lanes == 64 ? lane : got[2];
      const std::vector<int> expected = {3,
                                         lane < 2 ? lane : lane - 2,
                                         down,
                                         lane ^ 1,
                                         lane / 8 * 8 + 1,
                                         lanes * (lanes - 1) / 2,
                                         51 - lanes,
                                         lanes - 1,
                                         64,
                                         lanes - 1,
                                         0,
                                         100 + (lane ^ 1)};
      EXPECT_EQ(expected, got) << std::hex << mask << " lane " << std::dec << lane;
    });
  }
}

}  // namespace
}  // namespace tf::cpu
