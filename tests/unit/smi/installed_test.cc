// SPDX-License-Identifier: Apache-2.0
// Which ROCm a system's librocm_smi64.so.1 is of.
#include "smi/rocm/installed.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace {

using tf::rsmi::expected_rocm;
using tf::rsmi::rocm_beside;
using tf::rsmi::rocm_of_library;

TEST(Installed, ALibraryTellsItsRocmByItsFunctions) {
  EXPECT_EQ(rocm_of_library(TF_FAKE_ROCM_SMI_5_1), 5);
  EXPECT_EQ(rocm_of_library(TF_FAKE_ROCM_SMI_6_1), 6) << "of the same name";
  EXPECT_EQ(rocm_of_library(TF_FAKE_ROCM_SMI), 6);
}

TEST(Installed, NoSuchLibraryAndOursTellNothing) {
  EXPECT_EQ(rocm_of_library("/nowhere/librocm_smi64.so.1"), 0);
  EXPECT_EQ(rocm_of_library(TF_FAKE_NVML), 0);
  EXPECT_EQ(rocm_of_library(TF_CLIENT_ROCM_SMI), 0);
}

TEST(Installed, TheSystemsOwnIsLookedForBesideAnotherLibrary) {
  const auto beside = [](std::string library) {
    return rocm_beside(library.substr(0, library.rfind('/') + 1) + "libc.so.6");
  };
  EXPECT_EQ(beside(TF_FAKE_ROCM_SMI_5_1), 5);
  EXPECT_EQ(beside(TF_FAKE_ROCM_SMI_6_1), 6);
  EXPECT_EQ(beside("/nowhere/"), 0);
  ASSERT_EQ(::unsetenv("TF_ROCM_SMI"), 0);
  const int expected = expected_rocm();  // by this system
  EXPECT_TRUE(expected == 5 || expected == 6) << expected;
}

TEST(Installed, TheVariableComesFirst) {
  ASSERT_EQ(::setenv("TF_ROCM_SMI", "6", 1), 0);
  EXPECT_EQ(expected_rocm(), 6);
  ASSERT_EQ(::setenv("TF_ROCM_SMI", "5", 1), 0);
  EXPECT_EQ(expected_rocm(), 5);
  ASSERT_EQ(::unsetenv("TF_ROCM_SMI"), 0);
}

}  // namespace
