// SPDX-License-Identifier: Apache-2.0
// A synchronous copy from pageable memory to the device returns after the earlier work of its stream, as far
// as a program can tell. A program of its own: none of its streams is non-blocking, and until the tests of
// pinned memory none of its memory is reached by devices. So the order of these tests matters.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"

namespace tf::api_test {
namespace {

class CopyWaits : public testing::Test {
 protected:
  // Work that takes a while.
  void keep_busy(hipStream_t stream) { launch_slow_store(scratch_.get<int>(), 1, stream); }
  // From pageable memory, and small, as most such copies are.
  void copy() { HIP_OK(hipMemcpy(target_.get(), &source_, sizeof source_, hipMemcpyHostToDevice)); }

  DeviceBuffer scratch_{sizeof(int)};
  DeviceBuffer target_{sizeof(int)};
  int source_ = 5;
};

TEST_F(CopyWaits, ThenItsStreamIsDone) {
  keep_busy(nullptr);
  copy();
  EXPECT_EQ(hipStreamQuery(nullptr), hipSuccess);
  copy();
  EXPECT_EQ(hipStreamQuery(nullptr), hipSuccess) << "the copy itself";
}

TEST_F(CopyWaits, ThenStreamsThatTheNullStreamWaitsForAreDone) {
  TestStream one;
  TestStream other;
  keep_busy(one);
  copy();
  EXPECT_EQ(hipStreamQuery(one), hipSuccess);
  keep_busy(one);
  copy();
  keep_busy(other);
  EXPECT_EQ(hipStreamQuery(one), hipSuccess) << "with later work on another stream";
  HIP_OK(hipDeviceSynchronize());
}

TEST_F(CopyWaits, ThenEventsBeforeItAreReached) {
  TestStream stream;
  TestEvent start;
  TestEvent stop;
  TestEvent behind;
  HIP_OK(hipEventRecord(start, stream));
  keep_busy(stream);
  HIP_OK(hipEventRecord(stop, stream));
  copy();
  keep_busy(stream);
  HIP_OK(hipEventRecord(behind, stream));
  float milliseconds = 0;
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, stop), hipSuccess);
  EXPECT_EQ(hipEventQuery(stop), hipSuccess);
  HIP_OK(hipEventSynchronize(behind));
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, behind), hipSuccess);
}

// The copy had nothing to do with it.
TEST_F(CopyWaits, LaterWorkIsAskedAboutAndNotWaitedFor) {
  TestStream stream;
  TestEvent behind;
  Gate gate;
  keep_busy(stream);
  copy();
  gate.close(stream);
  HIP_OK(hipEventRecord(behind, stream));
  EXPECT_EQ(hipStreamQuery(stream), hipErrorNotReady);
  EXPECT_EQ(hipEventQuery(behind), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(hipEventQuery(behind), hipSuccess);
}

TEST_F(CopyWaits, ThenEarlierHostFunctionsHaveRun) {
  std::atomic<bool> ran{false};
  const auto run = [](void* flag) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    static_cast<std::atomic<bool>*>(flag)->store(true);
  };
  HIP_OK(hipLaunchHostFunc(nullptr, run, &ran));
  copy();
  EXPECT_TRUE(ran);
}

TEST_F(CopyWaits, ThenEarlierCopiesFromTheDeviceHaveLanded) {
  PinnedBuffer pinned(sizeof(int));
  *pinned.as<int>() = 0;
  keep_busy(nullptr);
  HIP_OK(hipMemcpyAsync(pinned.as<int>(), scratch_.get(), sizeof(int), hipMemcpyDeviceToHost, nullptr));
  copy();
  EXPECT_EQ(*pinned.as<int>(), 1);
}

TEST_F(CopyWaits, ThenKernelsHaveWrittenPinnedMemory) {
  PinnedBuffer pinned(sizeof(int));
  void* on_device = nullptr;
  HIP_OK(hipHostGetDevicePointer(&on_device, pinned.as<int>(), 0));
  *pinned.as<int>() = 0;
  launch_slow_store(static_cast<int*>(on_device), 7, nullptr);
  copy();
  EXPECT_EQ(*pinned.as<int>(), 7);
}

TEST_F(CopyWaits, ThenManagedMemoryMayBeRead) {
  void* managed = nullptr;
  HIP_OK(hipMallocManaged(&managed, sizeof(int), hipMemAttachGlobal));
  auto& value = *static_cast<int*>(managed);
  value = 0;
  launch_slow_store(&value, 8, nullptr);
  copy();
  EXPECT_EQ(value, 8);
  HIP_OK(hipFree(managed));
}

// The program's first stream that is not ordered behind the null stream. A process of its own, where none of
// the tests above has made memory that devices reach (CMakeLists.txt).
class NewStream : public CopyWaits {};

TEST_F(NewStream, FindsWhatWasCopiedBefore) {
  HIP_OK(hipMemset(target_.get(), 0, sizeof(int)));
  HIP_OK(hipDeviceSynchronize());
  DeviceBuffer other(sizeof(int));
  keep_busy(nullptr);
  copy();
  HIP_OK(hipMemcpy(other.get(), target_.get(), sizeof(int), hipMemcpyDeviceToDevice));
  keep_busy(nullptr);
  TestStream stream(hipStreamNonBlocking);
  for (void* const copied : {target_.get(), other.get()}) {
    int back = 0;
    HIP_OK(hipMemcpyAsync(&back, copied, sizeof back, hipMemcpyDeviceToHost, stream));
    HIP_OK(hipStreamSynchronize(stream));
    EXPECT_EQ(back, source_);
  }
}

}  // namespace
}  // namespace tf::api_test
