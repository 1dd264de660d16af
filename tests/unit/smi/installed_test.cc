// SPDX-License-Identifier: Apache-2.0
// Which ROCm a system's librocm_smi64.so.1 is of.
#include "smi/rocm/installed.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
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
}

// Where the C library lies is read in another way than the function's.
TEST(Installed, TheSystemsOwnIsBesideTheCLibrary) {
  std::string c_library;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; c_library.empty() && std::getline(maps, line);)
    if (line.ends_with("/libc.so.6")) c_library = line.substr(line.find('/'));
  ASSERT_FALSE(c_library.empty());
  ASSERT_EQ(::unsetenv("TF_ROCM_SMI"), 0);
  EXPECT_EQ(expected_rocm(), rocm_beside(c_library) == 6 ? 6 : 5);
}

TEST(Installed, TheVariableComesFirst) {
  ASSERT_EQ(::setenv("TF_ROCM_SMI", "6", 1), 0);
  EXPECT_EQ(expected_rocm(), 6);
  ASSERT_EQ(::setenv("TF_ROCM_SMI", "5", 1), 0);
  EXPECT_EQ(expected_rocm(), 5);
  ASSERT_EQ(::unsetenv("TF_ROCM_SMI"), 0);
}

}  // namespace
