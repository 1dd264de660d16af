// SPDX-License-Identifier: Apache-2.0
// Code images: what of those for NVIDIA GPUs is sent, that they do not describe their kernels; refusals.
#include "proxy/module/code_image.h"

#include <gtest/gtest.h>

#include <string>

namespace tf::proxy {
namespace {

const std::string kPtx = "//\n.version 6.3\n.target sm_70\n.address_size 64\n";

std::string text_of(const CodeImage& image) {
  return {reinterpret_cast<const char*>(image.bytes().data()), image.bytes().size()};
}

TEST(CodeImage, PtxEndsWithOneZeroHoweverItCame) {
  std::shared_ptr<const CodeImage> from_pointer, from_file, from_longer;
  ASSERT_EQ(CodeImage::read(kPtx.c_str(), "sm_90", from_pointer), hipSuccess);
  ASSERT_EQ(CodeImage::read(std::as_bytes(std::span(kPtx)), "sm_90", from_file), hipSuccess);
  const std::string longer = kPtx + '\0' + "behind";
  ASSERT_EQ(CodeImage::read(std::as_bytes(std::span(longer)), "sm_90", from_longer), hipSuccess);
  for (const auto& image : {from_pointer, from_file, from_longer}) {
    EXPECT_EQ(text_of(*image), kPtx + '\0');
    EXPECT_EQ(image->hash(), from_pointer->hash());
    EXPECT_FALSE(image->describes_kernels());
    EXPECT_EQ(image->kernel_count(), 0u);
    EXPECT_EQ(image->kernel("fill"), nullptr);
  }
}

TEST(CodeImage, CudaFatBinariesAreCutToTheirLength) {
  struct {
    std::uint32_t magic = 0xba55ed50;
    std::uint16_t version = 1, head_bytes = 16;
    std::uint64_t body_bytes = 24;
    std::uint32_t kind = 2, part_head_bytes = 16;
    std::uint64_t part_bytes = 8;
    char part[8] = {}, behind[8] = {};
  } fatbin;
  std::shared_ptr<const CodeImage> image;
  ASSERT_EQ(CodeImage::read(std::as_bytes(std::span(&fatbin, 1)), "sm_90", image), hipSuccess);
  EXPECT_EQ(image->bytes().size(), 40u);
  ASSERT_EQ(CodeImage::read(static_cast<const void*>(&fatbin), "sm_90", image), hipSuccess);
  EXPECT_EQ(image->bytes().size(), 40u);
  EXPECT_FALSE(image->describes_kernels());
  EXPECT_TRUE(image->can_print()) << "its parts may be compressed";
  fatbin.part_bytes = 9;
  EXPECT_EQ(CodeImage::read(static_cast<const void*>(&fatbin), "sm_90", image), hipErrorInvalidImage);
}

TEST(CodeImage, PtxThatPrintsNamesTheDriversFunctions) {
  const auto prints = [](const std::string& ptx) {
    std::shared_ptr<const CodeImage> image;
    EXPECT_EQ(CodeImage::read(ptx.c_str(), "sm_90", image), hipSuccess);
    return image && image->can_print();
  };
  EXPECT_FALSE(prints(kPtx));
  EXPECT_TRUE(prints(kPtx + ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"));
  EXPECT_TRUE(prints(kPtx + ".extern .func __assertfail (.param .b64 m);\n"));
}

TEST(CodeImage, OtherDevicesHaveNoUseForIt) {
  std::shared_ptr<const CodeImage> image;
  EXPECT_EQ(CodeImage::read(kPtx.c_str(), "x86_64-cpu", image), hipErrorNoBinaryForGpu);
  EXPECT_EQ(CodeImage::read(kPtx.c_str(), "gfx90a", image), hipErrorNoBinaryForGpu);
  EXPECT_EQ(CodeImage::read("neither of these", "sm_90", image), hipErrorInvalidImage);
}

TEST(CodeImage, WhatIsMissingIsToldOnce) {
  std::shared_ptr<const CodeImage> image;
  ::testing::internal::CaptureStderr();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(CodeImage::read(kPtx.c_str(), "gfx1201", image), hipErrorNoBinaryForGpu);
    EXPECT_EQ(CodeImage::read(kPtx.c_str(), "gfx1200", image), hipErrorNoBinaryForGpu);
  }
  const std::string told = ::testing::internal::GetCapturedStderr();
  for (const char* const target : {"gfx1200", "gfx1201"}) {
    EXPECT_NE(told.find(target), std::string::npos) << told;
    EXPECT_EQ(told.find(target), told.rfind(target)) << told;
  }
}

TEST(CodeImage, SpirvIsRefusedWithItsReason) {
  const std::uint32_t spirv[16] = {0x07230203, 0x00010600};
  std::shared_ptr<const CodeImage> image;
  ::testing::internal::CaptureStderr();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(CodeImage::read(static_cast<const void*>(spirv), "gfx942", image), hipErrorNoBinaryForGpu);
    EXPECT_EQ(CodeImage::read(std::as_bytes(std::span(spirv)), "gfx942", image), hipErrorNoBinaryForGpu);
  }
  const std::string told = ::testing::internal::GetCapturedStderr();
  for (const char* const text : {"SPIR-V, which is not compiled here; build it for the device",
                                 "SPIR-V, which is not compiled here; build it for gfx942"}) {
    EXPECT_NE(told.find(text), std::string::npos) << told;
    EXPECT_EQ(told.find(text), told.rfind(text)) << "told once: " << told;
  }
}

}  // namespace
}  // namespace tf::proxy
