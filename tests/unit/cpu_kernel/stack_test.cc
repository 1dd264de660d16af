// SPDX-License-Identifier: Apache-2.0
// Stacks of HIP threads that wait: how many there are with many streams, that they are given back, and what
// happens to a kernel that needs a larger one.
#include "tests/unit/cpu_kernel/kernel_fixture.h"
#include "worker/runtime/cpu/kernel/fiber_pool.h"
#include "worker/runtime/cpu/kernel/grid_pool.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>

namespace tf::cpu {
namespace {

constexpr std::uint32_t kThreads = kMaxThreadsPerBlock;
constexpr std::chrono::seconds kPatience{20};

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Slabs that may be mapped at once: of launches, and of each helper of the pool.
std::size_t most_slabs() { return kLaunchSlabs + GridPool::process().size() * slabs_for(kThreads); }
// An OS thread's own stack and heap, and its runner's one fiber, each with a guard.
constexpr std::size_t kMappingsPerThread = 8;

template <typename Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

using StacksTest = KernelTest;
class Stacks : public KernelTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(Stacks, OfManyStreamsAreBoundedAndGivenBack) {
  constexpr std::uint32_t kBlocks = 6;
  const std::size_t streams = GetParam();
  ASSERT_TRUE(soon([] { return FiberPool::process().counts().mapped == 0; }));
  const std::size_t before = mappings(), resident_before = resident_bytes();
  std::vector<std::vector<unsigned>> out(streams, std::vector<unsigned>(kBlocks * kThreads));
  std::vector<hipError_t> results(streams, hipErrorUnknown);
  std::atomic<std::size_t> peak{0}, most_mapped{0};
  std::barrier<> together(static_cast<std::ptrdiff_t>(streams + 1));
  std::vector<std::jthread> threads;
  for (std::size_t s = 0; s < streams; ++s) {
    threads.emplace_back([&, s] {
      together.arrive_and_wait();
      results[s] = run("meet", line(kBlocks, kThreads), out[s].data());
      together.arrive_and_wait();  // every stream's thread still has what it keeps
      together.arrive_and_wait();
    });
  }
  std::jthread watcher([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      peak = std::max(peak.load(), mappings());
      most_mapped = std::max(most_mapped.load(), FiberPool::process().counts().mapped);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  together.arrive_and_wait();
  together.arrive_and_wait();
  watcher.request_stop();
  watcher.join();
  peak = std::max(peak.load(), mappings());
  EXPECT_EQ(std::vector<hipError_t>(streams, hipSuccess), results);
  std::size_t wrong = 0;  // no ASSERT while threads wait
  for (const auto& one : out) {
    for (std::uint32_t i = 0; i < one.size(); ++i) wrong += one[i] != kThreads - 1 - i % kThreads ? 1 : 0;
  }
  EXPECT_EQ(0u, wrong);
  EXPECT_LE(most_mapped, most_slabs());
  EXPECT_TRUE(soon([] { return FiberPool::process().counts().mapped == 0; }));
  if (!sanitizer::kKeepsMemory) {
    EXPECT_LE(peak, before + kMappingsPerSlab * most_slabs() + kMappingsPerThread * (streams + 1));
    EXPECT_LE(mappings(), before + kMappingsPerThread * (streams + 1))
        << "also while the streams' threads live";
    EXPECT_LE(resident_bytes(), resident_before + (std::size_t{32} << 20));
  }
  together.arrive_and_wait();
}

INSTANTIATE_TEST_SUITE_P(Streams, Stacks, ::testing::Values(32, 64));

TEST_F(StacksTest, AKernelThatNeedsMoreFailsAndHarmsNobody) {
  std::vector<unsigned> out(kThreads);
  for (const char* name : {"recurse", "recurse_alone"}) {
    ASSERT_EQ(hipSuccess, run(name, line(1, kThreads), out.data(), 100u)) << name;
    EXPECT_EQ(5050u, out[3]) << name;
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(hipErrorLaunchFailure, run(name, line(1, kThreads), out.data(), 100000u)) << name;
    EXPECT_NE(std::string::npos, ::testing::internal::GetCapturedStderr().find("more stack")) << name;
    ASSERT_EQ(hipSuccess, run(name, line(2, kThreads), out.data(), 200u)) << name;
    EXPECT_EQ(20100u, out[3]) << name;
  }
}

TEST_F(StacksTest, TheLargestCooperativeGridHasItsShare) {
  Grid grid = line(max_cooperative_blocks(kThreads), kThreads);
  grid.cooperative = true;
  std::vector<unsigned> out(grid.blocks[0] * kThreads);
  std::vector<std::jthread> streams;
  std::vector<hipError_t> results(2, hipErrorUnknown);
  for (auto& result : results) {
    streams.emplace_back([&] { result = run("meet", grid, out.data()); });
  }
  streams.clear();
  EXPECT_EQ(std::vector<hipError_t>(2, hipSuccess), results);
  EXPECT_EQ(sanitizer::kMostFibers / kThreads, grid.blocks[0]);
}

}  // namespace
}  // namespace tf::cpu
