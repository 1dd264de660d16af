// SPDX-License-Identifier: Apache-2.0
// Single instructions of gfx940 and gfx1100: what differs from gfx90a beyond spelling.
#include "tests/amd/isa/instruction_cases.h"
#include "tests/amd/isa/instruction_machine.h"

namespace tf::amd::isa {
namespace {

// Waves of 32 lanes: masks lie in one register, and the other half of a pair is a register like any other.
TEST(NewerProcessors, WavesOf32Lanes) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx1100", 32);
  const auto run = [&](const char* text) { machine.execute(one(text, "gfx1100", 32)); };
  for (std::uint32_t i = 0; i < kLanes; ++i) machine.registers_[0].lane[i] = i;
  machine.wave_.s[kVccLo + 1] = 0x1234;
  run("v_cmp_gt_u32 vcc_lo, 30, v0");
  EXPECT_EQ(machine.wave_.s[kVccLo], 0x3fffffffU);
  EXPECT_EQ(machine.wave_.s[kVccLo + 1], 0x1234U);
  EXPECT_EQ(machine.wave_.vcc(), 0x3fffffffU);
  run("v_cmpx_lt_u32 20, v0");
  EXPECT_EQ(machine.wave_.exec(), 0xffe00000U);
  EXPECT_EQ(machine.wave_.s[kVccLo], 0x3fffffffU);  // is not written
  run("v_mov_b32 v6, 7");
  EXPECT_EQ(machine.registers_[6].lane[20], 0U);
  EXPECT_EQ(machine.registers_[6].lane[21], 7U);
  EXPECT_EQ(machine.registers_[6].lane[40], 0U);
  run("s_mov_b32 s4, 0xff");
  run("s_and_saveexec_b32 s6, s4");
  EXPECT_EQ(machine.wave_.s[6], 0xffe00000U);
  EXPECT_EQ(machine.wave_.exec(), 0U);
  EXPECT_FALSE(machine.wave_.scc);
  run("s_or_not1_saveexec_b32 s6, s4");
  EXPECT_EQ(machine.wave_.exec(), 0xffffffffU);
  run("v_add_co_u32 v6, s8, v0, -1");
  EXPECT_EQ(machine.wave_.s[8], 0xfffffffeU);
  run("v_add_co_ci_u32 v6, vcc_lo, 0, 0, s8");
  EXPECT_EQ(machine.registers_[6].lane[0], 0U);
  EXPECT_EQ(machine.registers_[6].lane[1], 1U);
  run("v_readlane_b32 s6, v0, 33");
  EXPECT_EQ(machine.wave_.s[6], 1U);
}

TEST(NewerProcessors, BetweenLanesOfGfx1100) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  struct Move {
    const char* text;
    int lane;
    std::uint32_t expected;  // of sources 100 + lane; 7: not written
  };
  const Move cases[] = {
      {"v_mov_b32_dpp v6, v0 dpp8:[7,6,5,4,3,2,1,0]", 9, 114},
      {"v_mov_b32_dpp v6, v0 dpp8:[7,6,5,4,3,2,1,0]", 24, 0},  // lane 31 takes no part
      {"v_mov_b32_dpp v6, v0 dpp8:[7,6,5,4,3,2,1,0] fi:1", 24, 131},
      {"v_mov_b32_dpp v6, v0 row_share:3 row_mask:0xf bank_mask:0xf", 20, 119},
      {"v_mov_b32_dpp v6, v0 row_xmask:5 row_mask:0xf bank_mask:0xf", 18, 123},
      {"v_add_nc_u32_dpp v6, v0, v1 row_ror:4 row_mask:0xf bank_mask:0xf", 1, 113},
      {"v_permlane16_b32 v6, v0, s0, s1", 17, 122},   // 6 of its row
      {"v_permlanex16_b32 v6, v0, s0, s1", 17, 106},  // 6 of the other one
      {"v_permlane16_b32 v6, v0, s0, s1", 16, 7},     // lane 31 takes no part
      {"v_permlane16_b32 v6, v0, s0, s1 op_sel:[1,0]", 16, 131},
      {"v_permlane16_b32 v6, v0, s0, s1 op_sel:[0,1]", 16, 0},
      {"v_mov_b32_dpp v6, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", 16, 0},
  };
  for (const int lanes : {32, 64}) {
    for (const Move& each : cases) {
      Machine machine("gfx1100", lanes);
      machine.vectors({0, 0, 0, 0, 0, 0, 7});
      machine.wave_.s[0] = 0x6f;  // lane 0 of a row reads 15, lane 1 reads 6
      for (std::uint32_t k = 0; k < kLanes; ++k) machine.registers_[0].lane[k] = 100 + k;
      machine.wave_.set_pair(kExecLo, 0xffffffff7fffffff);
      machine.execute(one(each.text, "gfx1100", lanes));
      EXPECT_EQ(machine.registers_[6].lane[each.lane], each.expected) << each.text << " of " << lanes;
    }
    // Of 64 lanes, each half by itself.
    Machine machine("gfx1100", lanes);
    for (std::uint32_t k = 0; k < kLanes; ++k) {
      machine.registers_[0].lane[k] = 100 + k;
      machine.registers_[1].lane[k] = (63 - k) * 4;
    }
    machine.execute(one("ds_bpermute_b32 v6, v1, v0", "gfx1100", lanes));
    EXPECT_EQ(machine.registers_[6].lane[3], 128U);
    EXPECT_EQ(machine.registers_[6].lane[35], lanes == 64 ? 160U : 0U);
    machine.execute(one("v_permlane64_b32 v7, v0", "gfx1100", lanes));
    EXPECT_EQ(machine.registers_[7].lane[3], lanes == 64 ? 135U : 0U);
  }
}

TEST(NewerProcessors, AtomicsOfGfx1100AndGfx940) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx1100", 32);
  machine.vectors({16, 9, 0});
  machine.execute(one("ds_store_b32 v0, v2", "gfx1100", 32));
  machine.execute(one("ds_cmpstore_rtn_b32 v6, v0, v1, v2", "gfx1100", 32));  // 9 where there is 0
  EXPECT_EQ(machine.registers_[6].lane[0], 0U);
  EXPECT_EQ(machine.registers_[6].lane[1], 9U);
  const auto address = reinterpret_cast<std::uint64_t>(machine.data_.data());
  const std::vector<std::uint32_t> arguments = {static_cast<std::uint32_t>(address),
                                                static_cast<std::uint32_t>(address >> 32), 1, 0};
  machine.vectors(arguments);
  machine.execute(one("global_atomic_add_u32 v6, v[0:1], v2, off glc", "gfx1100", 32));
  EXPECT_EQ(machine.data_[0], 32U);
  EXPECT_EQ(machine.registers_[6].lane[31], 31U);
  Machine other("gfx940", 64);
  other.memory_.add(machine.data_.data(), 4096);
  other.vectors(arguments);
  other.execute(one("global_atomic_add v6, v[0:1], v2, off sc0", "gfx940", 64));
  EXPECT_EQ(machine.data_[0], 96U);
  EXPECT_EQ(other.registers_[6].lane[63], 95U);
  other.execute(one("global_load_dword v7, v[0:1], off sc0 sc1 nt", "gfx940", 64));
  EXPECT_EQ(other.registers_[7].lane[5], 96U);
}

TEST(NewerProcessors, LoadsOf16BitsLeaveTheOtherHalfOnGfx1100) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx1100", 32);
  const auto address = reinterpret_cast<std::uint64_t>(machine.data_.data());
  machine.data_[0] = 0x8765fedc;
  machine.vectors(
      {static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(address >> 32), 16, 0x8765fedc});
  machine.execute(one("ds_store_b32 v2, v3", "gfx1100", 32));
  const std::pair<const char*, std::uint32_t> loads[] = {
      {"ds_load_u8_d16 v6, v2", 0x112200dc},
      {"ds_load_i8_d16_hi v6, v2", 0xffdc3344},
      {"ds_load_u16_d16_hi v6, v2 offset:2", 0x87653344},
      {"global_load_d16_hi_u8 v6, v[0:1], off", 0x00dc3344},
      {"global_load_d16_i8 v6, v[0:1], off offset:1", 0x1122fffe},
      {"global_load_d16_b16 v6, v[0:1], off offset:2", 0x11228765},
  };
  for (const auto& [text, loaded] : loads) {
    machine.registers_[6].lane[3] = 0x11223344;
    machine.execute(one(text, "gfx1100", 32));
    EXPECT_EQ(machine.registers_[6].lane[3], loaded) << text;
  }
}

TEST(NewerProcessors, MatrixProductsOfGfx940) {
  if (!known("gfx940")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx940", 64);
  for (int lane = 0; lane < kLanes; ++lane) {
    machine.registers_[0].lane[lane] =
        std::bit_cast<std::uint32_t>(lane < 16 ? static_cast<float>(lane + 1) : 0.0F);
    machine.registers_[1].lane[lane] = std::bit_cast<std::uint32_t>(static_cast<float>(lane % 16));
  }
  machine.execute(one("v_mfma_f32_16x16x4_f32 a[0:3], v0, v1, 1.0", "gfx940", 64));
  EXPECT_EQ(std::bit_cast<float>(machine.registers_[256 + 2].lane[21]), 7.0F * 5.0F + 1.0F);
}

TEST(NewerProcessors, RoundingOfFloatsAndDoublesFollowsMode) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx1100", 32);
  // To 1, a quarter of the last bit is added, or three quarters, which the nearest one lies above.
  const auto sum = [&](const char* mode, bool more = false) {
    machine.vectors({k1, more ? 0x33c00000U : 0x33000000U});
    machine.execute(one(mode, "gfx1100", 32));
    machine.execute(one("v_add_f32 v6, v0, v1", "gfx1100", 32));
    machine.vectors({0, 0x3ff00000, 0, more ? 0x3ca80000U : 0x3c900000U});
    machine.execute(one("v_add_f64 v[8:9], v[0:1], v[2:3]", "gfx1100", 32));
    return std::pair(machine.registers_[6].lane[0], machine.registers_[8].lane[0]);
  };
  EXPECT_EQ(sum("s_round_mode 0x0"), std::pair(k1, 0U));      // both to nearest
  EXPECT_EQ(sum("s_round_mode 0x1"), std::pair(k1 + 1, 0U));  // floats up
  EXPECT_EQ(sum("s_round_mode 0x4"), std::pair(k1, 1U));      // doubles up
  EXPECT_EQ(sum("s_round_mode 0x0", true), std::pair(k1 + 1, 1U));
  EXPECT_EQ(sum("s_round_mode 0xa", true), std::pair(k1, 0U));  // both down
  EXPECT_EQ(sum("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5"), std::pair(k1 + 1, 1U));
}

// Comparisons that write EXEC alone: their first operand is a source.
TEST(NewerProcessors, ComparisonsWithoutAResult) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  const auto exec_after = [](const char* text) {
    Machine machine("gfx1100", 32);
    machine.wave_.s[kNull] = 0x7fffffff;  // what an instruction before has left there is never read
    for (std::uint32_t i = 0; i < kLanes; ++i) {
      machine.registers_[0].lane[i] = i;
      machine.registers_[1].lane[i] = i - 1;
    }
    machine.execute(one(text, "gfx1100", 32));
    return machine.wave_.exec();
  };
  EXPECT_EQ(exec_after("v_cmpx_eq_u32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf"), 0xfffefffeU);
  EXPECT_EQ(exec_after("v_cmpx_eq_u32_dpp v1, v0 row_shl:1 row_mask:0xf bank_mask:0xf"), 0x7fff7fffU);
  EXPECT_EQ(exec_after("v_cmpx_lt_i32_e64 null, v1"), 0xfffffffcU);
}

TEST(NewerProcessors, LoadsThatGoNowhere) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx1100", 32);
  machine.data_.assign(1024, 0x5555);
  machine.wave_.set_pair(0, reinterpret_cast<std::uint64_t>(machine.data_.data()));
  const int flat = machine.wave_.processor->flat_scratch;
  machine.wave_.set_pair(flat, 0x1234);
  for (const char* text :
       {"s_load_b32 null, s[0:1], 0x0", "s_load_b128 null, s[0:1], 0x0", "s_load_b512 null, s[0:1], 0x0"}) {
    machine.execute_text(text);
    EXPECT_EQ(machine.wave_.pair(flat), 0x1234U) << text;
  }
}

// Bounds as the descriptor says: 0, index and offset in an element; 1, index; 3, offset from the begin.
TEST(NewerProcessors, BoundsOfBuffersOfGfx1100) {
  if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
  Machine machine("gfx1100", 32);
  const auto address = reinterpret_cast<std::uint64_t>(machine.data_.data());
  for (std::uint32_t i = 0; i < 8; ++i) machine.data_[i] = 100 + i;
  const auto load = [&](const char* text, std::uint32_t select, std::uint32_t stride, std::uint32_t records) {
    machine.wave_.set_pair(0, address | std::uint64_t{stride} << 48);
    machine.wave_.s[2] = records;
    machine.wave_.s[3] = select << 28;
    machine.vectors({1, 4, 0, 0, 0, 0, 7});
    machine.execute(one(text, "gfx1100", 32));
    return machine.registers_[6].lane[3];
  };
  const char* indexed = "buffer_load_b32 v6, v0, s[0:3], 0 idxen";
  const char* behind = "buffer_load_b32 v6, v0, s[0:3], 0 idxen offset:4";
  EXPECT_EQ(load(indexed, 0, 4, 2), 101U);
  EXPECT_EQ(load(indexed, 0, 4, 1), 0U);
  EXPECT_EQ(load(behind, 0, 4, 2), 0U);  // behind the element
  EXPECT_EQ(load(behind, 0, 8, 2), 103U);
  EXPECT_EQ(load("buffer_load_b32 v6, v[0:1], s[0:3], 0 idxen offen", 0, 4, 2), 0U);
  EXPECT_EQ(load(behind, 1, 4, 2), 102U);
  EXPECT_EQ(load(behind, 1, 4, 1), 0U);
  EXPECT_EQ(load("buffer_load_b32 v6, v1, s[0:3], 0 offen", 3, 0, 8), 101U);
  EXPECT_EQ(load("buffer_load_b32 v6, v1, s[0:3], 0 offen", 3, 0, 7), 0U);
  EXPECT_THROW(load(indexed, 3, 4, 8), Stop);  // which offset counts is not known
}

TEST(NewerProcessors, BoundControlThatIsOff) {
  const std::string text = "v_mov_b32_dpp v6, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0";
  EXPECT_THROW(Machine("gfx1100", 32).execute_text(text), Stop);
  Machine machine;  // older ones write it so where it is on
  machine.vectors({5, 0, 0, 0, 0, 0, 7});
  machine.execute_text(text);
  EXPECT_EQ(machine.registers_[6].lane[0], 0U);
}

}  // namespace
}  // namespace tf::amd::isa
