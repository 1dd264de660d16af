// SPDX-License-Identifier: Apache-2.0
#include "worker/base/runtime_library.h"

#include <gtest/gtest.h>

namespace tf::worker {
namespace {

TEST(RuntimeLibrary, TheCompilerLiesBesideAmds) {
  Result<RuntimeLibrary> runtime = RuntimeLibrary::load(FAKE_AMD_RUNTIME);
  ASSERT_TRUE(runtime.is_ok()) << runtime.status().to_string();
  EXPECT_TRUE(runtime->optional().rtc.complete());
  EXPECT_TRUE(runtime->optional().rtc.links());
  EXPECT_FALSE(runtime->optional().rtc.knows_target);
}

// Natively it has the name of AMD's, which needs other handling.
TEST(RuntimeLibrary, OurOwnByAmdsNameIsNotAmds) {
  Result<RuntimeLibrary> runtime = RuntimeLibrary::load(TF_NATIVE_RUNTIME);
  ASSERT_TRUE(runtime.is_ok()) << runtime.status().to_string();
  EXPECT_TRUE(runtime->optional().rtc.knows_target);
}

TEST(RuntimeLibrary, OrInTheRuntime) {
  Result<RuntimeLibrary> runtime = RuntimeLibrary::load(TF_FAKE_RUNTIME);
  ASSERT_TRUE(runtime.is_ok()) << runtime.status().to_string();
  EXPECT_TRUE(runtime->optional().rtc.complete());
  EXPECT_TRUE(runtime->optional().rtc.knows_target);
}

}  // namespace
}  // namespace tf::worker
