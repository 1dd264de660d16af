// SPDX-License-Identifier: Apache-2.0
// Clients whose flags, code objects or mere number are not what they should be.
#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "fake_runtime.h"
#include "session_rig.h"
#include "worker/base/log_limit.h"
#include "worker/session/modules.h"

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
  EXPECT_EQ(rig.call(protocol::FreeMemoryRequest{5}), hipErrorInvalidValue);
  EXPECT_EQ(rig.call(protocol::GoodbyeRequest{}), hipSuccess);
  EXPECT_TRUE(rig.wait_end().is_ok());
}

// More slices than the memory has bytes: each would be a call of the runtime, and the session would never
// end.
TEST(Boxes, ThatOverlapThemselvesAreRefused) {
  SessionRig rig;
  rig.start();
  const std::uint64_t memory = rig.lease(1 << 20);
  constexpr std::uint64_t kMany = std::uint64_t{1} << 62;
  rig.post(protocol::CopyBoxOnDeviceRequest{memory, 1, 0, memory + 64, 1, 0, 1, 1, kMany, 0});
  EXPECT_EQ(rig.synchronize(0), hipSuccess);
  rig.post(protocol::CopyBoxOnDeviceRequest{memory, 0, 0, memory + 64, 0, 0, 1, kMany, 1, 0});
  rig.post(protocol::CopyBoxFromDeviceRequest{memory, 1, 0, 1, 1, kMany, 0, 1});
  rig.post(protocol::CopyBoxToDeviceRequest{memory, 1, 0, 1, 1, kMany, 0, 2});
  EXPECT_EQ(rig.synchronize(0), hipSuccess);
  EXPECT_EQ(rig.faults().size(), 4u);
  for (const protocol::FaultNotice& fault : rig.faults()) EXPECT_EQ(fault.error, hipErrorInvalidValue);
}

// REQUIRES: a session has loaded the fake runtime
FakeRuntimeState& runtime_state() {
  void* library = ::dlopen(TF_FAKE_RUNTIME, RTLD_NOW | RTLD_NOLOAD);
  return *reinterpret_cast<decltype(&fake_runtime_state)>(::dlsym(library, "fake_runtime_state"))();
}

// As many slices as the memory holds are few calls all the same.
TEST(Boxes, OfManySlicesAreCopiedAtOnce) {
  SessionRig rig;
  rig.start();
  constexpr std::uint64_t kHalf = 1 << 19;
  const std::uint64_t memory = rig.lease(2 * kHalf);
  rig.post(protocol::CopyBoxOnDeviceRequest{memory, 1, 1, memory + kHalf, 1, 1, 1, 1, kHalf, 0});
  rig.post(protocol::CopyBoxOnDeviceRequest{memory, 2, 8, memory + kHalf, 2, 8, 2, 4, kHalf / 8, 0});
  EXPECT_EQ(rig.synchronize(0), hipSuccess);
  EXPECT_TRUE(rig.faults().empty());
  EXPECT_EQ(runtime_state().copies, 2);
}

protocol::CreateMaskedStreamRequest masked_stream(protocol::Handle created) {
  protocol::CreateMaskedStreamRequest request{};
  request.created = created.raw();
  return request;
}

TEST(MaskedStreams, HaveAMaskOfWholeWords) {
  constexpr std::size_t kWordsMax = std::size(protocol::GetComputeUnitsReply{}.mask);
  const protocol::Handle handle(protocol::HandleKind::kStream, 1, 5);
  const std::vector<std::byte> mask((kWordsMax + 1) * sizeof(std::uint32_t), std::byte{0xff});
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, std::size_t{6}, mask.size()}) {
    SessionRig rig;
    rig.start();
    rig.post(masked_stream(handle), std::span(mask).first(bytes));
    EXPECT_EQ(rig.wait_end().code(), Code::kProtocol) << bytes;
  }
  SessionRig rig;
  rig.start();
  rig.post(masked_stream(handle), std::span(mask).first(kWordsMax * sizeof(std::uint32_t)));
  EXPECT_EQ(rig.synchronize(handle.raw()), hipSuccess);
  EXPECT_EQ(runtime_state().mask_words, static_cast<int>(kWordsMax));
}

// A handle that is bound, or of another kind, is the call's error. The stream of before stays.
TEST(MaskedStreams, HaveAHandleOfAStreamThatIsFree) {
  const std::array<std::byte, sizeof(std::uint32_t)> mask{std::byte{1}};
  const protocol::Handle good(protocol::HandleKind::kStream, 1, 5);
  SessionRig rig;
  rig.start();
  rig.post(masked_stream(good), mask);
  rig.post(masked_stream(good), mask);
  rig.post(masked_stream(protocol::Handle(protocol::HandleKind::kEvent, 1, 6)), mask);
  EXPECT_EQ(rig.synchronize(good.raw()), hipSuccess);
  ASSERT_EQ(rig.faults().size(), 2u);
  for (const protocol::FaultNotice& fault : rig.faults()) EXPECT_EQ(fault.error, hipErrorInvalidHandle);
}

std::vector<std::byte> elf_of(const Elf64_Ehdr& header, std::size_t bytes) {
  std::vector<std::byte> image(bytes);
  std::memcpy(image.data(), &header, sizeof header);
  return image;
}

constexpr std::size_t kBytes = 4096;

Elf64_Ehdr elf_header() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  return header;
}

TEST(CodeObjects, HeadersThatPointOutsideAreRefused) {
  Elf64_Ehdr header = elf_header();
  header.e_phnum = 1;
  header.e_phoff = sizeof header;
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

TEST(CodeObjects, OfNvidiaStayInsideTheirBytes) {
  // Text ends with the zeros behind it, if it has none itself.
  const std::string_view ptx = "//\n.version 6.3\n.target sm_70\n.address_size 64\n";
  EXPECT_TRUE(is_self_contained(std::as_bytes(std::span(ptx))));
  Elf64_Ehdr header = elf_header();
  header.e_machine = 190;
  EXPECT_TRUE(is_self_contained(elf_of(header, kBytes)));
  header.e_shnum = 1;
  header.e_shoff = kBytes - 1;
  EXPECT_FALSE(is_self_contained(elf_of(header, kBytes)));

  std::array<std::byte, 64> image{};
  const std::uint32_t pointers = 0x466243b1, magic = 0xba55ed50;
  std::memcpy(image.data(), &pointers, sizeof pointers);
  EXPECT_FALSE(is_self_contained(image)) << "CUDA's wrapper";
  struct {
    std::uint32_t magic;
    std::uint16_t version, head_bytes;
    std::uint64_t body_bytes;
    std::uint16_t kind, unknown;
    std::uint32_t part_head_bytes;
    std::uint64_t part_bytes;
  } fatbin{magic, 1, 16, 48, 2, 0, 16, 32};
  const auto contained = [&] {
    std::memcpy(image.data(), &fatbin, sizeof fatbin);
    return is_self_contained(image);
  };
  EXPECT_TRUE(contained());
  EXPECT_FALSE(is_self_contained(std::span(image).first(63)));
  EXPECT_FALSE(is_self_contained(std::span(image).first(15)));
  fatbin.part_bytes = 33;
  EXPECT_FALSE(contained());
  fatbin.part_bytes = ~std::uint64_t{0};
  EXPECT_FALSE(contained());
  fatbin.part_bytes = 31;  // one byte is left, which is no header
  EXPECT_FALSE(contained());
  fatbin.part_bytes = 32;
  fatbin.part_head_bytes = 0;
  EXPECT_FALSE(contained());
  fatbin.part_head_bytes = 16;
  fatbin.body_bytes = ~std::uint64_t{0};
  EXPECT_FALSE(contained());
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
