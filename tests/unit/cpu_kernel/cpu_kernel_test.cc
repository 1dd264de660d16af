// SPDX-License-Identifier: Apache-2.0
// The executor on code objects that hipcc-cpu made: arguments, indices, shared memory, barriers, atomics,
// waves, device variables, printing and failing. Where the code objects lie is the first argument.
#include "tests/unit/cpu_kernel/kernel_fixture.h"

#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "worker/runtime/cpu/kernel/processor.h"

namespace tf::cpu {

std::string code_objects;

namespace {

using CpuKernel = KernelTest;

TEST_F(CpuKernel, AddsVectorsOverManyBlocks) {
  const int n = 100000;
  std::vector<float> a(n), b(n), c(n, -1.0f);
  std::iota(a.begin(), a.end(), 0.0f);
  std::iota(b.begin(), b.end(), 1.0f);
  const std::uint32_t blocks = (n + 255) / 256;
  const float *pa = a.data(), *pb = b.data();
  ASSERT_EQ(hipSuccess, run("vector_add", line(blocks, 256), pa, pb, c.data(), n));
  for (int i = 0; i < n; ++i) ASSERT_EQ(a[i] + b[i], c[i]) << i;
}

TEST_F(CpuKernel, PassesEveryKindOfArgument) {
  struct Mixed {
    int a;
    char b;
    double c;
  } mixed{7, 'x', 2.5};
  struct Float3 {
    float x, y, z;
  } f3{1.5f, 2.5f, 3.5f};
  struct One {
    short value;
  } one{-3};
  struct alignas(16) Aligned {
    float x;
  } aligned{9.25f};
  struct Big {
    int values[40];
  } big{};
  struct alignas(16) Float4 {
    float x, y, z, w;
  } f4{4, 5, 6, 7};
  big.values[0] = 100;
  big.values[39] = 139;
  std::vector<double> out(19);
  const std::uint16_t half_1_5 = 0x3e00;
  ASSERT_EQ(hipSuccess, run("every_argument", line(1, 64), true, mixed, short{-9}, 'c', out.data(),
                            std::size_t{1} << 40, f3, one, aligned, big, f4, -5LL, half_1_5));
  const std::vector<double> expected = {
      1, 7, 'x', 2.5, -9, 'c', 1099511627776.0, 1.5, 2.5, 3.5, -3, 9.25, 100, 139, 4, 7, -5, 1.5, 139};
  EXPECT_EQ(expected, out);
}

TEST_F(CpuKernel, EveryThreadOfAThreeDimensionalGridRunsOnce) {
  Grid grid;
  std::copy_n(std::vector<std::uint32_t>{3, 2, 4}.data(), 3, grid.blocks);
  std::copy_n(std::vector<std::uint32_t>{5, 3, 2}.data(), 3, grid.threads);
  std::vector<unsigned> out(24 * 30, 0xffffffffu);
  ASSERT_EQ(hipSuccess, run("where_am_i", grid, out.data()));
  for (unsigned i = 0; i < out.size(); ++i) ASSERT_EQ(i / 30 * 10000 + i % 30, out[i]);
}

TEST_F(CpuKernel, SharedMemoryAndBarriersWork) {
  const std::uint32_t blocks = 500, threads = 256;
  std::vector<int> in(blocks * threads), out(in.size());
  std::iota(in.begin(), in.end(), 0);
  const int* source = in.data();
  ASSERT_EQ(hipSuccess, run("reverse", line(blocks, threads, 64), source, out.data()));
  for (std::uint32_t i = 0; i < in.size(); ++i) {
    const std::uint32_t base = i / threads * threads;
    ASSERT_EQ(static_cast<int>(base + threads - 1 - i % threads + base), out[i]) << i;
  }
  EXPECT_EQ(1024u, code_->find("reverse")->static_shared_bytes);
  EXPECT_EQ(256u, code_->find("reverse")->max_threads_per_block);
  EXPECT_NE(hipSuccess, run("reverse", line(1, 512), source, out.data())) << "beyond __launch_bounds__";
  EXPECT_NE(hipSuccess, run("reverse", line(1, 256, 65536), source, out.data())) << "beyond shared memory";
}

TEST_F(CpuKernel, TemplatesReduceWithShuffles) {
  std::vector<int> in(4 * 192, 0);
  std::iota(in.begin(), in.end(), 0);
  std::vector<int> sums(4);
  const int* source = in.data();
  ASSERT_EQ(hipSuccess, run("_Z3sumIiEvPKT_PS0_", line(4, 192), source, sums.data()));
  for (int block = 0; block < 4; ++block) {
    EXPECT_EQ(std::accumulate(in.begin() + block * 192, in.begin() + (block + 1) * 192, 0), sums[block]);
  }
  std::vector<double> halves(256, 0.5), sum(1);
  const double* from = halves.data();
  ASSERT_EQ(hipSuccess, run("_Z3sumIdEvPKT_PS0_", line(1, 256), from, sum.data()));
  EXPECT_EQ(128.0, sum[0]);
}

TEST_F(CpuKernel, WallClocksAreOne) {
  unsigned long long times[3] = {};
  ASSERT_EQ(hipSuccess, run("clocks", line(1, 1), &times[0]));
  EXPECT_NE(0u, times[0]);
  EXPECT_LE(times[0], times[1]);
  EXPECT_LE(times[1], times[2]);
}

TEST_F(CpuKernel, ClocksCountAtTheDevicesRate) {
  long long wall[4] = {}, ticks[2] = {};
  const long long wait = 1'000'000;  // 10 ms of wall_clock64(), which counts at 100 MHz
  ASSERT_EQ(hipSuccess, run("two_clocks", line(1, 1), &wall[0], &ticks[0], wait));
  const double walls_ticks = (static_cast<double>(ticks[1] - ticks[0])) * 100'000.0 / clock_khz();
  EXPECT_GE(walls_ticks + 2.0, static_cast<double>(wall[2] - wall[1])) << clock_khz() << " kHz";
  EXPECT_LE(walls_ticks - 2.0, static_cast<double>(wall[3] - wall[0])) << clock_khz() << " kHz";
}

TEST_F(CpuKernel, AtomicsCountEveryThread) {
  int i = 0;
  float f = 0;
  double d = 0;
  unsigned u[4] = {0, 1000, 0, 0};
  const std::uint32_t blocks = 64, threads = 128;
  ASSERT_EQ(hipSuccess, run("atomics", line(blocks, threads), &i, &f, &d, &u[0]));
  const int all = static_cast<int>(blocks * threads);
  EXPECT_EQ(all, i);
  EXPECT_EQ(static_cast<float>(all), f);
  EXPECT_EQ(all * 0.5, d);
  EXPECT_EQ(127u, u[0]);
  EXPECT_EQ(0u, u[1]);
  EXPECT_EQ(static_cast<unsigned>(all) % 7, u[2]);
  EXPECT_EQ(0xffffffffu, u[3]);
  std::size_t bytes = 0;
  auto* counter = static_cast<int*>(code_->global("counter", bytes));
  ASSERT_NE(nullptr, counter);
  EXPECT_EQ(sizeof(int), bytes);
  EXPECT_EQ(5 + 2 * all, *counter);
}

TEST_F(CpuKernel, DeviceVariablesAreReachableAndEachLoadHasItsOwn) {
  std::size_t bytes = 0;
  auto* mine = static_cast<float*>(code_->global("coefficients", bytes));
  ASSERT_NE(nullptr, mine);
  EXPECT_EQ(16u, bytes);
  EXPECT_EQ(nullptr, code_->global("nothing", bytes));
  EXPECT_EQ(nullptr, code_->global("__hipr_module", bytes));
  std::unique_ptr<CodeObject> other;
  ASSERT_EQ(hipSuccess, CodeObject::load(image_.data(), other));
  EXPECT_NE(mine, other->global("coefficients", bytes));
  for (int k = 0; k < 4; ++k) mine[k] = static_cast<float>(k) + 0.5f;
  float out[4] = {};
  ASSERT_EQ(hipSuccess, run("use_constants", line(1, 4), &out[0]));
  for (int k = 0; k < 4; ++k) EXPECT_EQ(2.0f * static_cast<float>(k) + 1.0f, out[k]);
}

TEST_F(CpuKernel, DivergedLanesExchangeAmongThemselves) {
  const unsigned threads = 100;  // one whole wave and a part
  std::vector<unsigned> out(2 * threads);
  std::vector<unsigned long long> votes(threads);
  ASSERT_EQ(hipSuccess, run("waves", line(1, threads), out.data(), votes.data()));
  for (unsigned t = 0; t < threads; ++t) {
    EXPECT_EQ(t % 2 == 0 ? t ^ 2 : 1005 + t / 64 * 64, out[t]) << t;
    unsigned long long vote = 0;
    for (unsigned lane = 0; lane < 64 && t / 64 * 64 + lane < threads; ++lane) {
      if ((t / 64 * 64 + lane) % 3 == 0) vote |= 1ull << lane;
    }
    EXPECT_EQ(vote, votes[t]) << t;
    EXPECT_EQ(t < 64 ? 15u : 14u, out[threads + t]) << t;
  }
}

TEST_F(CpuKernel, HalfPrecisionRounds) {
  const float in[4] = {4.0f, 2.0f, 0.0f, 1e-7f};
  float out[4] = {};
  ASSERT_EQ(hipSuccess, run("half_math", line(1, 4), &in[0], &out[0]));
  EXPECT_EQ(3.0f, out[0]);
  EXPECT_EQ(2.4140625f, out[1]);
  EXPECT_EQ(1.0f, out[2]);
  EXPECT_NEAR(1.00034f, out[3], 1e-3);
  const double wide[4] = {1.0 / 3, -65504.0, 1e9, 5.960464477539063e-08};
  ASSERT_EQ(hipSuccess, run("half_of_double", line(1, 4), &wide[0], &out[0]));
  EXPECT_EQ(0.333251953125f, out[0]);
  EXPECT_EQ(-65504.0f, out[1]);
  EXPECT_TRUE(std::isinf(out[2]));
  EXPECT_EQ(5.960464477539063e-08f, out[3]);
}

TEST_F(CpuKernel, PrintsFormattedText) {
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(hipSuccess, run("print", line(1, 64), 40));
  EXPECT_EQ("kernel 40: text  1.50 z -7 100%\nkernel 41: text  1.50 z -7 100%\n",
            ::testing::internal::GetCapturedStdout());
}

TEST_F(CpuKernel, PrintingSaysHowManyCharacters) {
  int out[3] = {-1, -1, -1};
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(hipSuccess, run("count_printed", line(1, 1), &out[0]));
  EXPECT_EQ("none\n42 text\n    7%\n", ::testing::internal::GetCapturedStdout());
  EXPECT_EQ(5, out[0]);
  EXPECT_EQ(8, out[1]);
  EXPECT_EQ(7, out[2]);
}

TEST_F(CpuKernel, AFailedAssertEndsTheGridWithAnError) {
  int out = 0;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(hipErrorLaunchFailure, run("fails", line(3, 64), &out, 5));
  EXPECT_NE(std::string::npos, ::testing::internal::GetCapturedStderr().find("assertion"));
  EXPECT_EQ(hipErrorLaunchFailure, run("fails_plainly", line(3, 64), 5));
  // The fibers that were left are fit for the next launch.
  EXPECT_EQ(hipSuccess, run("fails", line(300, 64), &out, -1));
  EXPECT_EQ(hipSuccess, run("fails_plainly", line(300, 64), -1));
}

TEST_F(CpuKernel, ACrashEndsTheGridAndNotTheProcess) {
  int out[64] = {};
  int* const nowhere = reinterpret_cast<int*>(0x10);
  for (const char* kernel : {"writes_at", "writes_at_behind_a_barrier"}) {
    std::optional<KernelFault> fault;
    fault_ = &fault;
    EXPECT_EQ(hipErrorIllegalAddress, run(kernel, line(40, 64), nowhere, 7)) << kernel;
    ASSERT_TRUE(fault) << kernel;
    EXPECT_EQ(SIGSEGV, fault->signal);
    EXPECT_EQ(0x10u, fault->address);
    EXPECT_EQ(std::string(kernel) != "writes_at", fault->thread_is_known);
    if (fault->thread_is_known) {
      EXPECT_EQ(7u, fault->thread[0]);
    }
    EXPECT_LT(fault->block[0], 40u);
    // What the blocks used is fit for the next launch.
    EXPECT_EQ(hipSuccess, run(kernel, line(300, 64), &out[3], 7)) << kernel;
    EXPECT_FALSE(fault);
    EXPECT_EQ(1, std::exchange(out[3], 0));
  }
}

TEST_F(CpuKernel, WhatElseAProcessorRefusesIsAFailedLaunch) {
  int out[64] = {};
  std::optional<KernelFault> fault;
  fault_ = &fault;
  EXPECT_EQ(hipErrorLaunchFailure, run("divides", line(1, 64), &out[0], 0));
  ASSERT_TRUE(fault);
  EXPECT_EQ(SIGFPE, fault->signal);
  EXPECT_EQ(hipSuccess, run("divides", line(1, 64), &out[0], 2));
  EXPECT_EQ(31, out[63]);
  EXPECT_EQ(hipErrorLaunchFailure, run("fails_plainly", line(3, 64), 5));
  ASSERT_TRUE(fault);
  EXPECT_EQ(0, fault->signal);
  EXPECT_EQ(5u, fault->thread[0]);
}

TEST_F(CpuKernel, FunctionsMayTakeAnyNumberOfArguments) {
  int out[64] = {};
  EXPECT_EQ(hipSuccess, run("takes_any_number", line(1, 64), &out[0]));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(i, out[i]);
}

TEST_F(CpuKernel, FreeingWhatIsNoAllocationIsAFailureThatIsNamed) {
  int here = 0;
  std::optional<KernelFault> fault;
  fault_ = &fault;
  for (const char* kernel : {"frees", "frees_behind_a_barrier"}) {
    EXPECT_EQ(hipErrorIllegalAddress, run(kernel, line(3, 64), &here, 7)) << kernel;
    ASSERT_TRUE(fault) << kernel;
    EXPECT_TRUE(fault->wrong_free);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&here), fault->address);
    EXPECT_TRUE(fault->thread_is_known);
    EXPECT_EQ(7u, fault->thread[0]);
    int* const none = nullptr;
    EXPECT_EQ(hipSuccess, run(kernel, line(3, 64), none, 7)) << kernel;
  }
}

TEST_F(CpuKernel, CrashesOfOthersAreTheirs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process, in which no kernel has run
  volatile std::uintptr_t nowhere = 0x10;          // a sanitizer would find a null pointer first
  const auto crash = [&] { *reinterpret_cast<volatile int*>(nowhere) = 1; };
  const auto nobody_before = [] { ::signal(SIGSEGV, SIG_DFL); };  // nor a sanitizer
  int out[64] = {};
  EXPECT_EXIT(
      {
        nobody_before();
        EXPECT_EQ(hipSuccess, run("divides", line(1, 64), &out[0], 2));
        crash();
      },
      testing::KilledBySignal(SIGSEGV), "");
  // A handler that the program had before the first kernel.
  EXPECT_EXIT(
      {
        ::signal(SIGSEGV, [](int) { ::_exit(42); });
        EXPECT_EQ(hipErrorIllegalAddress, run("writes_at", line(1, 64), reinterpret_cast<int*>(0x10), 7));
        crash();
      },
      testing::ExitedWithCode(42), "");
  // What somebody sends is not the kernel's.
  EXPECT_EXIT(
      {
        nobody_before();
        EXPECT_EQ(hipSuccess, run("divides", line(1, 64), &out[0], 2));
        ::raise(SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(CpuKernel, SeveralStreamsRunGridsAtOnce) {
  const std::uint32_t blocks = 40, threads = 256;
  std::vector<int> in(blocks * threads);
  std::iota(in.begin(), in.end(), 0);
  const int* source = in.data();
  std::vector<std::thread> streams;
  std::vector<int> wrong(3, 0);
  for (std::size_t s = 0; s < wrong.size(); ++s) {
    streams.emplace_back([&, s] {
      std::vector<int> out(in.size());
      for (int turn = 0; turn < 5; ++turn) {
        if (run("reverse", line(blocks, threads, 16), source, out.data()) != hipSuccess) ++wrong[s];
      }
      for (std::uint32_t i = 0; i < in.size(); ++i) {
        const std::uint32_t base = i / threads * threads;
        if (out[i] != static_cast<int>(base + threads - 1 - i % threads + base)) ++wrong[s];
      }
    });
  }
  for (auto& stream : streams) stream.join();
  EXPECT_EQ(std::vector<int>(3, 0), wrong);
}

TEST_F(CpuKernel, ACooperativeGridMeetsInItsMiddle) {
  std::vector<unsigned> data(8 * 64), out(8 * 64);
  Grid grid = line(8, 64);
  grid.cooperative = true;
  for (unsigned i = 0; i < data.size(); ++i) data[i] = 0;
  ASSERT_EQ(hipSuccess, run("grid_shift", grid, data.data(), out.data()));
  for (unsigned i = 0; i < data.size(); ++i) EXPECT_EQ((i + 64) % data.size(), out[i]);
  grid.blocks[0] = max_cooperative_blocks(64) + 1;
  EXPECT_EQ(hipErrorCooperativeLaunchTooLarge, run("grid_shift", grid, data.data(), out.data()));
}

TEST_F(CpuKernel, BesselFunctionsAreRightNearTheirZeros) {
  std::vector<double> numbers{2.404393158672093, 0, 2.1994049108858196, 0, -2.4188406467437744, 0};
  const double exact[] = {0.00022449904757949286, 0.0011782366077162188, -0.0072545413072684674};
  ASSERT_EQ(hipSuccess, run("near_zeros", line(1, 1), numbers.data()));
  EXPECT_DOUBLE_EQ(exact[0], numbers[1]);
  EXPECT_DOUBLE_EQ(exact[1], numbers[3]);
  EXPECT_FLOAT_EQ(static_cast<float>(exact[2]), static_cast<float>(numbers[5]));
}

TEST_F(CpuKernel, RefusesWhatIsNoCodeObject) {
  std::unique_ptr<CodeObject> code;
  const char text[64] = "this is no code object";
  EXPECT_EQ(hipErrorInvalidImage, CodeObject::load(text, code));
  EXPECT_EQ(hipErrorInvalidImage, CodeObject::load(nullptr, code));
  auto broken = image_;
  broken[18] = 3;  // e_machine
  EXPECT_EQ(hipErrorInvalidImage, CodeObject::load(broken.data(), code));
  EXPECT_EQ(nullptr, code);
  EXPECT_EQ(nullptr, code_->find("no such kernel"));
}

}  // namespace
}  // namespace tf::cpu

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1) tf::cpu::code_objects = argv[1];
  return RUN_ALL_TESTS();
}
