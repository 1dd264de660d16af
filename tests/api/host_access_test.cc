// SPDX-License-Identifier: Apache-2.0
// Host memory that kernels use, however they get the pointer and however the host uses the memory between
// them: with a device that reads the host's memory, and with one that has a copy of it.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>

#include "tests/api/graph_fixture.h"
#include "tests/api/host_kinds.h"

namespace tf::api_test {
namespace {

constexpr int kAccessCount = kHostInts;
constexpr std::size_t kAccessBytes = kAccessCount * sizeof(int);

class HostAccess : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!is_offered(GetParam())) GTEST_SKIP() << "devices do not reach such memory here";
    memory_.emplace(GetParam());
    if (!memory_->works()) GTEST_SKIP() << "hipDeviceAttributeCanMapHostMemory is 0";
  }
  void increment(void* data, hipStream_t stream, int n = kAccessCount) {
    void* arguments[] = {&data, &n};
    HIP_OK(hipModuleLaunchKernel(module_.function("increment"), static_cast<unsigned>(n + 127) / 128, 1, 1,
                                 128, 1, 1, 0, stream, arguments, nullptr));
  }

  LoadedModule module_;
  TestStream stream_;
  std::optional<Shared> memory_;
};

// Also registered memory, where kernels use another address.
TEST_P(HostAccess, FillsAndWordsOfStreamsTakeTheHostsPointer) {
  int* const host = memory_->host();
  std::fill_n(host, 64, 3);
  HIP_OK(hipMemset(host, 1, 16 * sizeof(int)));
  HIP_OK(hipDeviceSynchronize());  // fine-grained memory may be the device's
  EXPECT_EQ(host[15], 0x01010101);
  HIP_OK(hipMemsetAsync(host + 16, 2, 16 * sizeof(int), stream_));
  const bool has_words =
      GetParam() != Kind::kManaged || !is_bare_nvidia();  // its driver refuses managed memory
  if (has_words) {
    HIP_OK(hipStreamWaitValue32(stream_, host + 32, 3, hipStreamWaitValueEq, ~0U));
    HIP_OK(hipStreamWriteValue32(stream_, host + 33, 7, 0));
  }
  TestGraph graph;
  hipGraphNode_t node = nullptr;
  hipMemsetParams fill{};
  fill.dst = host + 40;
  fill.elementSize = sizeof(int);
  fill.value = 9;
  fill.width = 4;
  fill.height = 1;
  HIP_OK(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, stream_));
  HIP_OK(hipStreamSynchronize(stream_));
  EXPECT_EQ(std::vector<int>(host + 14, host + 18),
            (std::vector<int>{0x01010101, 0x01010101, 0x02020202, 0x02020202}));
  EXPECT_EQ(std::vector<int>(host + 31, host + 35), (std::vector<int>{0x02020202, 3, has_words ? 7 : 3, 3}));
  EXPECT_EQ(std::vector<int>(host + 39, host + 45), (std::vector<int>{3, 9, 9, 9, 9, 3}));
}

TEST_P(HostAccess, BackAndForth) {
  std::iota(memory_->host(), memory_->host() + kAccessCount, 0);
  for (int round = 0; round < 3; ++round) {
    increment(memory_->device(), stream_);
    HIP_OK(hipStreamSynchronize(stream_));
    ASSERT_EQ(memory_->seen(), counting_ints(kAccessCount, 2 * round + 1));
    for (int i = 0; i < kAccessCount; ++i) ++memory_->host()[i];
  }
  memory_->host()[kAccessCount / 2] = -5;  // a single page
  increment(memory_->device(), stream_);
  HIP_OK(hipStreamSynchronize(stream_));
  EXPECT_EQ(memory_->host()[kAccessCount / 2], -4);
  EXPECT_EQ(memory_->host()[kAccessCount / 2 + 1], kAccessCount / 2 + 8);
}

TEST_P(HostAccess, BySystemCallsBetweenKernels) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  std::fill(memory_->host(), memory_->host() + kAccessCount, 1);
  increment(memory_->device(), stream_);
  HIP_OK(hipStreamSynchronize(stream_));
  const int values[] = {70, 71, 72};
  int* const there = memory_->host() + 20'000;
  ASSERT_EQ(::write(ends[1], values, sizeof values), static_cast<ssize_t>(sizeof values));
  ASSERT_EQ(::read(ends[0], there, sizeof values), static_cast<ssize_t>(sizeof values));
  increment(memory_->device(), stream_);
  HIP_OK(hipStreamSynchronize(stream_));
  ASSERT_EQ(::write(ends[1], there - 1, 16), 16);
  int back[4] = {};
  ASSERT_EQ(::read(ends[0], back, 16), 16);
  EXPECT_EQ(std::vector<int>(back, back + 4), (std::vector<int>{3, 71, 72, 73}));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(HostAccess, CopiesAndFillsAreInOrderWithKernels) {
  DeviceBuffer buffer(kAccessBytes);
  std::fill(memory_->host(), memory_->host() + kAccessCount, 10);
  HIP_OK(hipMemcpyAsync(buffer.get(), memory_->host(), kAccessBytes, hipMemcpyDefault, stream_));
  increment(memory_->device(), stream_);
  increment(buffer.get(), stream_);
  increment(buffer.get(), stream_);
  HIP_OK(hipMemcpyAsync(memory_->host() + 100, buffer.get(), 400, hipMemcpyDefault, stream_));
  HIP_OK(hipMemsetAsync(static_cast<int*>(memory_->device()) + 300, 0, 400, stream_));
  increment(memory_->device(), stream_);
  HIP_OK(hipStreamSynchronize(stream_));
  EXPECT_EQ(memory_->host()[99], 12);
  EXPECT_EQ(memory_->host()[100], 13);
  EXPECT_EQ(memory_->host()[200], 12);
  EXPECT_EQ(memory_->host()[300], 1);
  EXPECT_EQ(memory_->host()[400], 12);
  HIP_OK(hipMemcpy(buffer.get(), memory_->host(), kAccessBytes, hipMemcpyDefault));
  EXPECT_EQ(read_ints(buffer.get(), 400)[300], 1);
}

TEST_P(HostAccess, InAGraph) {
  DeviceBuffer device(kAccessBytes);
  std::fill(memory_->host(), memory_->host() + kAccessCount, 3);
  HIP_OK(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal));
  increment(memory_->device(), stream_);
  HIP_OK(hipMemcpyAsync(device.get(), memory_->device(), kAccessBytes, hipMemcpyDefault, stream_));
  increment(device.get(), stream_);
  hipGraph_t graph = nullptr;
  HIP_OK(hipStreamEndCapture(stream_, &graph));
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int round = 1; round <= 3; ++round) {
    HIP_OK(hipGraphLaunch(exec, stream_));
    HIP_OK(hipStreamSynchronize(stream_));
    EXPECT_EQ(memory_->seen(), std::vector<int>(kAccessCount, 2 + 2 * round));
    EXPECT_EQ(read_ints(device.get(), kAccessCount), std::vector<int>(kAccessCount, 3 + 2 * round));
    for (int i = 0; i < kAccessCount; ++i) ++memory_->host()[i];
  }
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
}

// From memory that devices do not reach, a kernel on it, and back; by both addresses of the memory.
TEST_P(HostAccess, AGraphCopiesOtherMemoryInAndOut) {
  for (void* const place : {memory_->device(), static_cast<void*>(memory_->host())}) {
    std::vector<int> in(kAccessCount);
    std::vector<int> out(kAccessCount);
    HIP_OK(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal));
    HIP_OK(hipMemcpyAsync(place, in.data(), kAccessBytes, hipMemcpyDefault, stream_));
    increment(memory_->device(), stream_);
    HIP_OK(hipMemcpyAsync(out.data(), place, kAccessBytes, hipMemcpyDefault, stream_));
    hipGraph_t graph = nullptr;
    HIP_OK(hipStreamEndCapture(stream_, &graph));
    hipGraphExec_t exec = nullptr;
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int round = 1; round <= 3; ++round) {
      std::iota(in.begin(), in.end(), 1000 * round);
      HIP_OK(hipGraphLaunch(exec, stream_));
      HIP_OK(hipStreamSynchronize(stream_));
      std::vector<int> expected(kAccessCount);
      std::iota(expected.begin(), expected.end(), 1000 * round + 1);
      EXPECT_EQ(out, expected) << round << (place == memory_->host() ? " by the host's address" : "");
      EXPECT_EQ(memory_->seen(), expected) << round;
    }
    HIP_OK(hipGraphExecDestroy(exec));
    HIP_OK(hipGraphDestroy(graph));
  }
}

TEST_P(HostAccess, AChildHasACopy) {
  if (GetParam() == Kind::kManaged && is_bare_nvidia())
    GTEST_SKIP() << "NVIDIA's driver takes it from children";
  std::fill(memory_->host(), memory_->host() + kAccessCount, 1);
  increment(memory_->device(), stream_);
  HIP_OK(hipStreamSynchronize(stream_));
  memory_->host()[1] = 20;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(memory_->host()[0] == 2 && memory_->host()[1] == 20 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  memory_->host()[2] = 30;
  increment(memory_->device(), stream_);
  HIP_OK(hipStreamSynchronize(stream_));
  EXPECT_EQ(memory_->seen(4), (std::vector<int>{3, 21, 31, 3}));
}

// Halves whose border is that of pages: what one thread's kernel writes, no other host thread touches.
TEST_P(HostAccess, TwoThreadsWithTheirOwnStreams) {
  int concurrent = 0;
  HIP_OK(hipDeviceGetAttribute(&concurrent, hipDeviceAttributeConcurrentManagedAccess, 0));
  if (GetParam() == Kind::kManaged && concurrent == 0)
    GTEST_SKIP() << "the host may not touch it while work runs";
  constexpr int kHalf = 20'480;
  const std::size_t skew = reinterpret_cast<std::uintptr_t>(memory_->host()) % 4096 / sizeof(int);
  const std::size_t first = (1024 - skew) % 1024;
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < 2; ++id) {
    threads.emplace_back([&, begin = first + id * kHalf] {
      TestStream stream(hipStreamNonBlocking);
      int* const host = memory_->host() + begin;
      for (int round = 0; round < 10; ++round) {
        std::fill(host, host + kHalf, round);
        increment(static_cast<int*>(memory_->device()) + begin, stream, kHalf);
        HIP_OK(hipStreamSynchronize(stream));
        ASSERT_EQ(std::vector<int>(host, host + kHalf), std::vector<int>(kHalf, round + 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(HostAccess, EveryDevice) {
  std::fill(memory_->host(), memory_->host() + kAccessCount, 0);
  for (int device = 0; device < device_count(); ++device) {
    HIP_OK(hipSetDevice(device));
    LoadedModule module;
    void* data = memory_->device();
    int n = kAccessCount;
    void* arguments[] = {&data, &n};
    HIP_OK(hipModuleLaunchKernel(module.function("increment"), (kAccessCount + 127) / 128, 1, 1, 128, 1, 1, 0,
                                 nullptr, arguments, nullptr));
    HIP_OK(hipDeviceSynchronize());
    EXPECT_EQ(memory_->seen(), std::vector<int>(kAccessCount, device + 1));
  }
  HIP_OK(hipSetDevice(0));
}

// The device works with it until the call returns.
TEST_P(HostAccess, IsFreedWhileWorkRuns) {
  DeviceBuffer result(kAccessBytes);
  for (int round = 0; round < 5; ++round) {
    memory_.emplace(GetParam());
    std::fill(memory_->host(), memory_->host() + kAccessCount, round);
    increment(memory_->device(), stream_);
    HIP_OK(hipMemcpyAsync(result.get(), memory_->device(), kAccessBytes, hipMemcpyDefault, stream_));
    memory_.reset();
    HIP_OK(hipStreamSynchronize(stream_));
    EXPECT_EQ(read_ints(result.get(), kAccessCount), std::vector<int>(kAccessCount, round + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, HostAccess, ::testing::ValuesIn(kKinds), name_of_kind);

// Pointers that lie in memory: nobody sees them pass by, so the program has said before that kernels use
// theirs.
TEST(HostAccessByPointers, InMemory) {
  if (!is_offered(Kind::kManaged)) GTEST_SKIP() << "no managed memory";
  std::vector<std::unique_ptr<Shared>> targets;
  for (const Kind kind : {Kind::kManaged, Kind::kMapped, Kind::kRegistered, Kind::kFineGrained}) {
    if (!is_offered(kind)) continue;
    auto target = std::make_unique<Shared>(kind);
    if (target->works()) targets.push_back(std::move(target));
  }
  Shared list(Kind::kManaged, targets.size() * sizeof(void*));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    std::fill(targets[i]->host(), targets[i]->host() + kAccessCount, static_cast<int>(i));
    reinterpret_cast<void**>(list.host())[i] = targets[i]->device();
  }
  LoadedModule module;
  void* lists = list.device();
  int n = kAccessCount;
  void* arguments[] = {&lists, &n};
  HIP_OK(hipModuleLaunchKernel(module.function("increment_each"), static_cast<unsigned>(targets.size()), 1, 1,
                               64, 1, 1, 0, nullptr, arguments, nullptr));
  HIP_OK(hipDeviceSynchronize());
  for (std::size_t i = 0; i < targets.size(); ++i)
    EXPECT_EQ(targets[i]->seen(), std::vector<int>(kAccessCount, static_cast<int>(i) + 1));
}

// A stream waits for what the host writes before it waits itself, and writes to the word beside it.
TEST(HostAccessByPointers, StreamsWaitForWhatTheHostWrites) {
  int supported = 0;
  HIP_OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeCanUseStreamWaitValue, 0));
  if (supported == 0) GTEST_SKIP() << "streams do not wait for values";
  TestStream stream;
  for (const Kind kind : {Kind::kMapped, Kind::kPinned, Kind::kFineGrained}) {
    if (!is_offered(kind)) continue;
    Shared words(kind, 4096);
    for (int round = 0; round < 20; ++round) {
      words.host()[0] = 0;
      HIP_OK(hipStreamWaitValue32(stream, words.device(), 5, hipStreamWaitValueEq, 0xffffffff));
      HIP_OK(hipStreamWriteValue32(stream, static_cast<int*>(words.device()) + 1, 6 + round, 0));
      EXPECT_EQ(hipStreamQuery(stream), hipErrorNotReady);
      words.host()[0] = 5;
      HIP_OK(hipStreamSynchronize(stream));
      ASSERT_EQ(words.host()[1], 6 + round);
    }
  }
}

// Members of one struct, some written by the host, others by work that runs at the time.
TEST(HostAccessByPointers, HostAndWorkWriteToOneStruct) {
  int supported = 0;
  HIP_OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeCanUseStreamWaitValue, 0));
  if (supported == 0) GTEST_SKIP() << "streams do not wait for values";
  TestStream stream;
  TestStream other;
  Shared words(Kind::kMapped, 4096);
  int* const device = static_cast<int*>(words.device());
  std::fill_n(words.host(), 16, 0);
  for (int round = 1; round <= 20; ++round) {
    HIP_OK(hipStreamWriteValue32(stream, device + 1, round, 0));
    words.host()[0] = round;  // in the page that the stream writes to, of which nobody has waited for
    HIP_OK(hipMemsetAsync(device + 4, round, 4, other));
    words.host()[2] = round;
    HIP_OK(hipStreamSynchronize(other));
    words.host()[3] = round;
    HIP_OK(hipStreamSynchronize(stream));
    ASSERT_EQ(std::vector<int>(words.host(), words.host() + 5),
              (std::vector<int>{round, round, round, round, round * 0x01010101}));
  }
}

}  // namespace
}  // namespace tf::api_test
