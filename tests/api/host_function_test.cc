// SPDX-License-Identifier: Apache-2.0
// What host functions and kernels of one stream see of each other's writes, for every kind of memory that
// both use: without a wait of the program between them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/api/graph_fixture.h"
#include "tests/api/host_kinds.h"

namespace tf::api_test {
namespace {

using namespace std::chrono_literals;

constexpr int kFew = 100;  // ints, in memory that has a page to itself at most

// Calls `call` as a host function; it outlives the function.
void run_function(void* call) { (*static_cast<std::function<void()>*>(call))(); }

class HostFunction : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!is_offered(GetParam())) GTEST_SKIP() << "devices do not reach such memory here";
    allocate(kHostInts);
    if (!memory_->works()) GTEST_SKIP() << "hipDeviceAttributeCanMapHostMemory is 0";
  }
  void allocate(int count) {
    memory_.emplace(GetParam(), static_cast<std::size_t>(count) * sizeof(int));
    count_ = count;
    std::fill_n(memory_->host(), count, 0);
  }
  void increment(hipStream_t stream) { launch_increment(module_, memory_->device(), count_, stream); }
  void on_host(hipStream_t stream, std::function<void()> call) {
    calls_.push_back(std::make_unique<std::function<void()>>(std::move(call)));
    ASSERT_EQ(hipLaunchHostFunc(stream, run_function, calls_.back().get()), hipSuccess);
  }

  LoadedModule module_;
  std::vector<std::unique_ptr<std::function<void()>>> calls_;
  TestStream stream_;
  std::optional<Shared> memory_;
  int count_ = 0;
};

TEST_P(HostFunction, SeesKernelsAndIsSeenByThem) {
  for (const int count : {kHostInts, kFew}) {
    allocate(count);
    int* const host = memory_->host();
    std::vector<int> seen;
    increment(stream_);
    on_host(stream_, [&] {
      seen.push_back(host[0]);
      seen.push_back(host[count - 1]);
      host[0] = 10;
      host[count - 1] = 20;
    });
    increment(stream_);
    on_host(stream_, [&] {
      seen.push_back(host[0]);
      seen.push_back(host[1]);
      seen.push_back(host[count - 1]);
    });
    HIP_OK(hipStreamSynchronize(stream_));
    EXPECT_EQ(seen, (std::vector<int>{1, 1, 11, 2, 21})) << count;
    EXPECT_EQ(memory_->seen(2), (std::vector<int>{11, 2})) << count;
  }
}

TEST_P(HostFunction, InTurnsWithKernels) {
  constexpr int kTurns = 100;
  int* const host = memory_->host();
  bool right = true;
  for (int turn = 0; turn < kTurns; ++turn) {
    increment(stream_);
    on_host(stream_, [&right, host, turn] {
      right = right && host[0] == 2 * turn + 1 && host[kHostInts - 1] == 2 * turn + 1;
      ++host[0];
      ++host[kHostInts - 1];
    });
  }
  HIP_OK(hipStreamSynchronize(stream_));
  EXPECT_TRUE(right);
  EXPECT_EQ(host[0], 2 * kTurns);
  EXPECT_EQ(host[1], kTurns);
  EXPECT_EQ(host[kHostInts - 1], 2 * kTurns);
}

// A stream that is full holds up the thread that fills it, but never the function, whatever that thread has
// written before.
TEST_P(HostFunction, RunsWhileItsStreamIsFull) {
  constexpr int kLaunches = 5000;
  constexpr int kEvery = 250;
  int* const host = memory_->host();
  Shared other(GetParam());
  std::fill_n(other.host(), kHostInts, 0);
  std::vector<int> seen;
  increment(stream_);
  on_host(stream_, [&] {
    std::this_thread::sleep_for(100ms);
    seen.push_back(host[5]);
    host[5] = 1000;
  });
  for (int launch = 0; launch < kLaunches; ++launch) {
    increment(stream_);
    if (launch % kEvery != 0) continue;
    if (GetParam() != Kind::kManaged) other.host()[10'000 + launch] = launch;  // not in the work's page
    launch_increment(module_, other.device(), 1, stream_);
    on_host(stream_, [&] { seen.push_back(host[5]); });
  }
  HIP_OK(hipStreamSynchronize(stream_));
  std::vector<int> expected{1};
  for (int launch = 0; launch < kLaunches; launch += kEvery) expected.push_back(1001 + launch);
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(host[5], 1000 + kLaunches);
  EXPECT_EQ(host[6], 1 + kLaunches);
  EXPECT_EQ(other.host()[0], kLaunches / kEvery);
}

// Pinned memory is the program's while work runs, in pages that the work does not use.
TEST_P(HostFunction, WhileTheProgramWritesElsewhere) {
  if (GetParam() == Kind::kManaged) GTEST_SKIP() << "the host may not touch it while work runs";
  constexpr int kRounds = 60;
  int* const host = memory_->host();
  Shared theirs(GetParam());
  std::fill_n(theirs.host(), kHostInts, 0);
  bool right = true;
  std::atomic<bool> done{false};
  std::thread program([&] {
    TestStream stream(hipStreamNonBlocking);
    for (int round = 1; !done; ++round) {
      std::fill_n(theirs.host(), kHostInts, round);
      launch_increment(module_, theirs.device(), kHostInts, stream);
      ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
      ASSERT_EQ(theirs.seen(), std::vector<int>(kHostInts, round + 1));
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    increment(stream_);
    on_host(stream_, [&right, host, round] {
      right = right && host[7] == 3 * round + 1;
      host[7] += 2;
    });
    if (round % 20 == 19) {
      HIP_OK(hipStreamSynchronize(stream_));
    }
  }
  HIP_OK(hipStreamSynchronize(stream_));
  done = true;
  program.join();
  EXPECT_TRUE(right);
  EXPECT_EQ(host[7], 3 * kRounds);
  EXPECT_EQ(host[8], kRounds);
}

// What the program has written before it queues the function reaches kernels behind it, and what it writes
// afterwards, when the function has told it to, too.
TEST_P(HostFunction, HandsOverToTheProgram) {
  if (GetParam() == Kind::kManaged) GTEST_SKIP() << "the host may not touch it while work runs";
  int* const host = memory_->host();
  std::atomic<int> step{0};
  host[0] = 100;
  increment(stream_);
  on_host(stream_, [&] {
    step = 1;
    while (step != 2) std::this_thread::sleep_for(1ms);
  });
  for (int launch = 0; launch < 10; ++launch) increment(stream_);
  on_host(stream_, [&] { step = 3; });
  while (step != 1) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(host[0], 101);
  host[0] = 500;
  host[kHostInts - 1] = 600;
  step = 2;
  while (step != 3) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(host[0], 510);
  EXPECT_EQ(host[kHostInts - 1], 610);
  HIP_OK(hipStreamSynchronize(stream_));
}

TEST_P(HostFunction, InAGraph) {
  int* const host = memory_->host();
  std::vector<int> seen;
  begin_capture(stream_);
  increment(stream_);
  on_host(stream_, [&] {
    seen.push_back(host[3]);
    host[3] += 10;
  });
  increment(stream_);
  TestGraph graph(stream_);
  TestExec exec(graph);
  for (int round = 0; round < 3; ++round) HIP_OK(hipGraphLaunch(exec, stream_));
  HIP_OK(hipStreamSynchronize(stream_));
  EXPECT_EQ(seen, (std::vector<int>{1, 13, 25}));
  EXPECT_EQ(host[3], 36);
  EXPECT_EQ(host[4], 6);
}

TEST_P(HostFunction, AsACallbackOfTheStream) {
  int* const host = memory_->host();
  increment(stream_);
  HIP_OK(hipStreamAddCallback(
      stream_,
      [](hipStream_t, hipError_t status, void* data) {
        int* const ints = static_cast<int*>(data);
        ints[1] = status == hipSuccess ? ints[0] * 7 : -1;
      },
      host, 0));
  increment(stream_);
  HIP_OK(hipStreamSynchronize(stream_));
  EXPECT_EQ(memory_->seen(3), (std::vector<int>{2, 8, 2}));
}

// Functions of several streams, which may run at the same time.
TEST_P(HostFunction, OfManyStreams) {
  constexpr int kStreams = 6;
  constexpr int kRounds = 20;
  constexpr int kShare = 8192;  // ints: whole pages
  allocate(kStreams * kShare);
  const std::size_t skew = reinterpret_cast<std::uintptr_t>(memory_->host()) % 4096;
  if (skew != 0) GTEST_SKIP() << "streams would write to the same page";
  int* const host = memory_->host();
  std::vector<std::unique_ptr<TestStream>> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(std::make_unique<TestStream>(hipStreamNonBlocking));
  std::atomic<int> wrong{0};
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kStreams; ++i) {
      int* const part = host + i * kShare;
      launch_increment(module_, static_cast<int*>(memory_->device()) + i * kShare, kShare,
                       *streams[static_cast<std::size_t>(i)]);
      on_host(*streams[static_cast<std::size_t>(i)], [&wrong, part, round] {
        if (part[0] != round * 2 + 1 || part[kShare - 1] != round * 2 + 1) ++wrong;
        ++part[0];
        ++part[kShare - 1];
      });
    }
  }
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(wrong, 0);
  for (int i = 0; i < kStreams; ++i) {
    EXPECT_EQ(host[i * kShare], 2 * kRounds);
    EXPECT_EQ(host[i * kShare + 1], kRounds);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, HostFunction, ::testing::ValuesIn(kKinds), name_of_kind);

}  // namespace
}  // namespace tf::api_test
