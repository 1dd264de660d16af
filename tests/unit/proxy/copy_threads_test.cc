// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/copy_threads.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

namespace tf::proxy {
namespace {

constexpr std::uint64_t kLarge = kSharedCopyBytesMin + 12345;
constexpr std::chrono::seconds kLong{60};

// A copy small enough to be made often.
struct Job {
  static constexpr std::uint64_t kPiece = kPieceBytesMin;
  std::byte* target;
  const std::byte* source;
  std::uint64_t bytes;

  static void copy(void* self, std::uint64_t piece) {
    const Job& job = *static_cast<const Job*>(self);
    const std::uint64_t at = piece * kPiece;
    std::memcpy(job.target + at, job.source + at, std::min(kPiece, job.bytes - at));
  }
};

std::vector<std::byte> numbered(std::uint64_t bytes, unsigned first) {
  std::vector<std::byte> memory(bytes);
  for (std::uint64_t at = 0; at < bytes; ++at)
    memory[at] = static_cast<std::byte>((at * 2654435761U >> 13) + first);
  return memory;
}

TEST(CopyThreads, CopiesOfEverySizeAreWhole) {
  CopyThreads threads(3);
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, kSharedCopyBytesMin - 1,
                                    kSharedCopyBytesMin, kLarge, 3 * kSharedCopyBytesMin + 1}) {
    const std::vector<std::byte> source = numbered(bytes + 3, 1);
    std::vector<std::byte> target(bytes + 8, std::byte{0x77});
    threads.copy(target.data() + 5, source.data() + 3, bytes);
    EXPECT_TRUE(std::equal(source.begin() + 3, source.end(), target.begin() + 5)) << bytes;
    for (const std::size_t outside :
         {std::size_t{0}, std::size_t{4}, std::size_t{5} + bytes, std::size_t{7} + bytes})
      EXPECT_EQ(target[outside], std::byte{0x77}) << bytes;
  }
}

TEST(CopyThreads, OverlappingMemoryIsMoved) {
  CopyThreads threads(2);
  const std::vector<std::byte> original = numbered(kLarge + 4096, 5);
  for (const auto& [to, from] : {std::pair{0, 4096}, std::pair{4096, 0}}) {
    std::vector<std::byte> memory = original;
    threads.copy(memory.data() + to, memory.data() + from, kLarge);
    EXPECT_EQ(std::memcmp(memory.data() + to, original.data() + from, kLarge), 0) << to;
  }
}

TEST(CopyThreads, HelpersTakePieces) {
  CopyThreads threads(2);
  const std::vector<std::byte> source = numbered(kLarge, 9);
  std::vector<std::byte> target(kLarge);
  const auto until = std::chrono::steady_clock::now() + kLong;
  while (threads.pieces_helped() == 0 && std::chrono::steady_clock::now() < until)
    threads.copy(target.data(), source.data(), kLarge);
  EXPECT_GT(threads.pieces_helped(), 0u);
  EXPECT_EQ(target, source);
}

TEST(CopyThreads, WithoutHelpersEverythingIsThePlainCopy) {
  CopyThreads threads(0);
  EXPECT_FALSE(threads.worth(~std::uint64_t{0}));
  const std::vector<std::byte> source = numbered(kLarge, 2);
  std::vector<std::byte> target(kLarge);
  threads.copy(target.data(), source.data(), kLarge);
  bool called = false;
  EXPECT_FALSE(threads.together(
      1, [](void* self, std::uint64_t) { *static_cast<bool*>(self) = true; }, &called));
  EXPECT_FALSE(called);
  EXPECT_EQ(target, source);
  EXPECT_EQ(threads.pieces_helped(), 0u);
}

// Many copies of other memory one after the other, so that helpers are late for most of them, and callers
// that find the helpers taken.
TEST(CopyThreads, CallersDoNotDisturbEachOther) {
  CopyThreads threads(3);
  constexpr std::uint64_t kPart = kPieceBytesMin * 5 + 77;
  const auto run = [&](unsigned seed) {
    const std::vector<std::byte> source = numbered(kPart + 64, seed);
    std::vector<std::byte> target(kPart + 64);
    for (unsigned turn = 0; turn < 300; ++turn) {
      const std::uint64_t bytes = kPart - turn;
      std::fill(target.begin(), target.end(), std::byte{0});
      Job job{target.data() + turn % 64, source.data(), bytes};
      if (!threads.together((bytes + Job::kPiece - 1) / Job::kPiece, &Job::copy, &job))
        std::memcpy(job.target, job.source, bytes);
      ASSERT_EQ(std::memcmp(target.data() + turn % 64, source.data(), bytes), 0) << seed << " " << turn;
    }
  };
  std::thread first([&] { run(1); });
  std::thread second([&] { run(2); });
  run(3);
  first.join();
  second.join();
}

TEST(CopyThreads, HelpersAreTakenFromProcessorsToSpareOnly) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(CopyThreads::helpers_to_spare(), 0u);
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  const int processors = CPU_COUNT(&before);
  EXPECT_EQ(CopyThreads::helpers_to_spare() > 0, processors >= 4);
  EXPECT_LE(CopyThreads::helpers_to_spare(), kCopyHelpersUnaskedMax);
}

std::byte* guarded = nullptr;
std::atomic<int> faults{0};  // lock-free, so a handler may

void open_guarded(int) {
  faults.fetch_add(1, std::memory_order_relaxed);
  ::mprotect(guarded, kLarge, PROT_READ | PROT_WRITE);
}

// Programs that watch their pages get the fault wherever it happens.
TEST(CopyThreads, AHelpersFaultIsTheProgramsToHandle) {
  CopyThreads threads(3);
  const std::vector<std::byte> source = numbered(kLarge, 4);
  void* const got = ::mmap(nullptr, kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(got, MAP_FAILED);
  guarded = static_cast<std::byte*>(got);
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = open_guarded;
  ASSERT_EQ(::sigaction(SIGSEGV, &action, &before), 0);
  const auto until = std::chrono::steady_clock::now() + kLong;
  std::uint64_t helped = 0;
  for (unsigned turn = 0; (turn < 20 || helped == 0) && std::chrono::steady_clock::now() < until; ++turn) {
    ASSERT_EQ(::mprotect(guarded, kLarge, PROT_NONE), 0);
    threads.copy(guarded, source.data(), kLarge);
    ASSERT_EQ(std::memcmp(guarded, source.data(), kLarge), 0);
    helped = threads.pieces_helped();
  }
  ::sigaction(SIGSEGV, &before, nullptr);
  EXPECT_GE(faults.load(), 20);
  EXPECT_GT(helped, 0u);
  ::munmap(got, kLarge);
}

}  // namespace
}  // namespace tf::proxy
