// SPDX-License-Identifier: Apache-2.0
// Memory that host and device both use: managed memory, and pinned memory through its device pointer.
//
// The host touches managed memory only after it has waited for the work, as the rule is for devices without
// concurrentManagedAccess, so the tests hold for every device that has managed memory at all.
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "tests/api/graph_fixture.h"

namespace tf::api_test {
namespace {

constexpr int kManagedCount = 10000;
constexpr std::size_t kManagedBytes = kManagedCount * sizeof(int);

int attribute(hipDeviceAttribute_t which) {
  int value = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&value, which, 0), hipSuccess);
  return value;
}

std::uint64_t host_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

class Managed : public ::testing::Test {
 protected:
  void SetUp() override {
    if (attribute(hipDeviceAttributeManagedMemory) == 0) GTEST_SKIP() << "no managed memory";
    ASSERT_EQ(hipMallocManaged(reinterpret_cast<void**>(&data_), kManagedBytes, hipMemAttachGlobal),
              hipSuccess);
  }
  void TearDown() override { HIP_OK(hipFree(data_)); }
  void increment(void* data, hipStream_t stream) {
    int n = kManagedCount;
    void* arguments[] = {&data, &n};
    ASSERT_EQ(hipModuleLaunchKernel(module_.function("increment"), (kManagedCount + 127) / 128, 1, 1, 128, 1,
                                    1, 0, stream, arguments, nullptr),
              hipSuccess);
  }
  std::vector<int> seen() const { return {data_, data_ + kManagedCount}; }

  LoadedModule module_;
  int* data_ = nullptr;
};

TEST_F(Managed, GoesBackAndForthBetweenHostAndDevice) {
  std::iota(data_, data_ + kManagedCount, 7);
  for (int round = 1; round <= 5; ++round) {
    increment(data_, nullptr);
    HIP_OK(hipDeviceSynchronize());
    ASSERT_EQ(data_[0], 7 + 2 * round - 1);
    ASSERT_EQ(data_[kManagedCount - 1], kManagedCount + 6 + 2 * round - 1);
    for (int i = 0; i < kManagedCount; ++i) ++data_[i];
  }
  EXPECT_EQ(seen(), counting_ints(kManagedCount, 17));
}

// What the host may do after each kind of waiting.
TEST_F(Managed, IsTheHostsAfterEveryKindOfWait) {
  TestStream stream;
  TestEvent event;
  std::iota(data_, data_ + kManagedCount, 0);
  increment(data_, stream);
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(seen(), counting_ints(kManagedCount, 1));
  data_[0] += 100;
  increment(data_, stream);
  HIP_OK(hipEventRecord(event, stream));
  HIP_OK(hipEventSynchronize(event));
  EXPECT_EQ(data_[0], 102);
  data_[0] += 100;
  increment(data_, stream);
  while (hipStreamQuery(stream) == hipErrorNotReady) continue;
  EXPECT_EQ(data_[0], 203);
  data_[0] -= 200;
  increment(data_, stream);
  HIP_OK(hipEventRecord(event, stream));
  while (hipEventQuery(event) == hipErrorNotReady) continue;
  EXPECT_EQ(seen(), counting_ints(kManagedCount, 4));
}

TEST_F(Managed, WorkOfTwoStreamsIsKept) {
  TestStream first(hipStreamNonBlocking);
  TestStream second(hipStreamNonBlocking);
  TestEvent event;
  std::iota(data_, data_ + kManagedCount, 0);
  for (int round = 0; round < 4; ++round) {
    increment(data_, first);
    HIP_OK(hipEventRecord(event, first));
    HIP_OK(hipStreamWaitEvent(second, event, 0));
    increment(data_, second);
    HIP_OK(hipStreamSynchronize(second));
    EXPECT_EQ(data_[3], 3 + round * 12 + 2);
    for (int i = 0; i < kManagedCount; ++i) data_[i] += 10;
  }
  EXPECT_EQ(seen(), counting_ints(kManagedCount, 48));
}

// What a graph's nodes do to it its copies see, and the program's writes between two launches too.
TEST_F(Managed, GraphsCopyItBothWays) {
  TestStream stream;
  std::vector<int> source = counting_ints(kManagedCount, 5);
  std::vector<int> target(kManagedCount);
  TestGraph graph;
  hipGraphNode_t nodes[3] = {};
  HIP_OK(hipGraphAddMemcpyNode1D(&nodes[0], graph, nullptr, 0, data_, source.data(), kManagedBytes / 2,
                                 hipMemcpyHostToDevice));
  hipMemsetParams fill{};
  fill.dst = data_;
  fill.elementSize = sizeof(int);
  fill.value = 9;
  fill.width = 4;
  fill.height = 1;
  HIP_OK(hipGraphAddMemsetNode(&nodes[1], graph, &nodes[0], 1, &fill));
  HIP_OK(hipGraphAddMemcpyNode1D(&nodes[2], graph, &nodes[1], 1, target.data(), data_, kManagedBytes,
                                 hipMemcpyDeviceToHost));
  TestExec exec(graph);
  for (int round = 0; round < 2; ++round) {
    std::fill(data_, data_ + kManagedCount, round);
    source[4] = 100 + round;
    HIP_OK(hipGraphLaunch(exec, stream));
    HIP_OK(hipStreamSynchronize(stream));
    EXPECT_EQ(std::vector<int>(target.begin(), target.begin() + 6),
              (std::vector<int>{9, 9, 9, 9, 100 + round, 10}));
    EXPECT_EQ(target[kManagedCount - 1], round);
    EXPECT_EQ(seen(), target);
  }
}

TEST_F(Managed, IsCopiedAndFilled) {
  TestStream stream;
  DeviceBuffer device(kManagedBytes);
  PinnedBuffer pinned(kManagedBytes);
  std::vector<int> pageable(kManagedCount);
  HIP_OK(hipMemsetD32Async(reinterpret_cast<hipDeviceptr_t>(data_), 5, kManagedCount, stream));
  HIP_OK(hipMemcpyAsync(device.get(), data_, kManagedBytes, hipMemcpyDeviceToDevice, stream));
  HIP_OK(hipMemcpyAsync(pinned.as<int>(), device.get(), kManagedBytes, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(data_[kManagedCount - 1], 5);
  EXPECT_EQ(pinned.as<int>()[kManagedCount - 1], 5);
  std::iota(data_, data_ + kManagedCount, 30);
  HIP_OK(hipMemcpy(pageable.data(), data_, kManagedBytes, hipMemcpyDefault));
  EXPECT_EQ(pageable, counting_ints(kManagedCount, 30));
  pageable[9] = -1;
  HIP_OK(hipMemcpy(data_, pageable.data(), kManagedBytes, hipMemcpyHostToDevice));
  EXPECT_EQ(data_[9], -1);
  HIP_OK(hipMemcpy(device.get(), data_, kManagedBytes, hipMemcpyHostToDevice));
  HIP_OK(hipMemset(data_, 0, kManagedBytes));
  HIP_OK(hipMemcpy(data_, device.get(), kManagedBytes, hipMemcpyDefault));
  EXPECT_EQ(data_[9], -1);
  EXPECT_EQ(data_[10], 40);
}

TEST_F(Managed, InAGraph) {
  TestStream stream;
  DeviceBuffer device(kManagedBytes);
  std::iota(data_, data_ + kManagedCount, 0);
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(hipMemcpyAsync(device.get(), data_, kManagedBytes, hipMemcpyDefault, stream));
  increment(device.get(), stream);
  HIP_OK(hipMemcpyAsync(data_, device.get(), kManagedBytes, hipMemcpyDefault, stream));
  hipGraph_t graph = nullptr;
  HIP_OK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int round = 1; round <= 3; ++round) {
    HIP_OK(hipGraphLaunch(exec, stream));
    HIP_OK(hipStreamSynchronize(stream));
    EXPECT_EQ(seen(), counting_ints(kManagedCount, 2 * round - 1));
    for (int i = 0; i < kManagedCount; ++i) ++data_[i];
  }
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
}

TEST_F(Managed, MoreIsAllocatedWhileWorkRuns) {
  TestStream stream;
  Gate gate;
  std::iota(data_, data_ + kManagedCount, 0);
  gate.close(stream);
  increment(data_, stream);
  int* more = nullptr;
  ASSERT_EQ(hipMallocManaged(reinterpret_cast<void**>(&more), kManagedBytes, hipMemAttachGlobal), hipSuccess);
  gate.open();
  HIP_OK(hipStreamSynchronize(stream));
  std::iota(more, more + kManagedCount, 50);
  increment(more, stream);
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(std::vector<int>(more, more + kManagedCount), counting_ints(kManagedCount, 51));
  EXPECT_EQ(seen(), counting_ints(kManagedCount, 1));
  HIP_OK(hipFree(more));
  EXPECT_EQ(seen(), counting_ints(kManagedCount, 1));
}

// Longer than what is opened at a time, and many that share.
TEST_F(Managed, LargeAndManyAllocations) {
  char* large = nullptr;
  constexpr std::size_t kLarge = 80 << 20;
  ASSERT_EQ(hipMallocManaged(reinterpret_cast<void**>(&large), kLarge, hipMemAttachGlobal), hipSuccess);
  large[0] = 1;
  large[kLarge - 1] = 2;
  HIP_OK(hipMemsetAsync(large + 1, 7, kLarge - 2, nullptr));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(large[0], 1);
  EXPECT_EQ(large[1], 7);
  EXPECT_EQ(large[kLarge - 2], 7);
  EXPECT_EQ(large[kLarge - 1], 2);
  EXPECT_EQ(hipMemset(large + kLarge - 2, 0, 3), hipErrorInvalidValue) << "beyond the allocation";
  HIP_OK(hipFree(large));
  std::vector<int*> many(100);
  for (int*& one : many)
    ASSERT_EQ(hipMallocManaged(reinterpret_cast<void**>(&one), 300, hipMemAttachGlobal), hipSuccess);
  std::vector<int*> sorted = many;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) EXPECT_GE(sorted[i] - sorted[i - 1], 75);
  for (int* one : many) HIP_OK(hipFree(one));
}

TEST_F(Managed, IsWhatPointersSay) {
  hipPointerAttribute_t attributes = {};
  HIP_OK(hipPointerGetAttributes(&attributes, data_ + 10));
  EXPECT_EQ(attributes.isManaged, 1);
  EXPECT_EQ(attributes.devicePointer, data_ + 10);
  EXPECT_EQ(attributes.hostPointer, data_ + 10);
  bool managed = false;
  auto* const pointer = reinterpret_cast<hipDeviceptr_t>(data_);
  HIP_OK(hipPointerGetAttribute(&managed, HIP_POINTER_ATTRIBUTE_IS_MANAGED, pointer));
  EXPECT_TRUE(managed);
  std::size_t bytes = 0;
  HIP_OK(hipMemPtrGetInfo(data_, &bytes));
  EXPECT_EQ(bytes, kManagedBytes);
}

TEST_F(Managed, PrefetchAndAdvice) {
  TestStream stream;
  std::iota(data_, data_ + kManagedCount, 0);
  HIP_OK(hipMemAdvise(data_, kManagedBytes, hipMemAdviseSetReadMostly, 0));
  HIP_OK(hipMemAdvise(data_, kManagedBytes, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
  HIP_OK(hipMemPrefetchAsync(data_, kManagedBytes, 0, stream));
  increment(data_, stream);
  HIP_OK(hipMemPrefetchAsync(data_, kManagedBytes, hipCpuDeviceId, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(seen(), counting_ints(kManagedCount, 1));
  EXPECT_EQ(hipMemPrefetchAsync(data_, kManagedBytes + 1, 0, stream), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPrefetchAsync(data_, 0, 0, stream), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPrefetchAsync(data_, kManagedBytes, 1000, stream), hipErrorInvalidDevice);
  int on_stack = 0;
  const hipError_t pageable = reaches_pageable_memory() ? hipSuccess : hipErrorInvalidValue;
  EXPECT_EQ(hipMemPrefetchAsync(&on_stack, sizeof on_stack, 0, stream), pageable);
  EXPECT_EQ(hipMemAdvise(&on_stack, sizeof on_stack, hipMemAdviseSetReadMostly, 0), pageable);
  EXPECT_EQ(hipMemAdvise(data_, kManagedBytes, static_cast<hipMemoryAdvise>(77), 0), hipErrorInvalidValue);
}

TEST_F(Managed, MayBeMoreThanTheDeviceHas) {
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  HIP_OK(hipMemGetInfo(&free_bytes, &total));
  // Remotely it is memory of the worker's host (docs/limits.md).
  if (is_remote() && is_nvidia() && free_bytes >= host_bytes())
    GTEST_SKIP() << "this host has less memory than the device";
  std::uint32_t* large = nullptr;
  HIP_OK(hipMallocManaged(reinterpret_cast<void**>(&large), free_bytes + 1, hipMemAttachGlobal));
  large[free_bytes / sizeof *large - 1] = 5;
  HIP_OK(hipFree(large));
}

TEST_F(Managed, EdgesOfAllocation) {
  void* pointer = nullptr;
  EXPECT_EQ(hipMallocManaged(static_cast<void**>(nullptr), 10, hipMemAttachGlobal), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocManaged(&pointer, 0, hipMemAttachGlobal), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocManaged(&pointer, 10, 0x40), hipErrorInvalidValue);
  EXPECT_EQ(hipMallocManaged(&pointer, std::size_t{1} << 60, hipMemAttachGlobal), hipErrorOutOfMemory);
  EXPECT_EQ(hipFree(data_ + 1), hipErrorInvalidValue);
}

class Mapped : public Managed {
 protected:
  void SetUp() override {
    if (attribute(hipDeviceAttributeCanMapHostMemory) == 0)
      GTEST_SKIP() << "devices do not reach host memory here";
    ASSERT_EQ(hipHostMalloc(reinterpret_cast<void**>(&host_), kManagedBytes, hipHostMallocMapped),
              hipSuccess);
    ASSERT_EQ(hipHostGetDevicePointer(&device_, host_, 0), hipSuccess);
  }
  void TearDown() override { HIP_OK(hipHostFree(host_)); }
  int* host_ = nullptr;
  void* device_ = nullptr;
};

TEST_F(Mapped, KernelsUseTheHostsMemory) {
  TestStream stream;
  std::iota(host_, host_ + kManagedCount, 3);
  increment(device_, stream);
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(std::vector<int>(host_, host_ + kManagedCount), counting_ints(kManagedCount, 4));
  HIP_OK(hipMemset(device_, 0, kManagedBytes));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(host_[77], 0);
}

// Work sees what the host wrote just before the stream came to it, as a GPU reading over the bus does.
TEST_F(Mapped, CopiesReadWhenTheStreamIsThere) {
  if (attribute(hipDeviceAttributeConcurrentManagedAccess) == 0) GTEST_SKIP() << "the device reads a copy";
  TestStream stream;
  DeviceBuffer device(kManagedBytes);
  std::vector<int> back(kManagedCount);
  std::fill(host_, host_ + kManagedCount, 1);
  Gate gate;
  gate.close(stream);
  HIP_OK(hipMemcpyAsync(device.get(), host_, kManagedBytes, hipMemcpyHostToDevice, stream));
  std::fill(host_, host_ + kManagedCount, 2);
  gate.open();
  HIP_OK(hipStreamSynchronize(stream));
  HIP_OK(hipMemcpy(back.data(), device.get(), kManagedBytes, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, std::vector<int>(kManagedCount, 2));
}

// The memory may be used again for anything as soon as a synchronous copy has returned.
TEST_F(Mapped, SynchronousCopiesHaveHappened) {
  DeviceBuffer device(kManagedBytes);
  std::vector<int> back(kManagedCount);
  for (int round = 0; round < 20; ++round) {
    std::fill(host_, host_ + kManagedCount, round);
    HIP_OK(hipMemcpy(device.get(), host_, kManagedBytes, hipMemcpyHostToDevice));
    std::fill(host_, host_ + kManagedCount, -1);
    HIP_OK(hipMemcpy(back.data(), device.get(), kManagedBytes, hipMemcpyDeviceToHost));
    ASSERT_EQ(back, std::vector<int>(kManagedCount, round));
    HIP_OK(hipMemcpy(host_, device.get(), kManagedBytes, hipMemcpyDeviceToHost));
    ASSERT_EQ(host_[kManagedCount - 1], round);
  }
}

TEST_F(Mapped, FreeingWaitsForTheDevice) {
  TestStream stream;
  DeviceBuffer device(kManagedBytes);
  for (int round = 0; round < 20; ++round) {
    int* mine = nullptr;
    HIP_OK(hipHostMalloc(reinterpret_cast<void**>(&mine), kManagedBytes, hipHostMallocDefault));
    std::fill(mine, mine + kManagedCount, round);
    HIP_OK(hipMemcpyAsync(device.get(), mine, kManagedBytes, hipMemcpyHostToDevice, stream));
    HIP_OK(hipHostFree(mine));
    int* next = nullptr;  // likely in the same place
    HIP_OK(hipHostMalloc(reinterpret_cast<void**>(&next), kManagedBytes, hipHostMallocDefault));
    std::fill(next, next + kManagedCount, -1);
    EXPECT_EQ(read_ints(device.get(), kManagedCount), std::vector<int>(kManagedCount, round));
    HIP_OK(hipHostFree(next));
  }
}

TEST_F(Mapped, BoxesFromAndToPinnedMemory) {
  constexpr std::size_t kPitch = 400;
  constexpr std::size_t kWidth = 300;
  constexpr std::size_t kRows = 100;
  DeviceBuffer device(kPitch * kRows);
  auto* const bytes = reinterpret_cast<unsigned char*>(host_);
  std::fill(bytes, bytes + kPitch * kRows, 9);
  HIP_OK(hipMemset(device.get(), 0, kPitch * kRows));
  HIP_OK(hipMemcpy2D(device.get(), kPitch, bytes, kWidth, kWidth, kRows, hipMemcpyHostToDevice));
  std::fill(bytes, bytes + kPitch * kRows, 0);
  HIP_OK(hipMemcpy2D(bytes, kPitch, device.get(), kPitch, kPitch, kRows, hipMemcpyDeviceToHost));
  EXPECT_EQ(bytes[kWidth - 1], 9);
  EXPECT_EQ(bytes[kWidth], 0);
  EXPECT_EQ(bytes[(kRows - 1) * kPitch], 9);
}

}  // namespace
}  // namespace tf::api_test
