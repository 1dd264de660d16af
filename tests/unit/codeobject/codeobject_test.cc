// SPDX-License-Identifier: Apache-2.0
// Fat binaries, bundles, ELF notes and kernel metadata: built by hand, made by hipcc-cpu (its path is the
// first argument), cut off everywhere and with every byte damaged. (Compressed ones: compressed_test.cc.)
#include "hipcore/codeobject/elf.h"
#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/metadata.h"
#include "hipcore/codeobject/targets.h"
#include "tests/unit/codeobject/builder.h"
#include "tests/unit/codeobject/paths.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace tf::codeobject {
namespace {

using namespace testing;

std::string kernel_note() {
  const std::string arguments =
      array({argument(0, 16, "by_value"), argument(16, 2, "by_value"), argument(24, 8, "global_buffer"),
             argument(32, 4, "hidden_block_count_x"), argument(40, 8, "hidden_global_offset_x")});
  const std::string kernel = map({{".name", text("mixed")},
                                  {".symbol", text("mixed.kd")},
                                  {".args", arguments},
                                  {".kernarg_segment_size", number(320)},
                                  {".kernarg_segment_align", number(8)},
                                  {".group_segment_fixed_size", number(1024)},
                                  {".max_flat_workgroup_size", number(256)},
                                  {".wavefront_size", number(64)},
                                  {".vgpr_count", number(12)},
                                  {".something_new", array({number(1), text("x")})}});
  return map({{"amdhsa.version", array({number(1), number(2)})}, {"amdhsa.kernels", array({kernel})}});
}

TEST(Metadata, ReadsExplicitArgumentsAndLimits) {
  auto kernels = read_metadata(bytes_of(elf_with_note(kernel_note())));
  ASSERT_TRUE(kernels) << kernels.status().to_string();
  ASSERT_EQ(1u, kernels->size());
  const KernelInfo& kernel = (*kernels)[0];
  EXPECT_EQ("mixed", kernel.name);
  EXPECT_EQ("mixed.kd", kernel.symbol);
  ASSERT_EQ(3u, kernel.arguments.size());
  EXPECT_EQ(24u, kernel.arguments[2].offset_bytes);
  EXPECT_EQ(ArgumentKind::kPointer, kernel.arguments[2].kind);
  EXPECT_EQ(320u, kernel.argument_bytes);
  EXPECT_EQ(32u, kernel.explicit_argument_bytes);
  EXPECT_EQ(1024u, kernel.static_shared_bytes);
  EXPECT_EQ(256u, kernel.max_threads_per_block);
  EXPECT_EQ(12u, kernel.vector_registers);
  EXPECT_TRUE(kernel.parks);
  EXPECT_FALSE(kernel.can_print);
}

// AMD's linker keeps the note of each object that it joins: rocBLAS has code objects with 14,080.
TEST(Metadata, ReadsTheNotesOfAllJoinedObjects) {
  constexpr std::size_t kObjects = 15'000;
  std::vector<std::string> notes;
  for (std::size_t at = 0; at < kObjects; ++at) {
    const std::string kernel =
        map({{".name", text("k" + std::to_string(at))}, {".kernarg_segment_size", number(8)}});
    notes.push_back(map({{"amdhsa.kernels", array({kernel})}}));
  }
  auto kernels = read_metadata(bytes_of(elf_with_notes(notes)));
  ASSERT_TRUE(kernels) << kernels.status().to_string();
  ASSERT_EQ(kObjects, kernels->size());
  EXPECT_EQ("k0", kernels->front().name);
  EXPECT_EQ("k14999", kernels->back().name);
  notes.back() = "x";
  EXPECT_EQ(Code::kProtocol, read_metadata(bytes_of(elf_with_notes(notes))).code());
}

TEST(Metadata, NotesTogetherHaveALimit) {
  std::vector<std::string> kernels(15, map({{".name", text("k")}, {".kernarg_segment_size", number(8)}}));
  const std::string note = map({{"amdhsa.kernels", array(kernels)}});
  EXPECT_TRUE(
      read_metadata(bytes_of(elf_with_notes(std::vector<std::string>(kMaxKernels / 15, note)))).is_ok());
  EXPECT_EQ(
      Code::kProtocol,
      read_metadata(bytes_of(elf_with_notes(std::vector<std::string>(kMaxKernels / 15 + 1, note)))).code());
}

// AMD's compiler gives such kernels a buffer to print with, ours says it.
TEST(Metadata, SaysWhichKernelsPrint) {
  const auto prints = [](const std::string& key, const std::string& value) {
    const std::string kernel =
        map({{".name", text("k")}, {".kernarg_segment_size", number(64)}, {key, value}});
    auto kernels = parse_metadata(bytes_of(map({{"amdhsa.kernels", array({kernel})}})));
    EXPECT_TRUE(kernels) << kernels.status().to_string();
    EXPECT_TRUE(kernels && (*kernels)[0].arguments.empty());
    return kernels && (*kernels)[0].can_print;
  };
  const auto argument_of = [](const char* kind) { return array({argument(8, 8, kind)}); };
  EXPECT_TRUE(prints(".args", argument_of("hidden_hostcall_buffer")));
  EXPECT_TRUE(prints(".args", argument_of("hidden_printf_buffer")));
  EXPECT_FALSE(prints(".args", argument_of("hidden_global_offset_x")));
  EXPECT_TRUE(prints(".hipr_prints", "\xc3"));
  EXPECT_FALSE(prints(".hipr_prints", "\xc2"));
}

TEST(Metadata, RefusesArgumentsOutsideTheirBlock) {
  const std::string bad = map({{".name", text("k")},
                               {".kernarg_segment_size", number(8)},
                               {".args", array({argument(0xfffffffc, 8, "by_value")})}});
  EXPECT_EQ(Code::kProtocol, parse_metadata(bytes_of(map({{"amdhsa.kernels", array({bad})}}))).code());
  const std::string nameless = map({{".kernarg_segment_size", number(8)}});
  EXPECT_EQ(Code::kProtocol, parse_metadata(bytes_of(map({{"amdhsa.kernels", array({nameless})}}))).code());
  EXPECT_EQ(Code::kUnavailable,
            read_metadata(bytes_of(elf_with_note(kernel_note()).replace(128, 4, "XXXX"))).code());
}

TEST(Targets, FeaturesDecide) {
  EXPECT_GE(match_target("gfx90a", "gfx90a:sramecc+:xnack-"), 0);
  EXPECT_GT(match_target("gfx90a:xnack-", "gfx90a:sramecc+:xnack-"),
            match_target("gfx90a", "gfx90a:sramecc+:xnack-"));
  EXPECT_LT(match_target("gfx90a:xnack+", "gfx90a:sramecc+:xnack-"), 0);
  EXPECT_LT(match_target("gfx90a:xnack+", "gfx90a"), 0);
  EXPECT_LT(match_target("gfx90", "gfx90a"), 0);
  EXPECT_LT(match_target("", ""), 0);
  EXPECT_EQ("gfx90a:xnack-", target_of_entry("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"));
  EXPECT_EQ("gfx906", target_of_entry("hip-amdgcn-amd-amdhsa-gfx906"));
  EXPECT_EQ("gfx9-4-generic:xnack-",
            target_of_entry("hipv4-amdgcn-amd-amdhsa-unknown-gfx9-4-generic:xnack-"));
  EXPECT_EQ("gfx9-4-generic", target_of_entry("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic"));
  EXPECT_EQ("", target_of_entry("hipv4-amdgcn-gfx906"));
  EXPECT_EQ("x86_64-cpu", target_of_entry("hipv4-x86_64-unknown-linux-gnu--x86_64-cpu"));
  EXPECT_EQ("", target_of_entry("host-x86_64-unknown-linux--"));
}

TEST(Targets, GenericCodeRunsOnItsFamily) {
  EXPECT_GE(match_target("gfx9-4-generic", "gfx942:sramecc+:xnack-"), 0);
  EXPECT_GE(match_target("gfx9-4-generic:xnack-", "gfx950:sramecc+:xnack-"), 0);
  EXPECT_LT(match_target("gfx9-4-generic:xnack+", "gfx942:sramecc+:xnack-"), 0);
  EXPECT_LT(match_target("gfx9-4-generic", "gfx90a:sramecc+:xnack-"), 0);
  EXPECT_GE(match_target("gfx9-generic", "gfx90c:xnack-"), 0);
  EXPECT_LT(match_target("gfx9-generic", "gfx90"), 0);
  EXPECT_GE(match_target("gfx10-1-generic", "gfx1013"), 0);
  EXPECT_LT(match_target("gfx10-1-generic", "gfx1030"), 0);
  EXPECT_GE(match_target("gfx10-3-generic", "gfx1030"), 0);
  EXPECT_GE(match_target("gfx11-generic", "gfx1153"), 0);
  EXPECT_GE(match_target("gfx12-generic", "gfx1201"), 0);
  EXPECT_LT(match_target("gfx12-generic", "gfx1250"), 0);
  EXPECT_GE(match_target("gfx12-5-generic", "gfx1251"), 0);
  // Code for the processor itself precedes generic code, however many features that names.
  EXPECT_GT(match_target("gfx942", "gfx942:sramecc+:xnack-"),
            match_target("gfx9-4-generic:sramecc+:xnack-", "gfx942:sramecc+:xnack-"));
  EXPECT_LT(match_target("gfx942", "gfx9-4-generic"), 0);
  EXPECT_EQ("", generic_processor(""));
  EXPECT_EQ("", generic_processor("x86_64-cpu"));
}

TEST(Bundle, SelectsTheBestEntryAndKnowsItsLength) {
  const std::string image = bundle({{"host-x86_64-unknown-linux--", ""},
                                    {"hipv4-amdgcn-amd-amdhsa--gfx90a", "plain"},
                                    {"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "xnack"},
                                    {"hipv4-amdgcn-amd-amdhsa--gfx1100", "other"}});
  auto extent = image_extent(image.data());
  ASSERT_TRUE(extent);
  EXPECT_EQ(image.size(), *extent);
  const auto chosen = [&image](const char* device) {
    auto selected = select_code_object(bytes_of(image), device);
    return selected
               ? std::string(reinterpret_cast<const char*>(selected->image.data()), selected->image.size())
               : std::string(name(selected.code()));
  };
  EXPECT_EQ("plain", chosen("gfx90a:sramecc+:xnack-"));
  EXPECT_EQ("xnack", chosen("gfx90a:sramecc+:xnack+"));
  EXPECT_EQ("other", chosen("gfx1100"));
  EXPECT_EQ(name(Code::kUnavailable), chosen("gfx942"));
}

TEST(Bundle, WhatItHasIsNamed) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (int i = 0; i < 20; ++i)
    entries.emplace_back("hipv4-amdgcn-amd-amdhsa--gfx9" + std::to_string(10 + i), "code");
  const std::string image = bundle(entries);
  const std::string text = select_code_object(bytes_of(image), "gfx1100").status().message();
  EXPECT_NE(std::string::npos, text.find("no code object for gfx1100")) << text;
  EXPECT_NE(std::string::npos, text.find("gfx910")) << text;
  EXPECT_EQ(std::string::npos, text.find("gfx929")) << text;
  EXPECT_NE(std::string::npos, text.find("and 4 more")) << text;
}

TEST(Bundle, SpirvIsRefusedByName) {
  const std::string spirv = raw(kSpirvMagic) + std::string(60, '\0');
  const std::string only =
      bundle({{"host-x86_64-unknown-linux--", ""}, {"hip-spirv64-amd-amdhsa--amdgcnspirv", spirv}});
  auto refused = select_code_object(bytes_of(only), "gfx942:sramecc+:xnack-");
  EXPECT_EQ(Code::kUnsupported, refused.code());
  EXPECT_NE(std::string::npos, refused.status().message().find("SPIR-V")) << refused.status().to_string();
  EXPECT_EQ(Code::kUnsupported, select_code_object(bytes_of(spirv), "gfx942").code());
  EXPECT_EQ(Code::kUnsupported, image_extent(spirv.data()).code());
  const std::string also = bundle({{"hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", spirv},
                                   {"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", "generic"}});
  auto generic = select_code_object(bytes_of(also), "gfx942:sramecc+:xnack-");
  ASSERT_TRUE(generic) << generic.status().to_string();
  EXPECT_EQ(7u, generic->image.size());
  EXPECT_EQ(Code::kUnsupported, select_code_object(bytes_of(also), "gfx1100").code());
}

TEST(Bundle, WrapperLeadsToTheImage) {
  struct {
    std::uint32_t magic, version;
    const void *image, *unused;
  } wrapper{kWrapperMagic, 1, "image", nullptr};
  auto image = wrapped_image(&wrapper);
  ASSERT_TRUE(image);
  EXPECT_EQ(wrapper.image, *image);
  wrapper.magic = 7;
  EXPECT_EQ(Code::kInvalidArgument, wrapped_image(&wrapper).code());
  EXPECT_EQ(Code::kInvalidArgument, wrapped_image(nullptr).code());
}

TEST(Hostile, EveryCutAndEveryDamagedByteIsSurvived) {
  const std::string elf = elf_with_note(kernel_note());
  const std::string whole = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx90a", elf}});
  for (std::size_t cut = 0; cut < elf.size(); ++cut) {
    const std::string part = elf.substr(0, cut);
    EXPECT_FALSE(read_metadata(bytes_of(part)).is_ok()) << cut;
  }
  int refused = 0;
  for (std::size_t at = 0; at < elf.size(); ++at) {
    for (const char damage : {'\xff', '\x01', '\x80'}) {
      std::string bad = elf;
      bad[at] = static_cast<char>(bad[at] ^ damage);
      refused += read_metadata(bytes_of(bad)).is_ok() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 100);
  for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
    EXPECT_FALSE(select_code_object(bytes_of(whole.substr(0, cut)), "gfx90a").is_ok()) << cut;
  }
}

TEST(HipccCpu, ItsCodeObjectsReadLikeAmds) {
  std::ifstream file(cpu_code_object, std::ios::binary);
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  if (image.empty()) GTEST_SKIP() << "no code object at '" << cpu_code_object << "'";
  auto extent = image_extent(image.data());
  ASSERT_TRUE(extent);
  EXPECT_EQ(image.size(), *extent);
  auto elf = Elf::parse(bytes_of(image));
  ASSERT_TRUE(elf);
  EXPECT_EQ(kMachineX86_64, elf->machine());
  EXPECT_TRUE(elf->find("counter").has_value());
  EXPECT_FALSE(elf->find("no such symbol").has_value());
  auto kernels = read_metadata(bytes_of(image));
  ASSERT_TRUE(kernels) << kernels.status().to_string();
  for (const KernelInfo& kernel : *kernels) {
    if (kernel.name == "vector_add") {
      EXPECT_FALSE(kernel.parks);
      ASSERT_EQ(4u, kernel.arguments.size());
      EXPECT_EQ(ArgumentKind::kPointer, kernel.arguments[0].kind);
      EXPECT_EQ(24u, kernel.arguments[3].offset_bytes);
      EXPECT_EQ(28u, kernel.explicit_argument_bytes);
    }
    EXPECT_TRUE(kernel.parks || kernel.name != "reverse");
  }
}

}  // namespace
}  // namespace tf::codeobject

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1) tf::codeobject::testing::cpu_code_object = argv[1];
  if (argc > 2) tf::codeobject::testing::portable_bundle = argv[2];
  return RUN_ALL_TESTS();
}
