// SPDX-License-Identifier: Apache-2.0
// Managed variables of code objects: by the symbols of an ELF image, by the names in PTX.
#include "hipcore/codeobject/managed.h"
#include "tests/unit/codeobject/builder.h"

#include <gtest/gtest.h>

#include <string>

namespace tf::codeobject {
namespace {

using testing::elf_with;

TEST(ManagedVariablesOfElf, AreAPointerAndItsFirstValue) {
  const std::string image = elf_with({{"plain", 0x100, 4},
                                      {"x", 0x2000, 8},
                                      {"x.managed", 0x1ff0, 4},
                                      {"_ZL1a.static.12.managed", 0x3000, 400},
                                      {"_ZL1a.static.12", 0x4000, 8}});
  const auto found = managed_variables(testing::bytes_of(image));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "x");
  EXPECT_EQ(found[0].initial, "x.managed");
  EXPECT_EQ(found[0].pointer_value - found[0].initial_value, 0x10u);
  EXPECT_EQ(found[0].bytes, 4u);
  EXPECT_EQ(found[1].name, "_ZL1a.static.12");
  EXPECT_EQ(found[1].bytes, 400u);
}

TEST(ManagedVariablesOfElf, WhatOnlyLooksLikeOneIsNone) {
  const std::string image = elf_with({{"alone.managed", 0x10, 4},
                                      {"narrow", 0x20, 4},
                                      {"narrow.managed", 0x30, 4},
                                      {"elsewhere", 0, 8, false},
                                      {"elsewhere.managed", 0x40, 4},
                                      {"function", 0x50, 8, true, STT_FUNC},
                                      {"function.managed", 0x60, 4},
                                      {".managed", 0x70, 8}});
  EXPECT_TRUE(managed_variables(testing::bytes_of(image)).empty());
  EXPECT_TRUE(managed_variables(testing::bytes_of(image.substr(0, image.size() - 5))).empty()) << "cut off";
}

TEST(ManagedVariablesOfPtx, AreNamedOnceEach) {
  const std::string text =
      "//\n.version 6.3\n.target sm_70\n.visible .global .align 4 .u32 x$managed = 5;\n"
      ".visible .global .align 8 .u64 x;\n.visible .global .align 4 .b8 _ZN1n1sE$managed[16];\n"
      "mov.u64 %rd1, x$managed;\n.global .u32 y$managedtoo;\n.global .u32 $managed;\n";
  const auto found = managed_variables(testing::bytes_of(text));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "x");
  EXPECT_EQ(found[0].initial, "x$managed");
  EXPECT_EQ(found[1].name, "_ZN1n1sE");
  EXPECT_TRUE(managed_variables(testing::bytes_of("x$managed")).empty()) << "no PTX";
}

}  // namespace
}  // namespace tf::codeobject
