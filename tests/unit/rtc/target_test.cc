// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cpu/rtc/target.h"

#include <gtest/gtest.h>

namespace tf::cpu::rtc {
namespace {

TEST(RtcTarget, TheDeviceDecides) {
  EXPECT_TRUE(is_for_worker({}, "sm_90"));
  EXPECT_TRUE(is_for_worker({"-O2", "-DARCH=x86_64-cpu"}, "gfx90a"));
  EXPECT_FALSE(is_for_worker({}, "x86_64-cpu"));
  EXPECT_FALSE(is_for_worker({"--gpu-architecture=gfx90a", "--offload-arch=gfx90a"}, "x86_64-cpu"));
}

TEST(RtcTarget, OptionsDecideMore) {
  for (const char* option : {"--offload-arch=sm_80", "--gpu-architecture=compute_90", "-arch=sm_90a"})
    EXPECT_TRUE(is_for_worker({"-w", option}, "x86_64-cpu")) << option;
  EXPECT_FALSE(is_for_worker({"--offload-arch=x86_64-cpu"}, "sm_90"));
  EXPECT_FALSE(is_for_worker({"-arch=sm_90", "-arch=x86_64-cpu"}, "sm_90")) << "the last one";
  EXPECT_TRUE(is_for_worker({"-arch=sm_90", "-arch=gfx90a"}, "x86_64-cpu"));
  EXPECT_FALSE(is_for_worker({"-arch="}, "x86_64-cpu"));
}

}  // namespace
}  // namespace tf::cpu::rtc
