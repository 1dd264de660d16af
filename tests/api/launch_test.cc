// SPDX-License-Identifier: Apache-2.0
// Kernels of a code object: arguments, shapes, limits, events around a launch.
#include <hip/hip_ext.h>

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"
#include "tests/api/module_fixture.h"

namespace tf::api_test {
namespace {

constexpr int kLaunchCount = 1000;

hipError_t launch_1d(hipFunction_t function, unsigned blocks, unsigned threads, void** arguments,
                     unsigned shared_bytes = 0, hipStream_t stream = nullptr) {
  return hipModuleLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, stream, arguments,
                               nullptr);
}

TEST(Launch, KernelParams) {
  LoadedModule module;
  DeviceBuffer device(kLaunchCount * sizeof(int));
  void* out = device.get();
  int value = 5;
  int n = kLaunchCount;
  void* arguments[] = {&out, &value, &n};
  HIP_OK(launch_1d(module.function("fill"), 8, 128, arguments));
  EXPECT_EQ(read_ints(device.get(), kLaunchCount), counting_ints(kLaunchCount, 5));
}

TEST(Launch, ExtraBuffer) {
  LoadedModule module;
  DeviceBuffer device(kLaunchCount * sizeof(int));
  struct {
    void* out;
    int value;
    int n;
  } packed = {device.get(), 77, kLaunchCount};
  std::size_t bytes = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  const hipFunction_t fill = module.function("fill");
  HIP_OK(hipModuleLaunchKernel(fill, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(read_ints(device.get(), kLaunchCount), counting_ints(kLaunchCount, 77));
  void* arguments[] = {&packed.out, &packed.value, &packed.n};
  EXPECT_EQ(hipModuleLaunchKernel(fill, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, extra),
            hipErrorInvalidValue)
      << "both ways at once";
}

TEST(Launch, WithoutArguments) {
  LoadedModule module;
  HIP_OK(launch_1d(module.function("nothing"), 1, 1, nullptr));
  EXPECT_EQ(launch_1d(module.function("fill"), 1, 1, nullptr), hipErrorInvalidValue);
  HIP_OK(hipDeviceSynchronize());
}

TEST(Launch, StructArguments) {
  LoadedModule module;
  DeviceBuffer device(5 * sizeof(long long));
  Mixed mixed = {-3, 'x', 2.5, {0, 1, 2, 3, 4, 5, 6, 7, 8, 99}};
  char small = 'y';
  void* out = device.get();
  void* arguments[] = {&mixed, &small, &out};
  HIP_OK(launch_1d(module.function("take_struct"), 1, 1, arguments));
  long long values[5] = {};
  HIP_OK(hipMemcpy(values, device.get(), sizeof values, hipMemcpyDeviceToHost));
  EXPECT_EQ(std::vector<long long>(values, values + 5), (std::vector<long long>{-3, 'x', 5, 99, 'y'}));
}

// What the arguments hold at the call counts, not later.
TEST(Launch, ArgumentsAreTakenAtTheCall) {
  LoadedModule module;
  TestStream stream;
  DeviceBuffer device(kLaunchCount * sizeof(int));
  const hipFunction_t fill = module.function("fill");
  Gate gate;
  gate.close(stream);
  void* out = device.get();
  int value = 1;
  int n = kLaunchCount;
  void* arguments[] = {&out, &value, &n};
  HIP_OK(launch_1d(fill, 8, 128, arguments, 0, stream));
  value = 1000;
  n = 3;
  HIP_OK(launch_1d(fill, 1, 128, arguments, 0, stream));
  out = nullptr;
  gate.open();
  HIP_OK(hipStreamSynchronize(stream));
  std::vector<int> expected = counting_ints(kLaunchCount, 1);
  for (int i = 0; i < 3; ++i) expected[static_cast<std::size_t>(i)] = 1000 + i;
  EXPECT_EQ(read_ints(device.get(), kLaunchCount), expected);
}

TEST(Launch, ThreeDimensions) {
  LoadedModule module;
  constexpr std::size_t kTotal = 3 * 2 * 2 * 4 * 3 * 2;
  DeviceBuffer device(kTotal * sizeof(int));
  void* out = device.get();
  void* arguments[] = {&out};
  HIP_OK(hipModuleLaunchKernel(module.function("shape"), 3, 2, 2, 4, 3, 2, 0, nullptr, arguments, nullptr));
  const std::vector<int> values = read_ints(device.get(), kTotal);
  for (std::size_t i = 0; i < kTotal; ++i) ASSERT_EQ(values[i], static_cast<int>(i / 24 * 1000 + i % 24));
}

TEST(Launch, SharedMemory) {
  LoadedModule module;
  DeviceBuffer device(256 * sizeof(int));
  const std::vector<int> values = counting_ints(256, 0);
  HIP_OK(hipMemcpy(device.get(), values.data(), 256 * sizeof(int), hipMemcpyHostToDevice));
  void* data = device.get();
  void* arguments[] = {&data};
  HIP_OK(launch_1d(module.function("reverse_shared"), 1, 256, arguments, 256 * sizeof(int)));
  EXPECT_EQ(read_ints(device.get(), 256), std::vector<int>(values.rbegin(), values.rend()));
  int limit = 0;
  HIP_OK(hipDeviceGetAttribute(&limit, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
  EXPECT_EQ(launch_1d(module.function("reverse_shared"), 1, 256, arguments, static_cast<unsigned>(limit) + 1),
            hipErrorInvalidValue);
  HIP_OK(hipDeviceSynchronize());
}

TEST(Launch, BadShapesAreRefused) {
  LoadedModule module;
  const hipFunction_t nothing = module.function("nothing");
  EXPECT_EQ(launch_1d(nothing, 0, 1, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(launch_1d(nothing, 1, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(launch_1d(nothing, 1, 1025, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(launch_1d(nothing, 1u << 31, 1, nullptr), hipErrorInvalidValue)
      << "more blocks than a device takes";
  EXPECT_EQ(launch_1d(nothing, 1u << 24, 1024, nullptr), hipErrorInvalidConfiguration) << "2^34 threads";
  EXPECT_EQ(hipModuleLaunchKernel(nothing, 1, 1, 1, 64, 64, 1, 0, nullptr, nullptr, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(
      hipExtModuleLaunchKernel(nothing, 0, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr, nullptr, nullptr, 0),
      hipErrorInvalidValue);
  EXPECT_EQ(launch_1d(nullptr, 0, 0, nullptr), hipErrorInvalidHandle);
  DeviceBuffer device(1024);
  void* out = device.get();
  void* arguments[] = {&out};
  EXPECT_EQ(launch_1d(module.function("at_most_64"), 1, 65, arguments), hipErrorLaunchFailure);
  HIP_OK(launch_1d(module.function("at_most_64"), 1, 64, arguments));
  EXPECT_EQ(launch_1d(nullptr, 1, 1, nullptr), hipErrorInvalidHandle);
  HIP_OK(hipDeviceSynchronize());
}

TEST(Launch, OnAnUnknownStream) {
  LoadedModule module;
  hipStream_t gone = nullptr;
  HIP_OK(hipStreamCreate(&gone));
  HIP_OK(hipStreamDestroy(gone));
  EXPECT_EQ(launch_1d(module.function("nothing"), 1, 1, nullptr, 0, gone), hipErrorContextIsDestroyed);
}

TEST(Launch, WithEventsAround) {
  LoadedModule module;
  TestStream stream;
  TestEvent start;
  TestEvent stop;
  DeviceBuffer device(sizeof(int));
  void* out = device.get();
  int value = 9;
  int rounds = 2000000;
  void* arguments[] = {&out, &value, &rounds};
  HIP_OK(hipExtModuleLaunchKernel(module.function("slow"), 32, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr,
                                  start, stop, 0));
  HIP_OK(hipEventSynchronize(stop));
  float milliseconds = -1;
  HIP_OK(hipEventElapsedTime(&milliseconds, start, stop));
  EXPECT_GT(milliseconds, 0.0f);
  EXPECT_EQ(read_ints(device.get(), 1), std::vector<int>{9});
}

TEST(Launch, CountedInThreads) {
  LoadedModule module;
  const hipFunction_t count = module.function("count_threads");
  hipError_t launched = hipSuccess;
  // How many threads each block had.
  const auto counted = [&](unsigned all, unsigned local) {
    DeviceBuffer device(3 * sizeof(int));
    EXPECT_EQ(hipMemset(device.get(), 0, 3 * sizeof(int)), hipSuccess);
    void* out = device.get();
    void* arguments[] = {&out};
    launched = hipExtModuleLaunchKernel(count, all, 1, 1, local, 1, 1, 0, nullptr, arguments, nullptr,
                                        nullptr, nullptr, 0);
    return read_ints(device.get(), 3);
  };
  EXPECT_EQ(counted(64, 32), (std::vector<int>{32, 32, 0}));
  EXPECT_EQ(counted(8, 32), (std::vector<int>{8, 0, 0})) << "a block is not longer than the launch";
  EXPECT_EQ(launched, hipSuccess);
  const bool amd = is_amd();
  EXPECT_EQ(counted(40, 32), (amd ? std::vector<int>{32, 8, 0} : std::vector<int>{0, 0, 0}))
      << "a smaller block";
  EXPECT_EQ(launched, amd ? hipSuccess : hipErrorInvalidConfiguration);
  counted(4, 2048);
  EXPECT_EQ(launched, hipErrorInvalidValue) << "a block of too many threads";
  counted(0, 32);
  EXPECT_EQ(launched, hipErrorInvalidValue);
  counted(8, 0);
  EXPECT_EQ(launched, hipErrorInvalidConfiguration);
}

// The last block of this one is smaller: a runtime that does not take it records nothing.
TEST(Launch, ARefusedLaunchRecordsNoEvent) {
  LoadedModule module;
  TestEvent start;
  TestEvent stop;
  DeviceBuffer device(3 * sizeof(int));
  void* out = device.get();
  void* arguments[] = {&out};
  const hipError_t launched = hipExtModuleLaunchKernel(module.function("count_threads"), 40, 1, 1, 32, 1, 1,
                                                       0, nullptr, arguments, nullptr, start, stop, 0);
  HIP_OK(hipDeviceSynchronize());
  float milliseconds = -1;
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, stop),
            launched == hipSuccess ? hipSuccess : hipErrorInvalidHandle);
  EXPECT_EQ(launched == hipSuccess, is_amd());
}

TEST(Launch, OnTheDeviceOfTheFunction) {
  if (device_count() < 2) GTEST_SKIP() << "one device";
  LoadedModule on_first;
  const hipFunction_t nothing = on_first.function("nothing");
  HIP_OK(hipSetDevice(1));
  {
    LoadedModule on_second;
    DeviceBuffer device(kLaunchCount * sizeof(int));
    void* out = device.get();
    int value = 3;
    int n = kLaunchCount;
    void* arguments[] = {&out, &value, &n};
    HIP_OK(launch_1d(on_second.function("fill"), 8, 128, arguments));
    EXPECT_EQ(read_ints(device.get(), kLaunchCount), counting_ints(kLaunchCount, 3));
    EXPECT_EQ(launch_1d(nothing, 1, 1, nullptr), hipErrorInvalidDevice);
  }
  HIP_OK(hipSetDevice(0));
}

}  // namespace
}  // namespace tf::api_test
