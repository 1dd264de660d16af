// SPDX-License-Identifier: Apache-2.0
// Compressed offload bundles: every version with every method, one behind another, at the end of memory, with
// claims that are not true, cut off and damaged.
#include "hipcore/codeobject/fat_binary.h"
#include "tests/unit/codeobject/builder.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <tuple>

namespace tf::codeobject {
namespace {

using namespace testing;

constexpr std::uint16_t kZlib = 0, kZstd = 1;

// Empty if the library is not installed.
std::string packed_by(std::uint16_t method, const std::string& plain) {
  std::string packed(plain.size() + 1024, '\0');
  if (method == kZstd) {
    void* library = dlopen("libzstd.so.1", RTLD_NOW);
    if (library == nullptr) return {};
    const auto compress =
        reinterpret_cast<std::size_t (*)(void*, std::size_t, const void*, std::size_t, int)>(
            dlsym(library, "ZSTD_compress"));
    packed.resize(compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
    return packed;
  }
  void* library = dlopen("libz.so.1", RTLD_NOW);
  if (library == nullptr) return {};
  const auto compress = reinterpret_cast<int (*)(void*, unsigned long*, const void*, unsigned long)>(
      dlsym(library, "compress"));
  unsigned long bytes = packed.size();
  if (compress(packed.data(), &bytes, plain.data(), plain.size()) != 0) return {};
  packed.resize(bytes);
  return packed;
}

std::string ccob(int version, std::uint16_t method, std::size_t plain_bytes, const std::string& packed) {
  const std::uint64_t hash = 1;
  const std::uint16_t numbers[] = {static_cast<std::uint16_t>(version), method};
  const auto u32 = [](std::size_t n) { return raw(static_cast<std::uint32_t>(n)); };
  std::string head = "CCOB" + raw(numbers);
  if (version == 1) head += u32(plain_bytes);
  if (version == 2) head += u32(24 + packed.size()) + u32(plain_bytes);
  if (version == 3) head += raw(std::uint64_t{32 + packed.size()}) + raw(std::uint64_t{plain_bytes});
  return head + raw(hash) + packed;
}

// A bundle that does not shrink to next to nothing.
std::string plain_bundle(char seed) {
  std::string code(20000, '\0');
  std::uint32_t state = static_cast<std::uint8_t>(seed);
  for (char& c : code) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24 & 0x0f);
  }
  return bundle({{"hipv4-amdgcn-amd-amdhsa--gfx942", seed + code}});
}

class Compressed : public ::testing::TestWithParam<std::tuple<std::uint16_t, int>> {
 protected:
  void SetUp() override {
    if (packed_by(method_, "x").empty()) GTEST_SKIP() << "the library of method " << method_ << " is missing";
  }
  std::string image_of(const std::string& plain) const {
    return ccob(version_, method_, plain.size(), packed_by(method_, plain));
  }
  static char first_byte(Bytes image) {
    auto selected = select_code_object(image, "gfx942");
    return selected && selected->image.size() == 20001 ? static_cast<char>(selected->image[0]) : '\0';
  }

  const std::uint16_t method_ = std::get<0>(GetParam());
  const int version_ = std::get<1>(GetParam());
};

INSTANTIATE_TEST_SUITE_P(, Compressed,
                         ::testing::Combine(::testing::Values(kZlib, kZstd), ::testing::Range(1, 4)));

TEST_P(Compressed, OneBehindAnotherEndsWhereTheNextBegins) {
  const std::string first = image_of(plain_bundle('a')), second = image_of(plain_bundle('b'));
  const std::string both = first + second + "behind";
  auto extent = image_extent(both.data());
  ASSERT_TRUE(extent) << extent.status().to_string();
  EXPECT_EQ(first.size(), *extent);
  EXPECT_EQ('a', first_byte(bytes_of(both).first(static_cast<std::size_t>(*extent))));
  extent = image_extent(both.data() + first.size());
  ASSERT_TRUE(extent) << extent.status().to_string();
  EXPECT_EQ(second.size(), *extent);
  EXPECT_EQ('b', first_byte(bytes_of(both).subspan(first.size())));
}

TEST_P(Compressed, NothingBehindItsEndIsRead) {
  const std::string image = image_of(plain_bundle('e'));
  const std::size_t page = 4096, room = (image.size() + page - 1) / page * page;
  void* const memory = mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  ASSERT_EQ(0, mprotect(static_cast<std::byte*>(memory) + room, page, PROT_NONE));
  std::byte* const begin = static_cast<std::byte*>(memory) + room - image.size();
  std::memcpy(begin, image.data(), image.size());
  auto extent = image_extent(begin);
  ASSERT_TRUE(extent) << extent.status().to_string();
  EXPECT_EQ(image.size(), *extent);
  EXPECT_EQ('e', first_byte({begin, image.size()}));
  munmap(memory, room + page);
}

TEST_P(Compressed, ClaimsThatAreNotTrueAreRefused) {
  const std::string plain = plain_bundle('c');
  const std::string packed = packed_by(method_, plain);
  for (const std::size_t claim : {plain.size() - 1, plain.size() + 1, plain.size() / 2, std::size_t{0}}) {
    EXPECT_EQ(Code::kProtocol, decompress_bundle(bytes_of(ccob(version_, method_, claim, packed))).code())
        << claim;
  }
  const std::string endless(1 << 27, 'x');
  EXPECT_EQ(Code::kProtocol,
            decompress_bundle(bytes_of(ccob(version_, method_, endless.size(), "short"))).code());
}

// As large as a bundle may be; what is larger is refused for that.
TEST(CompressedBundle, UnpackedItMayHaveFourGibibytes) {
  constexpr std::size_t kGibibyte = std::size_t{1} << 30;
  const auto code = [](std::size_t claim) {
    return decompress_bundle(bytes_of(ccob(3, kZstd, claim, "short"))).code();
  };
  EXPECT_EQ(Code::kProtocol, code(3 * kGibibyte)) << "only the claim is not true";
  EXPECT_EQ(Code::kProtocol, code(4 * kGibibyte));
  EXPECT_EQ(Code::kResourceExhausted, code(4 * kGibibyte + 1));
}

TEST_P(Compressed, CutAndDamagedOnesAreSurvived) {
  const std::string image = image_of(plain_bundle('d'));
  for (std::size_t cut = 0; cut < image.size(); cut += 23)
    EXPECT_FALSE(decompress_bundle(bytes_of(image.substr(0, cut))).is_ok()) << cut;
  // Of both methods, only zlib has a checksum of what it unpacks: zstd's is optional.
  int refused = 0;
  for (std::size_t at = 0; at < image.size(); at += 17) {
    std::string bad = image;
    bad[at] = static_cast<char>(bad[at] ^ 0x55);
    refused += decompress_bundle(bytes_of(bad)).is_ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 1);
}

TEST(CompressedBundle, UnknownVersionsAndMethodsAreNamed) {
  for (const std::string& image : {ccob(9, kZstd, 100, "packed"), ccob(2, 7, 100, "packed")}) {
    auto refused = decompress_bundle(bytes_of(image));
    EXPECT_EQ(Code::kUnsupported, refused.code());
    EXPECT_NE(std::string::npos, refused.status().message().find("known")) << refused.status().to_string();
  }
  EXPECT_EQ(Code::kUnsupported, image_extent(ccob(1, 7, 100, std::string(64, 'p')).data()).code());
}

}  // namespace
}  // namespace tf::codeobject
