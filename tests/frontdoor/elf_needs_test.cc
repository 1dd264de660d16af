// SPDX-License-Identifier: Apache-2.0
// Files that a user runs are read as they are: cut short, with numbers changed, or no ELF files at all.
#include "tools/hip-remote/elf_needs.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "tools/hip-remote/loader_cache.h"

namespace tf::tools {
namespace {

std::string own_bytes() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ElfNeedsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "elf-needs-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "file"; }
  void write(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }

  std::filesystem::path folder_;
};

// A file of 4 KiB with everything in it: one segment, the dynamic section and its names.
struct SmallFile {
  Elf64_Ehdr header{};
  Elf64_Phdr segments[2]{};
  Elf64_Dyn dynamic[4]{};
  char names[3000]{};

  SmallFile() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = EM_X86_64;
    header.e_phoff = offsetof(SmallFile, segments);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    segments[0] = {.p_type = PT_LOAD,
                   .p_flags = 0,
                   .p_offset = 0,
                   .p_vaddr = 0x1000,
                   .p_paddr = 0,
                   .p_filesz = sizeof(SmallFile),
                   .p_memsz = sizeof(SmallFile),
                   .p_align = 1};
    segments[1] = {.p_type = PT_DYNAMIC,
                   .p_flags = 0,
                   .p_offset = offsetof(SmallFile, dynamic),
                   .p_vaddr = 0,
                   .p_paddr = 0,
                   .p_filesz = sizeof dynamic,
                   .p_memsz = 0,
                   .p_align = 1};
    dynamic[0] = {.d_tag = DT_NEEDED, .d_un = {.d_val = 1}};
    dynamic[1] = {.d_tag = DT_STRTAB, .d_un = {.d_ptr = 0x1000 + offsetof(SmallFile, names)}};
    dynamic[2] = {.d_tag = DT_RUNPATH, .d_un = {.d_val = 20}};
    std::strcpy(names + 1, "libamdhip64.so.6");
    std::strcpy(names + 20, "/opt/x");
  }
  std::string bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};

TEST_F(ElfNeedsTest, OwnProgramNeedsTheCLibrary) {
  const Result<ElfNeeds> needs = read_elf_needs("/proc/self/exe");
  ASSERT_TRUE(needs) << needs.status().to_string();
  EXPECT_EQ(std::ranges::count(needs.value().libraries, "libc.so.6"), 1);
}

TEST_F(ElfNeedsTest, EverythingInASmallFile) {
  write(SmallFile().bytes());
  const Result<ElfNeeds> needs = read_elf_needs(path());
  ASSERT_TRUE(needs) << needs.status().to_string();
  EXPECT_EQ(needs.value().libraries, std::vector<std::string>{"libamdhip64.so.6"});
  EXPECT_EQ(needs.value().runpath, "/opt/x");
  const std::vector<HipLibrary> needed = hip_libraries(path(), "", "");
  ASSERT_EQ(needed.size(), 1u);
  EXPECT_EQ(needed[0].needed_by, path());
  EXPECT_EQ(needed[0].name, "libamdhip64.so.6");
  EXPECT_FALSE(needed[0].found);
  write(SmallFile().bytes());
  EXPECT_TRUE(hip_libraries(path(), "", "/opt/y/libamdhip64.so.6").empty()) << "preloaded";
}

TEST_F(ElfNeedsTest, WhatIsNoElfFileNeedsNothing) {
  for (const std::string& bytes : {std::string(), std::string("#!/bin/sh\n"), std::string(4, '\0'),
                                   std::string(ELFMAG), own_bytes().substr(0, sizeof(Elf64_Ehdr) - 1)}) {
    write(bytes);
    const Result<ElfNeeds> needs = read_elf_needs(path());
    ASSERT_TRUE(needs);
    EXPECT_TRUE(needs.value().libraries.empty());
  }
  EXPECT_TRUE(read_elf_needs(folder_));
  EXPECT_TRUE(read_elf_needs("/nosuch"));
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(read_elf_needs(pipe)) << "nobody writes to it: opening must not wait";
}

TEST_F(ElfNeedsTest, NumbersThatLeadOutside) {
  const auto refused = [&](const SmallFile& file) {
    write(file.bytes());
    return read_elf_needs(path()).code() == Code::kProtocol;
  };
  SmallFile file;
  file.dynamic[0].d_un.d_val = ~0ull - 5;
  EXPECT_TRUE(refused(file)) << "a name before the start";
  file = SmallFile();
  file.dynamic[0].d_un.d_val = sizeof(SmallFile);
  EXPECT_TRUE(refused(file)) << "a name behind the end";
  file = SmallFile();
  file.dynamic[1].d_un.d_ptr = 1;
  EXPECT_TRUE(refused(file)) << "names in no segment";
  file = SmallFile();
  file.dynamic[1].d_tag = DT_DEBUG;
  EXPECT_TRUE(refused(file)) << "no names";
  file = SmallFile();
  file.segments[1].p_offset = ~0ull - 8;
  EXPECT_TRUE(refused(file)) << "the dynamic section";
  file = SmallFile();
  std::memset(file.names, 'x', sizeof file.names);
  EXPECT_TRUE(refused(file)) << "a name without an end";
  file = SmallFile();
  file.header.e_phnum = 65535;
  write(file.bytes());
  EXPECT_TRUE(read_elf_needs(path())) << "headers that are not there are none";
}

// Of whatever is made of a file nothing comes but an answer: a sanitizer is the judge, and the test's time.
TEST_F(ElfNeedsTest, EveryCutAndManyChanges) {
  const std::string good = SmallFile().bytes();
  for (std::size_t length = 0; length < sizeof(SmallFile) - sizeof(SmallFile::names) + 64; ++length) {
    write(good.substr(0, length));
    (void)read_elf_needs(path());
  }
  std::mt19937 random(20261123);
  constexpr std::size_t kHead = offsetof(SmallFile, names);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (int change = 0; change < 1 + round % 8; ++change)
      bytes[random() % kHead] = static_cast<char>(random());
    write(bytes);
    (void)read_elf_needs(path());
  }
}

TEST_F(ElfNeedsTest, LoaderCache) {
  EXPECT_TRUE(LoaderCache().find("libc.so.6").has_value() || !std::filesystem::exists("/etc/ld.so.cache"));
  EXPECT_FALSE(LoaderCache("/nosuch").find("libc.so.6"));
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  std::mt19937 random(7);
  for (int round = 0; round < 200 && !good.empty(); ++round) {
    std::string bytes = good.substr(0, random() % good.size());
    for (int change = 0; change < 20 && !bytes.empty(); ++change)
      bytes[random() % std::min<std::size_t>(bytes.size(), 400)] = static_cast<char>(random());
    write(bytes);
    (void)LoaderCache(path()).find("libc.so.6");
  }
}

}  // namespace
}  // namespace tf::tools
