// SPDX-License-Identifier: Apache-2.0
// Clients whose flags, code objects or mere number are not what they should be.
#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "session_rig.h"
#include "worker/log_limit.h"
#include "worker/modules.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

TEST(Flags, ACallThatNobodyWaitsForIsNotAnswered) {
  SessionRig rig;
  rig.start();
  rig.post(protocol::SynchronizeStreamRequest{0});
  protocol::SynchronizeStreamRequest unknown{};
  unknown.stream = protocol::Handle(protocol::HandleKind::kStream, 1, 5).raw();
  rig.post(unknown);
  EXPECT_EQ(rig.synchronize(0), hipSuccess);
  EXPECT_EQ(rig.queue().dropped_replies(), 0u);
  ASSERT_EQ(rig.faults().size(), 1u);  // its failure is not lost
  EXPECT_EQ(rig.faults()[0].error, hipErrorInvalidHandle);
}

TEST(Flags, APostThatSomebodyWaitsForIsAnswered) {
  SessionRig rig;
  rig.start();
  EXPECT_EQ(rig.call(protocol::CallbackDoneRequest{5}), hipSuccess);
  EXPECT_EQ(rig.call(protocol::FreeMemoryRequest{5}), hipErrorInvalidValue);
  EXPECT_EQ(rig.call(protocol::GoodbyeRequest{}), hipSuccess);
  EXPECT_TRUE(rig.wait_end().is_ok());
}

std::vector<std::byte> elf_of(const Elf64_Ehdr& header, std::size_t bytes) {
  std::vector<std::byte> image(bytes);
  std::memcpy(image.data(), &header, sizeof header);
  return image;
}

TEST(CodeObjects, HeadersThatPointOutsideAreRefused) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phnum = 1;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phoff = sizeof header;
  constexpr std::size_t kBytes = 4096;
  std::vector<std::byte> image = elf_of(header, kBytes);
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_offset = 4000;
  segment.p_filesz = 96;
  std::memcpy(image.data() + sizeof header, &segment, sizeof segment);
  EXPECT_TRUE(is_self_contained(image));
  EXPECT_FALSE(is_self_contained(std::span(image).first(kBytes - 1)));
  segment.p_filesz = 97;
  std::memcpy(image.data() + sizeof header, &segment, sizeof segment);
  EXPECT_FALSE(is_self_contained(image));

  header.e_phoff = kBytes - sizeof(Elf64_Phdr) + 1;
  EXPECT_FALSE(is_self_contained(elf_of(header, kBytes)));
  header.e_phoff = ~std::uint64_t{0} - 8;
  EXPECT_FALSE(is_self_contained(elf_of(header, kBytes)));
  header.e_phnum = 0;
  header.e_shnum = 0xffff;
  header.e_shentsize = sizeof(Elf64_Shdr);
  EXPECT_FALSE(is_self_contained(elf_of(header, kBytes)));
}

TEST(CodeObjects, WrappersAndBundlesAreRefused) {
  std::array<std::byte, 64> image{};
  EXPECT_TRUE(is_self_contained(image));  // unknown to us: the runtime's to judge
  EXPECT_FALSE(is_self_contained(std::span(image).first(3)));
  std::memcpy(image.data(), "FPIH\1\0\0\0", 8);
  EXPECT_FALSE(is_self_contained(image));
  std::memcpy(image.data(), "CCOB", 4);
  EXPECT_FALSE(is_self_contained(image));
  std::memcpy(image.data(), "__CLANG_OFFLOAD_BUNDLE__", 24);
  EXPECT_FALSE(is_self_contained(image));
  std::memcpy(image.data(), ELFMAG, SELFMAG);
  EXPECT_FALSE(is_self_contained(std::span(image).first(16)));
}

TEST(LogLimit, AFloodLeavesABurstAndACount) {
  LogLimit limit;
  LogLimit::Clock::time_point now = LogLimit::Clock::now();
  unsigned allowed = 0;
  for (int line = 0; line < 1000; ++line) allowed += limit.allow(now) ? 1 : 0;
  EXPECT_EQ(allowed, kLogBurst);
  EXPECT_EQ(limit.left_out(), 1000 - kLogBurst);
  EXPECT_TRUE(limit.exhausted(now));
  now += kLogPeriod;
  EXPECT_FALSE(limit.exhausted(now));
  EXPECT_TRUE(limit.allow(now));
  EXPECT_FALSE(limit.allow(now));
  now += 1000 * kLogPeriod;  // quiet for long: one burst, not a thousand lines
  allowed = 0;
  for (int line = 0; line < 1000; ++line) allowed += limit.allow(now) ? 1 : 0;
  EXPECT_EQ(allowed, kLogBurst);
}

}  // namespace
}  // namespace tf::worker
