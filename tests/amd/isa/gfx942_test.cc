// SPDX-License-Identifier: Apache-2.0
// What gfx942 has beyond gfx90a: floats of 8 bits, products of their matrices and of sparse ones, loads into
// LDS, registers whose indices are computed.
#include <cmath>

#include "tests/amd/isa/float8.h"
#include "tests/amd/isa/half.h"
#include "tests/amd/isa/indexed.h"
#include "tests/amd/isa/instruction_cases.h"
#include "tests/amd/isa/instruction_machine.h"

namespace tf::amd::isa {
namespace gfx942 {
namespace {

constexpr int kA = 8, kB = 16, kK = 24, kD = 32;  // first registers of matrices

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float number(std::uint32_t x) { return std::bit_cast<float>(x); }

class Gfx942 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!known("gfx942")) GTEST_SKIP() << "no clang 19";
  }
  void run(const char* text) { machine.execute(one(text, "gfx942", 64)); }
  // Of v6, with these in v0 and v1.
  std::uint32_t result(const char* text, std::uint32_t first, std::uint32_t second = 0,
                       std::uint32_t before = 0) {
    machine.vectors({first, second, 0, 0, 0, 0, before});
    run(text);
    return machine.registers_[6].lane[63];
  }
  Machine machine{"gfx942", 64};
};

// The number that is nearest to x, by going through all of them; of two, the one whose code is even.
template <class F>
std::uint32_t searched(float x) {
  std::uint32_t best = 0;
  for (std::uint32_t code = 1; code < 0x80; ++code) {
    const float distance = std::abs(F::to_float(code) - std::abs(x));
    const float least = std::abs(F::to_float(best) - std::abs(x));
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return best == 0 ? 0 : best | (x < 0 ? 0x80 : 0);
}

template <class F>
void expect_all_numbers(float most, float least) {
  EXPECT_EQ(F::to_float(0x7f), most);
  EXPECT_EQ(F::to_float(1), least);
  EXPECT_TRUE(std::isnan(F::to_float(0x80)));
  for (std::uint32_t code = 0; code < 256; ++code) {
    if (code == 0x80) continue;
    EXPECT_EQ(F::nearest(F::to_float(code), false), code) << code;
  }
  for (std::uint32_t k = 0; k < 4000; ++k) {
    const float x = (k % 2 == 0 ? 1.0F : -1.0F) * std::exp2(static_cast<float>(k) / 100.0F - 24.0F);
    if (std::abs(x) > most) continue;
    EXPECT_EQ(F::nearest(x, false), searched<F>(x)) << x;
  }
}

TEST(Float8, NumbersAndRounding) {
  expect_all_numbers<Fp8>(240.0F, 0x1p-10F);
  expect_all_numbers<Bf8>(57344.0F, 0x1p-17F);
  EXPECT_EQ(Fp8::nearest(248.0F, false), 0x80U);  // a tie, which rounds to more than the greatest
  EXPECT_EQ(Fp8::nearest(247.0F, false), 0x7fU);
  EXPECT_EQ(Fp8::nearest(-1e9F, true), 0xffU);
  EXPECT_EQ(Fp8::nearest(number(kInf), true), 0x80U);
  EXPECT_EQ(Fp8::nearest(-0x1p-11F, false), 0U);  // a tie to 0, which has no sign
  EXPECT_EQ(Bf8::nearest(number(kQuiet), true), 0x80U);
}

TEST_F(Gfx942, ConversionsOfFloatsOf8Bits) {
  EXPECT_EQ(result("v_cvt_f32_fp8 v6, v0", 0xffffff40), k1);
  EXPECT_EQ(result("v_cvt_f32_fp8_sdwa v6, v0 src0_sel:BYTE_2", 0x00480000), k2);
  EXPECT_EQ(result("v_cvt_f32_bf8 v6, v0", 0xc4), 0xc0000000U);
  EXPECT_EQ(result("v_cvt_pk_f32_fp8 v[6:7], v0", 0x4840), k1);
  EXPECT_EQ(machine.registers_[7].lane[63], k2);
  EXPECT_EQ(result("v_cvt_pk_f32_bf8_sdwa v[6:7], v0 src0_sel:WORD_1", 0x44400000), k1);
  EXPECT_EQ(machine.registers_[7].lane[63], k2);
  EXPECT_EQ(result("v_cvt_pk_fp8_f32 v6, v0, -v1", k1, k2, 0xabcd1234), 0xabcdc840U);
  EXPECT_EQ(result("v_cvt_pk_fp8_f32 v6, v0, v1 op_sel:[0,0,1]", k1, k2, 0xabcd1234), 0x48401234U);
  EXPECT_EQ(result("v_cvt_pk_bf8_f32 v6, v0, v1", k1, kInf, 0xabcd1234), 0xabcd8040U);
  EXPECT_EQ(result("v_cvt_pk_fp8_f32 v6, v0, v1", bits(1e9F), k1), 0x4080U);
  machine.set_mode(kUsualMode | 1U << 23);  // FP16_OVFL
  EXPECT_EQ(result("v_cvt_pk_fp8_f32 v6, v0, v1", bits(1e9F), k1), 0x407fU);
}

// 1 + 1/32 lies a quarter of the way to the next number.
TEST_F(Gfx942, RandomRounding) {
  const std::uint32_t value = bits(1.03125F);
  EXPECT_EQ(result("v_cvt_sr_fp8_f32 v6, v0, v1", value, 0xbfffffff), 0x40U);
  EXPECT_EQ(result("v_cvt_sr_fp8_f32 v6, v0, v1", value, 0xc0000000), 0x41U);
  EXPECT_EQ(result("v_cvt_sr_fp8_f32 v6, v0, v1 op_sel:[0,0,1,0]", value, 0, 0x11223344), 0x11224044U);
  EXPECT_EQ(result("v_cvt_sr_fp8_f32 v6, v0, v1 op_sel:[0,0,0,1]", value, 0, 0x11223344), 0x11403344U);
  EXPECT_EQ(result("v_cvt_sr_bf8_f32 v6, v0, v1 op_sel:[0,0,1,1]", bits(1.0625F), ~0U, 0x11223344),
            0x41223344U);
}

// Small numbers: every sum is exact in each format.
int a_of(int i, int k) { return (i + 3 * k) % 7 - 3; }
int b_of(int k, int j) { return (2 * k + j) % 5 - 2; }
std::uint32_t byte(int x) { return static_cast<std::uint32_t>(x) & 0xff; }
std::uint32_t fp8(int x) { return Fp8::nearest(static_cast<float>(x), false); }
std::uint32_t bf8(int x) { return Bf8::nearest(static_cast<float>(x), false); }
std::uint32_t half(int x) { return float_to_half(static_cast<float>(x)); }
std::uint32_t brain(int x) { return bits(static_cast<float>(x)) >> 16; }
std::uint32_t whole(int x) { return bits(static_cast<float>(x)); }
std::uint32_t integer(int x) { return static_cast<std::uint32_t>(x); }
using Written = std::uint32_t (*)(int);

struct Product {
  std::string name;
  int size, depth;
  int element_bits;
  Written a, b;
  Written sum = whole;
};

// Element k of a lane's row of A or column of B.
void put(Machine& machine, int first, int lane, int k, int element_bits, std::uint32_t value) {
  const int in_word = 32 / element_bits;
  std::uint32_t& word = machine.registers_[static_cast<std::size_t>(first + k / in_word)].lane[lane];
  const int shift = element_bits * (k % in_word);
  const std::uint32_t mask = element_bits == 32 ? ~0U : (1U << element_bits) - 1;
  word = (word & ~(mask << shift)) | value << shift;
}
// D[i][j], as AMD's matrix instruction calculator says.
std::uint32_t got(const Machine& machine, int size, int i, int j) {
  const int at = size == 16 ? i % 4 : 4 * (i / 8) + i % 4;
  const int lane = size == 16 ? 16 * (i / 4) + j : 32 * (i / 4) % 64 + j;
  return machine.registers_[static_cast<std::size_t>(kD + at)].lane[lane];
}
std::string range(int first, int count) {
  return "v[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

// The kinds of floats of 8 bits that A and B can be.
void add_float8(std::vector<Product>& products, const std::string& shape, int size, int depth) {
  products.push_back({shape + "_fp8_fp8", size, depth, 8, fp8, fp8});
  products.push_back({shape + "_fp8_bf8", size, depth, 8, fp8, bf8});
  products.push_back({shape + "_bf8_fp8", size, depth, 8, bf8, fp8});
  products.push_back({shape + "_bf8_bf8", size, depth, 8, bf8, bf8});
}

TEST_F(Gfx942, ProductsOfMatrices) {
  std::vector<Product> products = {
      {"i32_16x16x32_i8", 16, 32, 8, byte, byte, integer},
      {"i32_32x32x16_i8", 32, 16, 8, byte, byte, integer},
      {"f32_16x16x8_xf32", 16, 8, 32, whole, whole},
      {"f32_32x32x4_xf32", 32, 4, 32, whole, whole},
  };
  add_float8(products, "f32_16x16x32", 16, 32);
  add_float8(products, "f32_32x32x16", 32, 16);
  for (const Product& each : products) {
    const int in_lane = 64 / each.element_bits;
    for (int i = 0; i < each.size; ++i) {
      for (int k = 0; k < each.depth; ++k) {
        const int lane = each.size * (k / in_lane) + i;
        put(machine, kA, lane, k % in_lane, each.element_bits, each.a(a_of(i, k)));
        put(machine, kB, lane, k % in_lane, each.element_bits, each.b(b_of(k, i)));
      }
    }
    const std::string d = range(kD, each.size == 16 ? 4 : 16);
    run((std::string("v_mfma_") + each.name + " " + d + ", " + range(kA, 2) + ", " + range(kB, 2) + ", 0")
            .c_str());
    for (int i = 0; i < each.size; ++i) {
      for (int j = 0; j < each.size; ++j) {
        int sum = 0;
        for (int k = 0; k < each.depth; ++k) sum += a_of(i, k) * b_of(k, j);
        ASSERT_EQ(got(machine, each.size, i, j), each.sum(sum)) << each.name << " " << i << " " << j;
      }
    }
  }
}

// Which two of four elements of A's rows are there.
int kept(int i, int k4, int which) {
  constexpr int kPairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  return kPairs[(i + k4) % 6][which];
}

void expect_sparse(Machine& machine, const Product& each, int set, const char* modifiers) {
  const int in_lane = 64 / each.element_bits;  // of A; of B twice as many
  const int depth_of_lane = 2 * in_lane;
  for (int r = 0; r < 16; ++r) {
    for (std::uint32_t& lane : machine.registers_[static_cast<std::size_t>(kD + r)].lane) lane = each.sum(r);
  }
  for (std::uint32_t& lane : machine.registers_[kK].lane) lane = ~0U;
  for (int i = 0; i < each.size; ++i) {
    for (int k = 0; k < each.depth; ++k) {
      const int lane = each.size * (k / depth_of_lane) + i;
      put(machine, kB, lane, k % depth_of_lane, each.element_bits, each.b(b_of(k, i)));
      if (k % 2 != 0) continue;
      const int stored = k % depth_of_lane / 2;
      const int place = kept(i, k / 4, stored % 2);
      put(machine, kA, lane, stored, each.element_bits, each.a(a_of(i, k / 4 * 4 + place)));
      put(machine, kK, lane, set * in_lane + stored, 2, static_cast<std::uint32_t>(place));
    }
  }
  const std::string text = std::string("v_smfmac_") + each.name + " " + range(kD, each.size == 16 ? 4 : 16) +
                           ", " + range(kA, 2) + ", " + range(kB, 4) + ", v" + std::to_string(kK) + modifiers;
  machine.execute(one(text.c_str(), "gfx942", 64));
  for (int i = 0; i < each.size; ++i) {
    for (int j = 0; j < each.size; ++j) {
      int sum = each.size == 16 ? i % 4 : 4 * (i / 8) + i % 4;
      for (int k4 = 0; k4 < each.depth / 4; ++k4) {
        for (const int which : {0, 1}) {
          const int k = 4 * k4 + kept(i, k4, which);
          sum += a_of(i, k) * b_of(k, j);
        }
      }
      ASSERT_EQ(got(machine, each.size, i, j), each.sum(sum)) << text << " " << i << " " << j;
    }
  }
}

TEST_F(Gfx942, ProductsOfSparseMatrices) {
  std::vector<Product> products = {
      {"f32_16x16x32_f16", 16, 32, 16, half, half},
      {"f32_32x32x16_f16", 32, 16, 16, half, half},
      {"f32_16x16x32_bf16", 16, 32, 16, brain, brain},
      {"f32_32x32x16_bf16", 32, 16, 16, brain, brain},
      {"i32_16x16x64_i8", 16, 64, 8, byte, byte, integer},
      {"i32_32x32x32_i8", 32, 32, 8, byte, byte, integer},
  };
  add_float8(products, "f32_16x16x64", 16, 64);
  add_float8(products, "f32_32x32x32", 32, 32);
  for (const Product& each : products) {
    expect_sparse(machine, each, 0, "");
    expect_sparse(machine, each, 1, " abid:1");
    expect_sparse(machine, each, 0, " cbsz:1 abid:1");  // the first ones, whatever abid says
  }
  expect_sparse(machine, products[0], 3, " abid:3");
  EXPECT_THROW(run("v_smfmac_i32_16x16x64_i8 v[32:35], v[8:9], v[16:19], v24 abid:2"), Stop);
}

TEST_F(Gfx942, FloatsOf19Bits) {
  for (Row& row : machine.registers_) row = Row{};
  machine.registers_[kA].lane[0] = 0x3f801000;      // a tie: to even, 1
  machine.registers_[kA].lane[1] = 0x3f803000;      // a tie: to even, 1 + 2/1024
  machine.registers_[kA + 1].lane[2] = 0x3f801001;  // 1 + 1/1024
  for (int k = 0; k < 2; ++k) machine.registers_[static_cast<std::size_t>(kB + k)].lane[5] = k1;
  run("v_mfma_f32_16x16x8_xf32 v[32:35], v[8:9], v[16:17], 0");
  EXPECT_EQ(got(machine, 16, 0, 5), k1);
  EXPECT_EQ(got(machine, 16, 1, 5), 0x3f804000U);
  EXPECT_EQ(got(machine, 16, 2, 5), 0x3f802000U);
}

// Lane l of B holds l: which lane each got.
TEST_F(Gfx942, PatternsOfLanes) {
  const auto column = [&](const std::string& modifiers, int block, int j) {
    for (int lane = 0; lane < kLanes; ++lane) {
      machine.registers_[0].lane[lane] = bits(static_cast<float>(1 + lane / 4));
      machine.registers_[1].lane[lane] = bits(static_cast<float>(lane));
    }
    run(("v_mfma_f32_4x4x1_16b_f32 v[8:11], v0, v1, 0" + modifiers).c_str());
    return number(machine.registers_[8].lane[4 * block + j]) / static_cast<float>(1 + block);
  };
  EXPECT_EQ(column("", 9, 2), 38.0F);
  EXPECT_EQ(column(" blgp:1", 9, 2), 6.0F);
  EXPECT_EQ(column(" blgp:2", 1, 2), 38.0F);
  EXPECT_EQ(column(" blgp:3", 0, 1), 17.0F);
  EXPECT_EQ(column(" blgp:3", 15, 3), 15.0F);
  EXPECT_EQ(column(" blgp:4", 15, 3), 15.0F);
  EXPECT_EQ(column(" blgp:6", 0, 1), 33.0F);
  EXPECT_EQ(column(" cbsz:2 abid:1", 3, 1) * 4 / 13, 2.0F);  // A of block 1 in place of block 3
  EXPECT_THROW(run("v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 0 blgp:1"), Stop);
  EXPECT_THROW(run("v_mfma_f32_16x16x4_f32 v[8:11], v0, v1, 0 cbsz:1"), Stop);
}

TEST_F(Gfx942, ProductsOfDoublesThatAreNegated) {
  for (Row& row : machine.registers_) row = Row{};
  machine.registers_[1].lane[0] = 0x40000000;  // 2
  machine.registers_[3].lane[0] = 0x40080000;  // 3
  machine.registers_[9].lane[0] = 0x3ff00000;  // 1
  run("v_mfma_f64_16x16x4_f64 v[16:23], v[0:1], v[2:3], v[8:15] neg:[1,0,0]");
  EXPECT_EQ(machine.registers_[17].lane[0], 0xc0140000U);  // -5
  run("v_mfma_f64_16x16x4_f64 v[16:23], v[0:1], v[2:3], v[8:15] neg:[1,1,1]");
  EXPECT_EQ(machine.registers_[17].lane[0], 0x40140000U);
}

TEST_F(Gfx942, LoadsIntoLocalMemory) {
  const auto address = reinterpret_cast<std::uint64_t>(machine.data_.data());
  for (std::uint32_t i = 0; i < 256; ++i) machine.data_[i] = 1000 + i;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t at = address + std::uint64_t{8} * lane;
    machine.registers_[2].lane[lane] = static_cast<std::uint32_t>(at);
    machine.registers_[3].lane[lane] = static_cast<std::uint32_t>(at >> 32);
    machine.registers_[4].lane[lane] = 4 * lane;
    machine.registers_[5].lane[lane] = 8 * lane;
  }
  machine.wave_.s[kM0] = 512;
  machine.wave_.set_pair(kExecLo, ~std::uint64_t{2});
  const auto local = [&](int lane, std::uint32_t from) {
    machine.vectors({from + 4 * static_cast<std::uint32_t>(lane)});
    run("ds_read_b32 v6, v0");
    return machine.registers_[6].lane[0];
  };
  run("global_load_lds_dword v[2:3], off offset:4");
  EXPECT_EQ(local(0, 516), 1001U);
  EXPECT_EQ(local(1, 516), 0U);  // takes no part
  EXPECT_EQ(local(9, 516), 1019U);
  run("global_load_lds_ubyte v[2:3], off");
  EXPECT_EQ(local(9, 512), 1018U & 0xff);
  machine.wave_.set_pair(4, address);
  machine.wave_.s[6] = 256;  // bytes: the other lanes get 0
  machine.wave_.s[7] = 0;
  run("buffer_load_dword v5, s[4:7], 0 offen lds");
  EXPECT_EQ(local(9, 512), 1018U);
  EXPECT_EQ(local(40, 512), 0U);
}

TEST_F(Gfx942, RegistersWhoseIndicesAreComputed) {
  for (std::uint32_t i = 0; i < 64; ++i) machine.registers_[i].lane[5] = 100 + i;
  machine.wave_.s[3] = 0xff07;
  const auto indexed = [&](const char* text) {
    const Instruction moved =
        with_indices(machine.wave_, Machine::code_of("gfx942", 64).decode_written(text));
    moved.handler(machine.wave_, moved);
  };
  run("s_set_gpr_idx_on s3, gpr_idx(SRC0)");
  EXPECT_TRUE(indexes_registers(machine.wave_));
  indexed("v_add_u32_e32 v40, v1, v2");
  EXPECT_EQ(machine.registers_[40].lane[5], 108U + 102U);
  run("s_set_gpr_idx_mode gpr_idx(SRC1,DST)");
  indexed("v_sub_u32_e32 v40, v1, v2");
  EXPECT_EQ(machine.registers_[47].lane[5], 0U - 8U);
  run("s_set_gpr_idx_idx 0");
  indexed("v_mov_b32_e32 v41, v9");
  EXPECT_EQ(machine.registers_[41].lane[5], 109U);
  EXPECT_THROW(indexed("v_readlane_b32 s0, v1, 2"), Stop);
  run("s_set_gpr_idx_off");
  EXPECT_FALSE(indexes_registers(machine.wave_));
}

}  // namespace
}  // namespace gfx942
}  // namespace tf::amd::isa
