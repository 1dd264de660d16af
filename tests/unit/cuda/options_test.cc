// SPDX-License-Identifier: Apache-2.0
// hiprtc's options in NVRTC's words.
#include "worker/runtime/cuda/rtc/options.h"

#include <gtest/gtest.h>

namespace tf::cuda::rtc {
namespace {

using Words = std::vector<std::string>;

TEST(CudaRtcOptions, TheDeviceIsTheDefault) {
  const Translated none = translate_options({}, "sm_90");
  EXPECT_EQ(none.options, (Words{"--gpu-architecture=sm_90"}));
  EXPECT_TRUE(none.notes.empty());
  for (const char* option : {"--offload-arch=sm_80", "--gpu-architecture=sm_80", "-arch=sm_80"}) {
    const Translated named = translate_options({option}, "sm_90");
    EXPECT_EQ(named.options, (Words{"--gpu-architecture=sm_80"}));
    EXPECT_EQ(named.architecture, "sm_80");
  }
}

TEST(CudaRtcOptions, AmdsProcessorsAreLeftOutWithANote) {
  const Translated amd = translate_options({"--offload-arch=gfx90a:xnack+"}, "sm_90");
  EXPECT_EQ(amd.options, (Words{"--gpu-architecture=sm_90"}));
  EXPECT_NE(amd.notes.find("gfx90a"), std::string::npos);
}

TEST(CudaRtcOptions, WhatBothKnowPasses) {
  const Translated result =
      translate_options({"-DA=1", "-D", "B", "-I/x", "-U", "C", "--fmad=false", "-include", "y.h"}, "sm_90");
  EXPECT_EQ(result.options, (Words{"-DA=1", "-DB", "-I/x", "-UC", "--fmad=false", "--pre-include=y.h",
                                   "--gpu-architecture=sm_90"}));
  EXPECT_TRUE(result.notes.empty());
}

TEST(CudaRtcOptions, ClangsWordsAreTranslated) {
  const Translated result = translate_options(
      {"-O3", "-ffast-math", "-std=gnu++17", "--std=c++2a", "-ffp-contract=off", "-g", "-w"}, "sm_90");
  EXPECT_EQ(result.options,
            (Words{"--use_fast_math", "--std=c++17", "--std=c++20", "--fmad=false", "--generate-line-info",
                   "--disable-warnings", "--gpu-architecture=sm_90"}));
  EXPECT_TRUE(result.notes.empty());
}

TEST(CudaRtcOptions, ClangsOwnAreLeftOutWithTheirValues) {
  const Translated result =
      translate_options({"-mllvm", "-amdgpu-x", "-fno-strict-aliasing", "-DQ"}, "sm_90");
  EXPECT_EQ(result.options, (Words{"-DQ", "--gpu-architecture=sm_90"}));
  EXPECT_NE(result.notes.find("-mllvm"), std::string::npos);
  EXPECT_NE(result.notes.find("-fno-strict-aliasing"), std::string::npos);
  EXPECT_EQ(result.notes.find("amdgpu-x"), std::string::npos);
}

}  // namespace
}  // namespace tf::cuda::rtc
