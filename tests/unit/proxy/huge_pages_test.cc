// SPDX-License-Identifier: Apache-2.0
#include "proxy/memory/huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace tf::proxy {
namespace {

// Shared memory of a file, at an address of whole units.
class Mapping {
 public:
  explicit Mapping(std::uint64_t bytes) : bytes_(bytes) {
    file_ = ::memfd_create("huge-pages-test", MFD_CLOEXEC);
    if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(bytes)) != 0) return;
    void* const room = ::mmap(nullptr, bytes + kHugePageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    room_ = reinterpret_cast<std::uint64_t>(room);
    address_ = (room_ + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
    ::mmap(data(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, 0);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    ::munmap(reinterpret_cast<void*>(room_), bytes_ + kHugePageBytes);
    ::close(file_);
  }
  std::uint64_t address() const { return address_; }
  std::byte* data() const { return reinterpret_cast<std::byte*>(address_); }

 private:
  std::uint64_t bytes_;
  int file_ = -1;
  std::uint64_t room_ = 0;
  std::uint64_t address_ = 0;
};

bool given_here() {
  Mapping mapping(kHugeCopyBytesMin);
  HugePages pages;
  pages.use(mapping.address(), kHugeCopyBytesMin);
  return pages.made() != 0;
}

TEST(HugePages, EveryWholeUnitOnceAndItsBytesStay) {
  if (!given_here()) GTEST_SKIP() << "this kernel makes no huge pages of memory files";
  constexpr std::uint64_t kUnits = 6;
  Mapping mapping(kUnits * kHugePageBytes);
  std::vector<std::byte> expected(kUnits * kHugePageBytes);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<std::byte>(i * 31 + i / 4096);
  std::memcpy(mapping.data(), expected.data(), expected.size());
  HugePages pages;
  pages.use(mapping.address() + 1, 3 * kHugePageBytes);  // two whole units
  EXPECT_EQ(pages.made(), 2u);
  pages.use(mapping.address() + 1, 3 * kHugePageBytes);
  EXPECT_EQ(pages.made(), 2u) << "not again";
  pages.use(mapping.address(), kUnits * kHugePageBytes);
  EXPECT_EQ(pages.made(), kUnits);
  EXPECT_EQ(std::memcmp(mapping.data(), expected.data(), expected.size()), 0);
}

TEST(HugePages, WhatIsForgottenIsAskedForAgain) {
  if (!given_here()) GTEST_SKIP() << "this kernel makes no huge pages of memory files";
  Mapping mapping(8 * kHugePageBytes);
  HugePages pages;
  pages.use(mapping.address(), 8 * kHugePageBytes);
  EXPECT_EQ(pages.made(), 8u);
  pages.forget(mapping.address() + 2 * kHugePageBytes, 3 * kHugePageBytes);
  pages.use(mapping.address(), 8 * kHugePageBytes);
  EXPECT_EQ(pages.made(), 11u);
  pages.forget(mapping.address(), 8 * kHugePageBytes);
  pages.use(mapping.address() + 6 * kHugePageBytes, 2 * kHugePageBytes);
  EXPECT_EQ(pages.made(), 13u);
}

TEST(HugePages, SmallCopiesAreLeftAlone) {
  Mapping mapping(2 * kHugePageBytes);
  HugePages pages;
  pages.use(mapping.address(), kHugeCopyBytesMin - 1);
  EXPECT_EQ(pages.made(), 0u);
}

}  // namespace
}  // namespace tf::proxy
