// SPDX-License-Identifier: Apache-2.0
// What NVIDIA GPUs load: telling the forms apart, their lengths, which entry a device gets; and the PTX that
// hipcc-cpu makes (a bundle's path is the second argument).
#include "hipcore/codeobject/nvidia.h"

#include "hipcore/codeobject/fat_binary.h"
#include "tests/unit/codeobject/builder.h"
#include "tests/unit/codeobject/paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace tf::codeobject {
namespace {

using namespace testing;

const std::string kPtx = "//\n// Generated\n//\n\n.version 6.3\n.target sm_70\n.address_size 64\n";
const std::string kId = "hipv4-nvptx64-nvidia-cuda--";

std::string cubin() { return elf_with_note("note", kMachineCuda); }

std::string part(const std::string& body) {
  return raw(std::uint32_t{0x01010002}) + raw(std::uint32_t{16}) + raw(std::uint64_t{body.size()}) + body;
}

std::string fatbin(const std::string& parts) {
  return raw(kCudaFatbinMagic) + raw(std::uint16_t{1}) + raw(std::uint16_t{16}) +
         raw(std::uint64_t{parts.size()}) + parts;
}

std::string chosen(const std::string& image, const char* device) {
  auto selected = select_code_object(bytes_of(image), device);
  return selected ? std::string(reinterpret_cast<const char*>(selected->image.data()), selected->image.size())
                  : std::string(name(selected.code()));
}

TEST(Ptx, IsToldByItsFirstWord) {
  EXPECT_TRUE(is_ptx(bytes_of(kPtx)));
  EXPECT_TRUE(is_ptx(bytes_of(".version 7.0")));
  EXPECT_TRUE(is_ptx(bytes_of("/* .visible **/ \t\r\n// x\n.version 7.0")));
  for (const char* no : {"", "/", "//", "// .version", "/* .version 7.0", ".versio", ". version",
                         ".target sm_70", "x.version 6.0", ".ver\n.version", "/ /\n.version"}) {
    EXPECT_FALSE(is_ptx(bytes_of(no))) << no;
  }
  using namespace std::string_literals;
  EXPECT_FALSE(is_ptx(bytes_of("//\0\n.version 6.0"s)));
  EXPECT_FALSE(is_ptx(bytes_of(std::string(kMaxPtxHeadBytes, ' ') + ".version 6.0")));
  EXPECT_FALSE(starts_ptx(nullptr, 8));
}

TEST(Ptx, EndsWithItsZero) {
  auto extent = image_extent(kPtx.c_str());
  ASSERT_TRUE(extent) << extent.status().to_string();
  EXPECT_EQ(kPtx.size() + 1, *extent);
  EXPECT_EQ(kPtx.size(), ptx_text(bytes_of(kPtx)).size());
  EXPECT_EQ(kPtx.size(), ptx_text(bytes_of(kPtx + '\0' + "behind")).size());
  const std::string endless = ".version 6.3 " + std::string(static_cast<std::size_t>(kMaxPtxBytes), ' ');
  EXPECT_EQ(Code::kResourceExhausted, image_extent(endless.c_str()).code());
}

TEST(Fatbin, KnowsItsLengthAndItsParts) {
  const std::string image = fatbin(part("first") + part(std::string(100, 'x')));
  auto extent = image_extent(image.data());
  ASSERT_TRUE(extent);
  EXPECT_EQ(image.size(), *extent);
  auto inside = cuda_fatbin_extent(bytes_of(image + "behind"));
  ASSERT_TRUE(inside);
  EXPECT_EQ(image.size(), *inside);
  for (std::size_t cut = 0; cut < image.size(); ++cut)
    EXPECT_FALSE(cuda_fatbin_extent(bytes_of(image.substr(0, cut))).is_ok()) << cut;
  EXPECT_FALSE(cuda_fatbin_extent(bytes_of(fatbin(part("x") + "rest"))).is_ok());
  std::string many;
  for (int i = 0; i < 5000; ++i) many += part("");
  EXPECT_FALSE(cuda_fatbin_extent(bytes_of(fatbin(many))).is_ok());
  int refused = 0;
  for (std::size_t at = 0; at < image.size(); ++at) {
    std::string bad = image;
    bad[at] = static_cast<char>(bad[at] ^ 0x80);
    refused += cuda_fatbin_extent(bytes_of(bad)).is_ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 20);
}

TEST(SmVersion, IsReadFromTargets) {
  EXPECT_EQ(90u, sm_version("sm_90")->number);
  EXPECT_EQ(9u, sm_version("sm_90")->major());
  EXPECT_EQ(10u, sm_version("sm_100a")->major());
  EXPECT_TRUE(sm_version("sm_90a")->only);
  EXPECT_FALSE(sm_version("compute_70:x+")->only);
  for (const char* no :
       {"", "sm_", "sm_x", "sm_90ab", "sm_90x", "sm_99999999999", "sm_10000", "gfx90a", "x86_64-cpu"})
    EXPECT_FALSE(sm_version(no).has_value()) << no;
}

TEST(Select, TheNewestThatRuns) {
  const std::string other = kPtx + "// for 86\n";
  const std::string image = bundle({{"host-x86_64-unknown-linux--", ""},
                                    {"hipv4-x86_64-unknown-linux-gnu--x86_64-cpu", "cpu"},
                                    {kId + "sm_70", kPtx},
                                    {kId + "sm_86", other},
                                    {kId + "sm_90a", kPtx + "// only 90"}});
  EXPECT_EQ(kPtx, chosen(image, "sm_70"));
  EXPECT_EQ(kPtx, chosen(image, "sm_80"));
  EXPECT_EQ(other, chosen(image, "sm_89"));
  EXPECT_EQ(kPtx + "// only 90", chosen(image, "sm_90"));
  EXPECT_EQ(other, chosen(image, "sm_100"));
  EXPECT_EQ(name(Code::kUnavailable), chosen(image, "sm_61"));
  EXPECT_EQ("cpu", chosen(image, "x86_64-cpu"));
}

TEST(Select, CubinsRunOnTheirMajorVersion) {
  const std::string image =
      bundle({{kId + "sm_70", kPtx}, {kId + "sm_80", cubin()}, {kId + "sm_80", kPtx + "//80"}});
  EXPECT_EQ(kPtx, chosen(image, "sm_75"));
  EXPECT_EQ(cubin(), chosen(image, "sm_80"));
  EXPECT_EQ(cubin(), chosen(image, "sm_86"));
  EXPECT_EQ(kPtx + "//80", chosen(image, "sm_90"));
  const std::string newer = bundle({{kId + "sm_80", cubin()}, {kId + "sm_86", kPtx}});
  EXPECT_EQ(kPtx, chosen(newer, "sm_86"));
  EXPECT_EQ(cubin(), chosen(newer, "sm_80"));
  EXPECT_EQ(name(Code::kUnavailable), chosen(bundle({{kId + "sm_80", cubin()}}), "sm_90"));
  EXPECT_EQ(name(Code::kUnavailable), chosen(bundle({{kId + "sm_80", "neither"}}), "sm_90"));
}

TEST(Select, BareImagesForTheRightDevice) {
  for (const std::string& image : {kPtx, cubin(), fatbin(part("x"))}) {
    EXPECT_EQ(image, chosen(image, "sm_90"));
    EXPECT_EQ(name(Code::kUnavailable), chosen(image, "gfx90a"));
    EXPECT_EQ(name(Code::kUnavailable), chosen(image, "x86_64-cpu"));
  }
  EXPECT_EQ(name(Code::kUnavailable), chosen(elf_with_note("x"), "sm_90"));
  EXPECT_EQ(name(Code::kInvalidArgument), chosen("neither", "sm_90"));
  const std::string packed = bundle({{kId + "sm_70", fatbin(part("x"))}});
  EXPECT_EQ(fatbin(part("x")), chosen(packed, "sm_90"));
}

// PTX is text that no tool here can assemble: what the driver and the launch rely on is looked for by its
// words.
TEST(HipccCpu, ItsPtxHasTheKernelsAndTheirParameters) {
  std::ifstream file(portable_bundle, std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  if (image.empty()) GTEST_SKIP() << "no bundle at '" << portable_bundle << "'";
  if (chosen(image, "sm_90") == name(Code::kUnavailable)) GTEST_SKIP() << "this LLVM makes no PTX";
  const std::string ptx = chosen(image, "sm_90");
  EXPECT_TRUE(is_ptx(bytes_of(ptx)));
  EXPECT_EQ(ptx.size(), ptx_text(bytes_of(ptx)).size() + 1) << "one zero, at its end";
  for (const char* words :
       {".version 6.3", ".target sm_70", ".address_size 64", ".visible .entry fill(",
        ".param .u64 fill_param_0,", ".param .u32 fill_param_1,", ".param .u32 fill_param_2\n",
        ".visible .entry nothing()", ".param .align 8 .b8 take_struct_param_0[56],",
        ".param .u8 take_struct_param_1,", ".maxntid 64, 1, 1", ".maxntid 1024, 1, 1",
        ".visible .global .align 4 .u32 module_counter = 41;",
        ".visible .global .align 16 .b8 module_table[64];", ".extern .shared .align 16 .b8 ", "bar.sync"}) {
    EXPECT_NE(std::string::npos, ptx.find(words)) << words;
  }
  EXPECT_EQ(std::string::npos, ptx.find(".extern .func")) << "nothing is left for a linker";
  auto for_cores = select_code_object(bytes_of(image), "x86_64-cpu");
  EXPECT_TRUE(for_cores.is_ok());
}

}  // namespace
}  // namespace tf::codeobject
