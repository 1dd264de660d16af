// SPDX-License-Identifier: Apache-2.0
// Products of matrices of gfx1100 (WMMA): each row of the table on matrices whose elements all differ in both
// directions, and the forms that are refused.
#include <bit>
#include <functional>

#include "tests/amd/isa/half.h"
#include "tests/amd/isa/instruction_machine.h"

namespace tf::amd::isa {
namespace {

constexpr int kSize = 16;
constexpr int kA = 8, kB = 16, kD = 24, kC = 40;  // first registers

// Small numbers: every sum is exact in each format.
int a_of(int i, int k) { return (i + 3 * k) % 7 - 3; }
int b_of(int k, int j) { return (2 * k + j) % 5 - 2; }
int c_of(int i, int j) { return i - j; }
int product(int i, int j) {
  int sum = c_of(i, j);
  for (int k = 0; k < kSize; ++k) sum += a_of(i, k) * b_of(k, j);
  return sum;
}

std::uint32_t half(int x) { return float_to_half(static_cast<float>(x)); }
std::uint32_t whole(int x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }
std::uint32_t brain(int x) { return whole(x) >> 16; }
std::uint32_t integer(int x) { return static_cast<std::uint32_t>(x); }

struct Product {
  const char* name;
  int bits;                      // of a factor
  std::uint32_t (*factor)(int);  // in its lowest bits
  int result_bits;
  std::uint32_t (*result)(int);
  const char* modifiers = "";
};
constexpr Product kProducts[] = {
    {"f32_16x16x16_f16", 16, half, 32, whole},
    {"f32_16x16x16_bf16", 16, brain, 32, whole},
    {"f16_16x16x16_f16", 16, half, 16, half},
    {"bf16_16x16x16_bf16", 16, brain, 16, brain},
    {"i32_16x16x16_iu8", 8, integer, 32, integer, " neg_lo:[1,1,0]"},
    {"i32_16x16x16_iu4", 4, integer, 32, integer, " neg_lo:[1,1,0]"},
};

std::string range(int first, int count) {
  return "v[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}
std::string text_of(const Product& each, int lanes, const std::string& c, const std::string& more) {
  const int words = kSize * each.bits / 32;
  return std::string("v_wmma_") + each.name + " " + range(kD, kSize * kSize / lanes) + ", " +
         range(kA, words) + ", " + range(kB, words) + ", " + c + each.modifiers + more;
}

// Rows of A and columns of B, in the first 16 lanes and in copies.
void fill_factors(Machine& machine, const Product& each, int lanes) {
  const int in_word = 32 / each.bits;
  const std::uint32_t mask = (std::uint32_t{1} << each.bits) - 1;
  for (int lane = 0; lane < lanes; ++lane) {
    for (int k = 0; k < kSize; ++k) {
      std::uint32_t& a = machine.registers_[kA + k / in_word].lane[lane];
      std::uint32_t& b = machine.registers_[kB + k / in_word].lane[lane];
      if (k % in_word == 0) a = b = 0;
      a |= (each.factor(a_of(lane % kSize, k)) & mask) << (each.bits * (k % in_word));
      b |= (each.factor(b_of(k, lane % kSize)) & mask) << (each.bits * (k % in_word));
    }
  }
}

void expect_product(const Product& each, int lanes, bool high) {
  constexpr std::uint32_t kOther = 0xabcd;  // the half that stays
  Machine machine("gfx1100", lanes);
  fill_factors(machine, each, lanes);
  const bool halves = each.result_bits == 16;
  const auto placed = [&](int x) {
    if (!halves) return each.result(x);
    return high ? each.result(x) << 16 | kOther : each.result(x) | kOther << 16;
  };
  const auto all = [&](const std::function<void(int r, int lane, int i, int j)>& one) {
    for (int r = 0; r < kSize * kSize / lanes; ++r) {
      for (int lane = 0; lane < lanes; ++lane) one(r, lane, r * (lanes / kSize) + lane / kSize, lane % kSize);
    }
  };
  all([&](int r, int lane, int i, int j) {
    machine.registers_[kC + r].lane[lane] = placed(c_of(i, j));
    machine.registers_[kD + r].lane[lane] = kOther * 0x10001;
  });
  const std::string text =
      text_of(each, lanes, range(kC, kSize * kSize / lanes), high ? " op_sel:[0,0,1]" : "");
  machine.execute(one(text.c_str(), "gfx1100", lanes));
  all([&](int r, int lane, int i, int j) {
    EXPECT_EQ(machine.registers_[kD + r].lane[lane], placed(product(i, j))) << text << " " << i << " " << j;
  });
}

TEST(Wmma, ProductsOfEachRow) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  for (const int lanes : {32, 64}) {
    for (const Product& each : kProducts) {
      expect_product(each, lanes, false);
      if (each.result_bits == 16) expect_product(each, lanes, true);
    }
  }
}

TEST(Wmma, FactorsWithoutASign) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx1100", 32);
  machine.registers_[8].lane[3] = 0x000000ff;   // A[3][0] = -1, or 255
  machine.registers_[16].lane[5] = 0x00000002;  // B[0][5] = 2
  const auto code = [](const char* text) { return one(text, "gfx1100", 32); };
  machine.execute(code("v_wmma_i32_16x16x16_iu8 v[24:31], v[8:11], v[16:19], 1 neg_lo:[1,0,0]"));
  EXPECT_EQ(machine.registers_[25].lane[21], 0xffffffffU);  // row 3, column 5
  EXPECT_EQ(machine.registers_[25].lane[20], 1U);
  machine.execute(code("v_wmma_i32_16x16x16_iu8 v[24:31], v[8:11], v[16:19], 1"));
  EXPECT_EQ(machine.registers_[25].lane[21], 511U);
}

TEST(Wmma, ConstantSums) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  for (const Product& each : kProducts) {
    Machine machine("gfx1100", 32);
    machine.execute_text(text_of(each, 32, "0", ""));
    EXPECT_EQ(machine.registers_[kD].lane[0], 0U) << each.name;
    if (each.result_bits == 32) {
      machine.execute_text(text_of(each, 32, "1.0", ""));
      EXPECT_EQ(machine.registers_[kD].lane[0], whole(1)) << each.name;
    } else {
      EXPECT_THROW(machine.execute_text(text_of(each, 32, "1.0", "")), Stop) << each.name;
    }
  }
}

TEST(Wmma, FormsThatAreRefused) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  const char* cases[] = {
      "v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[40:47] op_sel:[1,0,0]",
      "v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[40:47] op_sel:[0,0,1]",
      "v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[40:47] op_sel_hi:[0,1,1]",
      "v_wmma_f16_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[40:47] op_sel:[0,1,0]",
      "v_wmma_f16_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[40:47] neg_lo:[0,0,1]",
      "v_wmma_i32_16x16x16_iu8 v[24:31], v[8:11], v[16:19], v[40:47] neg_lo:[0,0,1]",
      "v_wmma_i32_16x16x16_iu8 v[24:31], v[8:11], v[16:19], v[40:47] neg_hi:[1,0,0]",
      "v_wmma_i32_16x16x16_iu4 v[24:31], v[8:9], v[16:17], v[40:47] op_sel:[0,0,1]",
      "v_wmma_f32_16x16x16_f16 v[24:31], s[8:15], v[16:23], v[40:47]",
      "v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], 1.0, v[40:47]",
      "v_wmma_f32_16x16x16_f16 v[24:31], -v[8:15], v[16:23], v[40:47]",
      "v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], s[40:47]",
  };
  for (const char* text : cases) {
    Machine machine("gfx1100", 32);
    EXPECT_THROW(machine.execute_text(text), Stop) << text;
  }
  Machine machine("gfx1100", 32);  // as an assembler's defaults may be written
  machine.execute_text("v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], v[40:47] op_sel_hi:[1,1,1]");
}

}  // namespace
}  // namespace tf::amd::isa
