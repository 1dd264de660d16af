// SPDX-License-Identifier: Apache-2.0
// Single instructions of gfx90a, and of all processors against expected bits.
#include "tests/amd/isa/instruction_cases.h"
#include "tests/amd/isa/instruction_machine.h"

namespace tf::amd::isa {
namespace {

class Instructions : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(Machine::code_of("gfx90a", 64).problem(), ""); }
};

// Inputs in v0 to v5 (of VALU) or s0 to s5 (of SALU); results in v6, v7 or s6, s7.
void expect_bits(std::vector<Case> cases, const char* processor, int lanes) {
  std::erase_if(cases, [&](const Case& each) { return each.lanes != 0 && each.lanes != lanes; });
  std::vector<std::string> lines;
  for (const Case& each : cases) lines.emplace_back(each.text);
  const auto code = assemble(lines, processor, lanes);
  ASSERT_EQ(code.size(), lines.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    const Case& each = cases[i];
    Machine machine(processor, lanes);
    machine.set_mode(each.mode);
    machine.vectors(each.in);
    for (std::size_t k = 0; k < each.in.size(); ++k) machine.wave_.s[k] = each.in[k];
    try {
      machine.execute(code[i]);
    } catch (const Stop& stop) {
      ADD_FAILURE() << each.text << ": " << stop.text;
      continue;
    }
    for (std::size_t k = 0; k < each.out.size(); ++k) {
      const bool scalar = each.text[0] == 's';
      const std::uint32_t got = scalar ? machine.wave_.s[6 + k] : machine.registers_[6 + k].lane[lanes - 1];
      char text[200];
      std::snprintf(text, sizeof text, "%s: 0x%08x, expected 0x%08x (word %zu)", each.text, got, each.out[k],
                    k);
      EXPECT_EQ(got, each.out[k]) << text;
      if (!scalar) {
        EXPECT_EQ(machine.registers_[6 + k].lane[0], got) << text;
      }
    }
    if (each.scc >= 0) {
      EXPECT_EQ(machine.wave_.scc, each.scc == 1) << each.text;
    }
  }
}

TEST_F(Instructions, GiveTheExpectedBits) { expect_bits(kCases, "gfx90a", 64); }

TEST_F(Instructions, OfGfx940GiveTheExpectedBits) {
  if (!known("gfx940")) GTEST_SKIP() << "no clang 15";
  expect_bits(kGfx940Cases, "gfx940", 64);
}

TEST_F(Instructions, OfGfx1100GiveTheExpectedBits) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  expect_bits(kGfx1100Cases, "gfx1100", 32);
  expect_bits(kGfx1100Cases, "gfx1100", 64);
}

TEST_F(Instructions, LanesThatTakeNoPartStayAsTheyWere) {
  Machine machine;
  machine.vectors({5, 7, 0, 0, 0, 0, 99});
  machine.wave_.set_pair(kExecLo, 0xf0);
  machine.execute(one("v_add_u32 v6, v0, v1"));
  for (int i = 0; i < kLanes; ++i) EXPECT_EQ(machine.registers_[6].lane[i], i >= 4 && i < 8 ? 12U : 99U) << i;
}

TEST_F(Instructions, ComparisonsGiveABitOfEachLane) {
  Machine machine;
  for (std::uint32_t i = 0; i < kLanes; ++i) machine.registers_[0].lane[i] = i;
  machine.wave_.set_pair(kExecLo, 0xffffffff00ffffff);
  machine.execute(one("v_cmp_gt_u32 vcc, 30, v0"));
  EXPECT_EQ(machine.wave_.pair(kVccLo), 0x00ffffffU);
  machine.execute(one("v_cmpx_lt_u32 vcc, 40, v0"));
  EXPECT_EQ(machine.wave_.exec(), 0xfffffe0000000000U);
}

TEST_F(Instructions, CarriesGoFromLaneToLanesBit) {
  Machine machine;
  machine.vectors({0xffffffff, 1});
  machine.registers_[0].lane[5] = 3;
  machine.execute(one("v_add_co_u32 v6, vcc, v0, v1"));
  EXPECT_EQ(machine.wave_.pair(kVccLo), ~std::uint64_t{0x20});
  machine.execute(one("v_addc_co_u32 v7, vcc, v1, v1, vcc"));
  EXPECT_EQ(machine.registers_[7].lane[4], 3U);
  EXPECT_EQ(machine.registers_[7].lane[5], 2U);
}

// Lanes that DPP switches off give no carry, as those that EXEC does.
TEST_F(Instructions, CarriesOfLanesThatDataParallelSwitchesOff) {
  Machine machine;
  machine.vectors({0xffffffff, 1});
  machine.wave_.set_pair(kVccLo, ~std::uint64_t{0});
  machine.execute(one("v_add_co_u32_dpp v6, vcc, v0, v1 row_shr:1 row_mask:0x2 bank_mask:0xf"));
  EXPECT_EQ(machine.wave_.pair(kVccLo), 0xfffe0000U);
}

TEST_F(Instructions, DataParallelSources) {
  struct Dpp {
    const char* text;
    int lane;
    std::uint32_t expected;  // of sources 100 + lane; 7: not written
  };
  const Dpp cases[] = {
      {"v_mov_b32_dpp v6, v0 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf", 8, 111},
      {"v_mov_b32_dpp v6, v0 row_shr:1 row_mask:0xf bank_mask:0xf", 17, 116},
      {"v_mov_b32_dpp v6, v0 row_shr:1 row_mask:0xf bank_mask:0xf", 16, 7},
      {"v_mov_b32_dpp v6, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0", 16, 0},
      {"v_mov_b32_dpp v6, v0 row_shl:2 row_mask:0xf bank_mask:0xf", 3, 105},
      {"v_mov_b32_dpp v6, v0 row_ror:4 row_mask:0xf bank_mask:0xf", 1, 113},
      {"v_mov_b32_dpp v6, v0 row_mirror row_mask:0xf bank_mask:0xf", 18, 129},
      {"v_mov_b32_dpp v6, v0 row_half_mirror row_mask:0xf bank_mask:0xf", 1, 106},
      {"v_mov_b32_dpp v6, v0 row_bcast:15 row_mask:0xa bank_mask:0xf", 20, 115},
      {"v_mov_b32_dpp v6, v0 row_bcast:15 row_mask:0xa bank_mask:0xf", 40, 7},
      {"v_mov_b32_dpp v6, v0 row_bcast:31 row_mask:0xc bank_mask:0xf", 50, 131},
      {"v_mov_b32_dpp v6, v0 wave_ror:1 row_mask:0xf bank_mask:0xf", 0, 163},
      {"v_mov_b32_dpp v6, v0 row_shl:1 row_mask:0xf bank_mask:0x1", 5, 7},
  };
  std::vector<std::string> lines;
  for (const Dpp& each : cases) lines.emplace_back(each.text);
  const auto code = assemble(lines, "gfx90a", 64);
  ASSERT_EQ(code.size(), lines.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    Machine machine;
    machine.vectors({0, 0, 0, 0, 0, 0, 7});
    for (std::uint32_t k = 0; k < kLanes; ++k) machine.registers_[0].lane[k] = 100 + k;
    machine.execute(code[i]);
    EXPECT_EQ(machine.registers_[6].lane[cases[i].lane], cases[i].expected) << cases[i].text;
  }
}

TEST_F(Instructions, BetweenLanes) {
  Machine machine;
  for (std::uint32_t k = 0; k < kLanes; ++k) {
    machine.registers_[0].lane[k] = 100 + k;
    machine.registers_[1].lane[k] = (63 - k) * 4;
  }
  machine.execute(one("ds_bpermute_b32 v6, v1, v0"));
  EXPECT_EQ(machine.registers_[6].lane[3], 160U);
  machine.execute(one("ds_permute_b32 v6, v1, v0"));
  EXPECT_EQ(machine.registers_[6].lane[3], 160U);
  machine.execute(one("ds_swizzle_b32 v6, v0 offset:swizzle(QUAD_PERM, 1, 0, 3, 2)"));
  EXPECT_EQ(machine.registers_[6].lane[6], 107U);
  machine.execute(one("ds_swizzle_b32 v6, v0 offset:0x401f"));  // xor 16
  EXPECT_EQ(machine.registers_[6].lane[40], 156U);
  machine.execute(one("v_readlane_b32 s6, v0, 7"));
  EXPECT_EQ(machine.wave_.s[6], 107U);
  machine.wave_.set_pair(kExecLo, 0x100);
  machine.execute(one("v_readfirstlane_b32 s6, v0"));
  EXPECT_EQ(machine.wave_.s[6], 108U);
  machine.execute(one("v_writelane_b32 v6, 5, 2"));
  EXPECT_EQ(machine.registers_[6].lane[2], 5U);
  machine.wave_.set_pair(kExecLo, ~std::uint64_t{0});
  machine.execute(one("v_mbcnt_lo_u32_b32 v6, -1, 0"));
  machine.execute(one("v_mbcnt_hi_u32_b32 v6, -1, v6"));
  for (std::uint32_t k = 0; k < kLanes; ++k) EXPECT_EQ(machine.registers_[6].lane[k], k);
}

TEST_F(Instructions, AtomicsOfLocalAndGlobalMemory) {
  Machine machine;
  machine.vectors({16, 3, 0, 0, 0, 0, 0, 0});
  machine.execute(one("ds_write_b32 v0, v1"));
  machine.execute(one("ds_add_rtn_u32 v6, v0, v1"));
  EXPECT_EQ(machine.registers_[6].lane[63], 3U * 64);
  machine.vectors({18});
  EXPECT_THROW(machine.execute(one("ds_add_u32 v0, v1")), Stop);  // misaligned
  const auto address = reinterpret_cast<std::uint64_t>(machine.data_.data());
  machine.vectors(
      {static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), 0x3f800000});
  machine.execute(one("global_atomic_add_f32 v[0:1], v2, off offset:8"));
  EXPECT_EQ(machine.data_[2], 0x42800000U);  // 64.0
  machine.vectors({static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), 9, 0});
  machine.execute(one("global_atomic_cmpswap v6, v[0:1], v[2:3], off glc"));
  EXPECT_EQ(machine.data_[0], 9U);
  EXPECT_EQ(machine.registers_[6].lane[0], 0U);
  EXPECT_EQ(machine.registers_[6].lane[1], 9U);
}

TEST_F(Instructions, LoadsOf16BitsWriteTheWholeRegister) {
  Machine machine;
  const auto address = reinterpret_cast<std::uint64_t>(machine.data_.data());
  machine.data_[0] = 0x8765fedc;
  machine.vectors(
      {static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), 16, 0x8765fedc});
  machine.execute(one("ds_write_b32 v2, v3"));
  const std::pair<const char*, std::uint32_t> loads[] = {
      {"ds_read_u8_d16 v6, v2", 0xdc},
      {"ds_read_i8_d16_hi v6, v2", 0xffdc0000},
      {"ds_read_u16_d16_hi v6, v2 offset:2", 0x87650000},
      {"global_load_ubyte_d16_hi v6, v[0:1], off", 0xdc0000},
      {"global_load_sbyte_d16 v6, v[0:1], off offset:1", 0xfffe},
      {"global_load_short_d16 v6, v[0:1], off offset:2", 0x8765},
  };
  for (const auto& [text, loaded] : loads) {
    machine.registers_[6].lane[3] = 0x11223344;
    machine.execute(one(text));
    EXPECT_EQ(machine.registers_[6].lane[3], loaded) << text;
  }
}

TEST_F(Instructions, MatrixProducts) {
  // A[i][k] = i + 1 for k = 0, else 0; B[k][j] = j: D[i][j] = (i + 1) * j.
  Machine machine;
  for (int lane = 0; lane < kLanes; ++lane) {
    machine.registers_[0].lane[lane] =
        std::bit_cast<std::uint32_t>(lane < 16 ? static_cast<float>(lane + 1) : 0.0F);
    machine.registers_[1].lane[lane] = std::bit_cast<std::uint32_t>(static_cast<float>(lane % 16));
  }
  machine.execute(one("v_mfma_f32_16x16x4f32 a[0:3], v0, v1, 1.0"));
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int r = 0; r < 4; ++r) {
      const float expected = static_cast<float>((4 * (lane / 16) + r + 1) * (lane % 16)) + 1.0F;
      EXPECT_EQ(std::bit_cast<float>(machine.registers_[256 + r].lane[lane]), expected) << lane << " " << r;
    }
  }
}

// Each name that a processor has for a row leads to one.
TEST_F(Instructions, NamesOfEachProcessorHaveRows) {
  for (const char* processor : {"gfx90a", "gfx940", "gfx942", "gfx1100"}) {
    const Processor* found = find_processor(processor);
    ASSERT_NE(found, nullptr) << processor;
    const Names names(*found);
    for (const Renamed& each : found->names) {
      EXPECT_NE(names.find(std::string(each.name)), nullptr) << processor << " " << each.name;
    }
    for (const Renamed& each : found->memory_names) {
      EXPECT_NE(names.find("global_" + std::string(each.name)), nullptr) << processor << " " << each.name;
    }
  }
  EXPECT_EQ(find_processor("gfx1234"), nullptr);
}

TEST_F(Instructions, UnknownBytesAreNamed) {
  Machine machine;
  try {
    machine.execute({0xff, 0xff, 0xff, 0xff});
    FAIL();
  } catch (const Stop& stop) {
    EXPECT_EQ(stop.kind, FailureKind::kUnknownInstruction);
  }
  try {
    machine.execute(one("image_get_resinfo v[0:3], v0, s[0:7] dmask:0xf"));
    FAIL();
  } catch (const Stop& stop) {
    EXPECT_NE(stop.text.find("image_get_resinfo"), std::string::npos) << stop.text;
  }
}

}  // namespace
}  // namespace tf::amd::isa
