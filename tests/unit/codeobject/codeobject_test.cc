// SPDX-License-Identifier: Apache-2.0
// Fat binaries, bundles, ELF notes and kernel metadata: built by hand, compressed, made by hipcc-cpu (its
// path is the first argument), cut off everywhere and with every byte damaged.
#include "hipcore/codeobject/elf.h"
#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/metadata.h"
#include "tests/unit/codeobject/builder.h"
#include "tests/unit/codeobject/paths.h"

#include <dlfcn.h>
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
  EXPECT_EQ("x86_64-cpu", target_of_entry("hipv4-x86_64-unknown-linux-gnu--x86_64-cpu"));
  EXPECT_EQ("", target_of_entry("host-x86_64-unknown-linux--"));
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

std::string zstd_frame(const std::string& plain) {
  void* library = dlopen("libzstd.so.1", RTLD_NOW);
  if (library == nullptr) return {};
  const auto compress = reinterpret_cast<std::size_t (*)(void*, std::size_t, const void*, std::size_t, int)>(
      dlsym(library, "ZSTD_compress"));
  std::string packed(plain.size() + 1024, '\0');
  packed.resize(compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  return packed;
}

std::string ccob(int version, const std::string& plain, const std::string& packed) {
  const std::uint64_t hash = 1;
  const std::uint16_t numbers[] = {static_cast<std::uint16_t>(version), 1};
  const auto u32 = [](std::size_t n) { return raw(static_cast<std::uint32_t>(n)); };
  std::string head = "CCOB" + raw(numbers);
  if (version == 1) head += u32(plain.size());
  if (version == 2) head += u32(24 + packed.size()) + u32(plain.size());
  if (version == 3) head += raw(std::uint64_t{32 + packed.size()}) + raw(std::uint64_t{plain.size()});
  return head + raw(hash) + packed;
}

TEST(Compressed, EveryVersionUnpacks) {
  const std::string plain = bundle({{"hipv4-amdgcn-amd-amdhsa--gfx942", std::string(20000, 'k')}});
  const std::string packed = zstd_frame(plain);
  if (packed.empty()) GTEST_SKIP() << "libzstd.so.1 is not installed";
  for (int version = 1; version <= 3; ++version) {
    std::string image = ccob(version, plain, packed);
    auto extent = image_extent(image.data());
    ASSERT_TRUE(extent) << extent.status().to_string();
    EXPECT_EQ(image.size(), *extent) << version;
    auto selected = select_code_object(bytes_of(image), "gfx942");
    ASSERT_TRUE(selected) << selected.status().to_string();
    EXPECT_EQ(20000u, selected->image.size());
    EXPECT_EQ('k', static_cast<char>(selected->image[19999]));
    image[image.size() - 5] = static_cast<char>(image[image.size() - 5] ^ 0x55);
    for (std::size_t cut = 0; cut + 1 < image.size(); cut += 3) {
      EXPECT_FALSE(select_code_object(bytes_of(image.substr(0, cut)), "gfx942").is_ok());
    }
  }
  EXPECT_EQ(Code::kUnsupported, decompress_bundle(bytes_of(ccob(9, plain, packed))).code());
  EXPECT_EQ(Code::kProtocol, decompress_bundle(bytes_of(ccob(2, std::string(1 << 27, 'x'), "short"))).code());
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
