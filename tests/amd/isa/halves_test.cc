// SPDX-License-Identifier: Apache-2.0
// Halves of registers of gfx1100. Which disassembler is there decides how they are written: LLVM 21 writes
// "v6.h"; 15 takes it for v134, 19 for no instruction or no register, and both drop op_sel of some. Then the
// instruction has to be refused.
#include <bit>
#include <initializer_list>
#include <optional>

#include "tests/amd/isa/half.h"
#include "tests/amd/isa/instruction_machine.h"

namespace tf::amd::isa {
namespace {

std::vector<std::uint8_t> bytes_of(std::initializer_list<std::uint32_t> words) {
  std::vector<std::uint8_t> bytes(4 * words.size());
  std::memcpy(bytes.data(), words.begin(), bytes.size());
  return bytes;
}

class Halves : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kFirst = 0x40003c00;   // 2 and 1
  static constexpr std::uint32_t kSecond = 0x42004400;  // 3 and 4
  static constexpr std::uint32_t kBefore = 0x3c005555;  // 1, and what has to stay
  static constexpr std::uint32_t kUpper = 0x77777777;   // v128 and beyond

  void SetUp() override {
    if (!known("gfx1100")) GTEST_SKIP() << "no clang 15";
    machine_.emplace("gfx1100", 32);
    machine_->vectors({kFirst, kSecond, 0, 0, 0, 0, kBefore});
    for (int i = 128; i < 256; ++i) machine_->registers_[i].lane[3] = kUpper;
  }
  std::uint32_t result() const { return machine_->registers_[6].lane[3]; }

  std::optional<Machine> machine_;
};

TEST_F(Halves, AreReadOrRefusedButNeverTakenForOtherRegisters) {
  struct Encoded {
    std::vector<std::uint8_t> bytes;
    std::uint32_t result;
  };
  const Encoded cases[] = {
      {bytes_of({0x6d0c0300}), 0x45005555},  // v_fmac_f16 v6.h, v0.l, v1.l
      {bytes_of({0x7f0c1501}),               // v_cvt_f16_f32 v6.h, v1
       float_to_half(std::bit_cast<float>(kSecond)) << 16 | 0x5555},
      {bytes_of({0xd5325806, 0x00020300}), 0x45005555},  // v_add_f16 v6.h, v0.h, v1.h
      {bytes_of({0x640c02fa, 0xff00e480}), 0x3c004600},  // v_add_f16_dpp v6.l, v0.h, v1.l
      {bytes_of({0x7c050300}), kBefore},                 // v_cmp_eq_f16 vcc_lo, v0.l, v1.h
  };
  for (const Encoded& each : cases) {
    SetUp();
    machine_->wave_.s[kVccLo] = 0;
    try {
      machine_->execute(each.bytes);
      EXPECT_EQ(result(), each.result);
    } catch (const Stop& stop) {
      // LLVM 19 says of some that they are no instruction.
      EXPECT_TRUE(stop.kind == FailureKind::kUnsupportedOperand ||
                  stop.kind == FailureKind::kUnknownInstruction)
          << stop.text;
      EXPECT_EQ(result(), kBefore);
    }
    EXPECT_EQ(machine_->registers_[134].lane[3], kUpper);
    EXPECT_EQ(machine_->wave_.s[kVccLo], 0U);
  }
}

TEST_F(Halves, OfAnAccumulator) {
  machine_->execute_text("v_fmac_f16_e32 v6.h, v0.l, v1.l");
  EXPECT_EQ(result(), 0x45005555U);
  SetUp();
  machine_->execute_text("v_fmac_f16_e64 v6, v0, v1 op_sel:[1,0,1]");
  EXPECT_EQ(result(), 0x48805555U);  // 2 * 4 + 1
}

TEST_F(Halves, OfComparisonsWithoutAResult) {
  const std::pair<const char*, bool> cases[] = {
      {"v_cmpx_lt_f16_e32 v0.l, v1.l", true},                  // 1 < 4
      {"v_cmpx_lt_f16_e32 v1.h, v0.h", false},                 // 3 < 2
      {"v_cmpx_gt_f16_e32 v0.h, v1.l", false},                 // 2 > 4
      {"v_cmpx_eq_u16_e64 v0, v6 op_sel:[0,1]", true},         // 0x3c00 == 0x3c00
      {"v_cmpx_eq_i16_e64 v6, v0 op_sel:[1,0]", true},         // the same
      {"v_cmpx_class_f16_e32 v0.h, v1.h", true},               // a positive number; bit 9
      {"v_cmp_eq_u16_e64 vcc_lo, v0, v6 op_sel:[0,1]", true},  // with a result
  };
  for (const auto& [text, expected] : cases) {
    SetUp();
    machine_->registers_[1].lane[3] = kSecond;
    if (std::strstr(text, "class") != nullptr) machine_->registers_[1].lane[3] = 0x01000000;  // bit 8
    machine_->execute_text(text);
    const std::uint64_t bits =
        std::strstr(text, "cmpx") != nullptr ? machine_->wave_.exec() : machine_->wave_.vcc();
    EXPECT_EQ((bits >> 3 & 1) != 0, expected) << text;
  }
}

TEST_F(Halves, OnlyOfOperandsThatAreHalves) {
  EXPECT_THROW(machine_->execute_text("v_mov_b32_e32 v6.l, v0.l"), Stop);
  EXPECT_THROW(machine_->execute_text("v_mov_b32_e32 v6, v0.h"), Stop);
  EXPECT_THROW(machine_->execute_text("v_cvt_f32_f16_e32 v6.l, v0.l"), Stop);
  machine_->registers_[0].lane[3] = 0x0100fff0;
  machine_->execute_text("v_sat_pk_u8_i16_e32 v6.h, v0");
  EXPECT_EQ(result(), 0xff005555U);
  machine_->execute_text("v_sat_pk_u8_i16_e32 v6.l, v0");
  EXPECT_EQ(result(), 0xff00ff00U);
  Machine older;
  older.vectors({0x0100fff0, 0, 0, 0, 0, 0, 7});
  older.execute_text("v_sat_pk_u8_i16_e32 v6, v0");
  EXPECT_EQ(older.registers_[6].lane[3], 0xff00U);
}

}  // namespace
}  // namespace tf::amd::isa
