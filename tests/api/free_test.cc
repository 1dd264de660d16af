// SPDX-License-Identifier: Apache-2.0
// Calls that free memory wait for the devices, as far as a program can tell.
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"

namespace tf::api_test {
namespace {

constexpr int kCount = 2 << 20;
constexpr std::size_t kFreedBytes = kCount * sizeof(int);

// Something that can be freed. make() returns what frees it.
struct Kind {
  const char* name;
  std::function<void()> (*make)();
};

void must(hipError_t error) { EXPECT_EQ(error, hipSuccess); }

std::function<void()> a_block() {
  void* block = nullptr;
  must(hipMalloc(&block, 4096));
  return [block] { must(hipFree(block)); };
}

std::function<void()> pinned_memory() {
  void* pinned = nullptr;
  must(hipHostMalloc(&pinned, 4096, 0));
  return [pinned] { must(hipHostFree(pinned)); };
}

std::function<void()> registered_memory() {
  static std::array<char, 4096> memory;
  must(hipHostRegister(memory.data(), memory.size(), 0));
  return [] { must(hipHostUnregister(memory.data())); };
}

std::function<void()> an_array() {
  const hipChannelFormatDesc elements = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
  hipArray* array = nullptr;
  must(hipMallocArray(&array, &elements, 16, 16, 0));
  return [array] { must(hipFreeArray(array)); };
}

std::function<void()> a_mipmapped_array() {
  const hipChannelFormatDesc elements = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
  hipMipmappedArray_t array = nullptr;
  must(hipMallocMipmappedArray(&array, &elements, {16, 16, 0}, 2, 0));
  return [array] { must(hipFreeMipmappedArray(array)); };
}

class Freeing : public testing::TestWithParam<Kind> {};

// Libraries free what their host functions use.
TEST_P(Freeing, HostFunctionsHaveRun) {
  TestStream stream;
  const std::function<void()> release = GetParam().make();
  std::atomic<bool> ran = false;
  HIP_OK(hipLaunchHostFunc(
      stream,
      [](void* data) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        static_cast<std::atomic<bool>*>(data)->store(true);
      },
      &ran));
  release();
  EXPECT_TRUE(ran);
  HIP_OK(hipStreamSynchronize(stream));
}

TEST_P(Freeing, CopiesHaveArrived) {
  TestStream stream;
  DeviceBuffer device(kFreedBytes);
  PinnedBuffer host(kFreedBytes);
  std::memset(host.as<void>(), 1, kFreedBytes);
  const std::function<void()> release = GetParam().make();
  HIP_OK(hipMemsetAsync(device.get(), 9, kFreedBytes, stream));
  HIP_OK(hipMemcpyAsync(host.as<void>(), device.get(), kFreedBytes, hipMemcpyDeviceToHost, stream));
  release();
  EXPECT_EQ(host.as<char>()[0], 9);
  EXPECT_EQ(host.as<char>()[kFreedBytes - 1], 9);
  HIP_OK(hipStreamSynchronize(stream));
}

TEST_P(Freeing, KernelsHaveWrittenToHostMemory) {
  TestStream stream;
  PinnedBuffer host(kFreedBytes);
  std::memset(host.as<void>(), 1, kFreedBytes);
  void* seen = nullptr;
  HIP_OK(hipHostGetDevicePointer(&seen, host.as<void>(), 0));
  const std::function<void()> release = GetParam().make();
  launch_fill(static_cast<int*>(seen), 5, kCount, stream);
  release();
  EXPECT_EQ(host.as<int>()[0], 5);
  EXPECT_EQ(host.as<int>()[kCount - 1], 5 + kCount - 1);
  HIP_OK(hipStreamSynchronize(stream));
}

// HIP does not allow it, and natively it may hang: the function's stream waits for the function.
TEST(FreeingInAHostFunction, DoesNotWaitForItsStream) {
  if (!is_remote()) GTEST_SKIP() << "natively not allowed";
  TestStream stream;
  void* block = nullptr;
  HIP_OK(hipMalloc(&block, 4096));
  HIP_OK(hipLaunchHostFunc(
      stream, [](void* data) { EXPECT_EQ(hipFree(data), hipSuccess); }, block));
  HIP_OK(hipStreamSynchronize(stream));
}

INSTANTIATE_TEST_SUITE_P(Everything, Freeing,
                         testing::Values(Kind{"Block", a_block}, Kind{"Pinned", pinned_memory},
                                         Kind{"Registered", registered_memory}, Kind{"Array", an_array},
                                         Kind{"MipmappedArray", a_mipmapped_array}),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace tf::api_test
