// SPDX-License-Identifier: Apache-2.0
// Registers whose number another register says: of gfx90a between two instructions, of gfx1100 by one.
#include <gtest/gtest.h>

#include "tests/amd/isa/indexed.h"
#include "tests/amd/isa/instruction_machine.h"

namespace tf::amd::isa {
namespace {

// Of gfx90a; gfx942_test.cc has more.
TEST(Indexed, WhatIsBeyondTheRegistersIsRefused) {
  if (!known("gfx90a")) GTEST_SKIP() << "no compiler for it";
  Machine machine;
  machine.wave_.s[kM0] = 0x12341000 | 200;  // SRC0; what is above bit 15 does not count
  const auto indexed = [&](const char* text) {
    const Instruction moved =
        with_indices(machine.wave_, Machine::code_of("gfx90a", 64).decode_written(text));
    moved.handler(machine.wave_, moved);
  };
  machine.vectors({0, 100, 200});
  machine.registers_[202].lane[5] = 7;
  indexed("v_mov_b32 v1, v2");
  EXPECT_EQ(machine.registers_[1].lane[5], 7U);
  EXPECT_THROW(indexed("v_mov_b32 v1, v100"), Stop);
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
