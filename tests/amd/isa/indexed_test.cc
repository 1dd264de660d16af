// SPDX-License-Identifier: Apache-2.0
// Registers whose number another register says: of gfx90a between two instructions, of gfx1100 by one.
#include <gtest/gtest.h>

#include "tests/amd/isa/instruction_machine.h"

namespace tf::amd::isa {
namespace {

// Code that is decoded as a kernel's is: a block from its beginning.
class Assembled {
 public:
  Assembled(Machine& machine, Code& code, const std::vector<std::string>& lines)
      : machine_(machine), code_(code) {
    for (const auto& bytes : assemble(lines, code.processor().name.data(), 64))
      text_.insert(text_.end(), bytes.begin(), bytes.end());
    machine_.memory_.add(text_.data(), text_.size());
  }
  ~Assembled() {
    code_.forget(begin(), text_.size());
    machine_.memory_.remove(text_.data());
  }
  Assembled(const Assembled&) = delete;
  Assembled& operator=(const Assembled&) = delete;

  std::uint64_t begin() const { return reinterpret_cast<std::uint64_t>(text_.data()); }
  // Throws Stop.
  const Block& block(std::uint64_t offset = 0) { return *code_.block(begin() + offset, machine_.view_); }
  void run() {
    for (const Instruction& in : block().instructions) in.handler(machine_.wave_, in);
  }

 private:
  Machine& machine_;
  Code& code_;
  std::vector<std::uint8_t> text_;
};

class Indexed : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!known("gfx90a")) GTEST_SKIP() << "no compiler for it";
    for (std::uint32_t i = 0; i < 32; ++i) {
      for (int lane = 0; lane < kLanes; ++lane) machine_.registers_[i].lane[lane] = 100 * i + lane;
    }
    machine_.wave_.s[kM0] = 0x12345678;
    machine_.wave_.s[6] = 0xabcd0103;  // of which the lowest 8 bits count
  }
  std::uint32_t value(int number, int lane = 5) const { return machine_.registers_[number].lane[lane]; }

  Machine machine_;
  Code& code_ = Machine::code_of("gfx90a", 64);
};

TEST_F(Indexed, ASource) {
  machine_.wave_.set_pair(kExecLo, ~std::uint64_t{1});
  Assembled code(machine_, code_,
                 {"s_set_gpr_idx_on s6, gpr_idx(SRC0)", "v_mov_b32 v20, v7", "v_mov_b32 v21, 77",
                  "s_set_gpr_idx_off", "v_mov_b32 v22, v7", "s_endpgm"});
  code.run();
  EXPECT_EQ(value(20), 1005U);
  EXPECT_EQ(value(20, 0), 2000U) << "a lane that takes no part was written";
  EXPECT_EQ(value(21), 77U);
  EXPECT_EQ(value(22), 705U) << "indexing has not ended";
  EXPECT_EQ(machine_.wave_.s[kM0], 0x12341603U);
}

TEST_F(Indexed, AResultAndBoth) {
  machine_.wave_.s[7] = 2;
  Assembled code(machine_, code_,
                 {"s_set_gpr_idx_on s6, gpr_idx(DST)", "v_mov_b32 v20, v7", "s_set_gpr_idx_idx s7",
                  "v_mov_b32 v26, s6", "s_set_gpr_idx_off", "s_set_gpr_idx_on s7, gpr_idx(SRC0,DST)",
                  "v_mov_b32 v10, v3", "s_set_gpr_idx_off", "s_endpgm"});
  code.run();
  EXPECT_EQ(value(23), 705U);
  EXPECT_EQ(value(20), 2005U);
  EXPECT_EQ(value(28), 0xabcd0103U);
  EXPECT_EQ(value(12), 505U);
}

TEST_F(Indexed, WhatIsNotKnownIsRefused) {
  const std::vector<std::string> cases[] = {
      {"s_set_gpr_idx_on s6, gpr_idx(SRC0)", "v_add_u32 v20, v7, v8", "s_set_gpr_idx_off", "s_endpgm"},
      {"s_set_gpr_idx_on s6, gpr_idx(SRC0)", "s_branch 0", "s_set_gpr_idx_off", "s_endpgm"},
      {"s_set_gpr_idx_on s6, gpr_idx(SRC0)", "v_mov_b32 v20, v7", "s_endpgm"}};
  for (const auto& lines : cases) {
    SCOPED_TRACE(lines[1]);
    Assembled code(machine_, code_, lines);
    EXPECT_THROW(code.block(), Stop);
    std::vector<std::string> later = {"s_nop 0"};
    later.insert(later.end(), lines.begin(), lines.end());
    Assembled behind(machine_, code_, later);
    EXPECT_EQ(behind.block().instructions.size(), 1U) << "what stands before it does not run";
    EXPECT_EQ(behind.block().end, behind.begin() + 4);
    EXPECT_THROW(behind.block(4), Stop);
  }
  machine_.wave_.s[6] = 200;
  Assembled beyond(
      machine_, code_,
      {"s_set_gpr_idx_on s6, gpr_idx(SRC0)", "v_mov_b32 v20, v100", "s_set_gpr_idx_off", "s_endpgm"});
  EXPECT_THROW(beyond.run(), Stop);
}

TEST(IndexedOfGfx1100, ByM0) {
  if (!known("gfx1100")) GTEST_SKIP() << "no compiler for it";
  Machine machine("gfx1100", 32);
  machine.vectors({0, 100, 200, 300, 400, 500, 600, 700});
  machine.wave_.s[kM0] = 2;
  machine.execute(one("v_movrels_b32 v6, v1", "gfx1100", 32));
  EXPECT_EQ(machine.registers_[6].lane[9], 300U);
  machine.execute(one("v_movreld_b32 v5, v2", "gfx1100", 32));
  EXPECT_EQ(machine.registers_[7].lane[9], 200U);
  machine.execute(one("v_movrelsd_b32 v0, v3", "gfx1100", 32));
  EXPECT_EQ(machine.registers_[2].lane[9], 500U);
  machine.wave_.s[kM0] = 0xffffffff;
  EXPECT_THROW(machine.execute(one("v_movrels_b32 v6, v1", "gfx1100", 32)), Stop);
}

}  // namespace
}  // namespace tf::amd::isa
