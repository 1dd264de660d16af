// SPDX-License-Identifier: Apache-2.0
// Launches on several devices by one call, launches of older compilers, and the names of kernels.
#include <string>

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"
#include "tests/api/module_fixture.h"

namespace hip_impl {
// functional_grid_launch.hpp of older releases declares it.
void hipLaunchKernelGGLImpl(std::uintptr_t function, const dim3& grid, const dim3& block,
                            std::uint32_t shared_bytes, hipStream_t stream, void** arguments);
}  // namespace hip_impl

// hipFunctionLaunchParams of HIP 5.5.
struct FunctionLaunch {
  hipFunction_t function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  hipStream_t stream;
  void** arguments;
};
extern "C" hipError_t hipModuleLaunchCooperativeKernelMultiDevice(FunctionLaunch* launches, unsigned count,
                                                                  unsigned flags);

namespace tf::api_test {
namespace {

constexpr int kCount = 300;
constexpr unsigned kNoPreSync = 1;  // hipCooperativeLaunchMultiDeviceNoPreSync and NoPostSync
constexpr unsigned kNoPostSync = 2;

// A launch of the program's fill kernel: out[i] = value + i.
class FillLaunch {
 public:
  FillLaunch(int value, hipStream_t stream) : value_(value) {
    out_ = memory_.get();
    launch_.func = const_cast<void*>(fill_kernel());
    launch_.gridDim = dim3(3);
    launch_.blockDim = dim3(128);
    launch_.args = arguments_;
    launch_.stream = stream;
  }
  FillLaunch(const FillLaunch&) = delete;
  FillLaunch& operator=(const FillLaunch&) = delete;

  hipLaunchParams& operator*() { return launch_; }
  std::vector<int> read() const { return read_ints(memory_.get(), kCount); }
  std::vector<int> expected() const { return counting_ints(kCount, value_); }

 private:
  DeviceBuffer memory_{kCount * sizeof(int)};
  void* out_ = nullptr;
  int value_ = 0;
  int count_ = kCount;
  void* arguments_[3] = {&out_, &value_, &count_};
  hipLaunchParams launch_{};
};

TEST(MultiDeviceLaunch, OnOneDevice) {
  TestStream stream;
  FillLaunch plain(3, stream);
  FillLaunch cooperative(5, stream);
  FillLaunch left(7, stream);
  HIP_OK(hipExtLaunchMultiKernelMultiDevice(&*plain, 1, 0));
  EXPECT_EQ(hipStreamQuery(stream), hipSuccess) << "waited for";
  EXPECT_EQ(plain.read(), plain.expected());
  HIP_OK(hipLaunchCooperativeKernelMultiDevice(&*cooperative, 1, 0));
  EXPECT_EQ(hipStreamQuery(stream), hipSuccess) << "waited for";
  EXPECT_EQ(cooperative.read(), cooperative.expected());
  Gate gate;
  gate.close(stream);
  HIP_OK(hipLaunchCooperativeKernelMultiDevice(&*left, 1, kNoPreSync | kNoPostSync));
  EXPECT_EQ(hipStreamQuery(stream), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(left.read(), left.expected());
}

TEST(MultiDeviceLaunch, OnTwoDevices) {
  if (device_count() < 2) GTEST_SKIP() << "one device";
  TestStream first_stream;
  FillLaunch first(10, first_stream);
  HIP_OK(hipSetDevice(1));
  {
    TestStream second_stream;
    FillLaunch second(20, second_stream);
    HIP_OK(hipSetDevice(0));
    hipLaunchParams both[] = {*second, *first};
    HIP_OK(hipLaunchCooperativeKernelMultiDevice(both, 2, 0));
    int device = -1;
    HIP_OK(hipGetDevice(&device));
    EXPECT_EQ(device, 0) << "the thread's device is as before";
    EXPECT_EQ(first.read(), first.expected());
    EXPECT_EQ(second.read(), second.expected());
    both[0].func = nullptr;
    EXPECT_EQ(hipExtLaunchMultiKernelMultiDevice(both, 2, 0), hipErrorInvalidDeviceFunction);
    HIP_OK(hipSetDevice(1));
  }
  HIP_OK(hipSetDevice(0));
}

TEST(MultiDeviceLaunch, WrongOnesAreRefused) {
  TestStream stream;
  FillLaunch good(1, stream);
  using Launch = hipError_t (*)(hipLaunchParams*, int, unsigned);
  for (const Launch launch : {static_cast<Launch>(hipLaunchCooperativeKernelMultiDevice),
                              static_cast<Launch>(hipExtLaunchMultiKernelMultiDevice)}) {
    EXPECT_EQ(launch(nullptr, 1, 0), hipErrorInvalidValue);
    EXPECT_EQ(launch(&*good, 0, 0), hipErrorInvalidValue);
    EXPECT_EQ(launch(&*good, -1, 0), hipErrorInvalidValue);
    EXPECT_EQ(launch(&*good, 1000, 0), hipErrorInvalidValue);
    EXPECT_EQ(launch(&*good, 1, 4), hipErrorInvalidValue);
    hipLaunchParams wrong = *good;
    wrong.stream = nullptr;
    EXPECT_EQ(launch(&wrong, 1, 0), hipErrorInvalidHandle);
    wrong.stream = reinterpret_cast<hipStream_t>(0x7777);
    EXPECT_EQ(launch(&wrong, 1, 0), hipErrorInvalidValue);
    wrong = *good;
    wrong.func = nullptr;
    EXPECT_EQ(launch(&wrong, 1, 0), hipErrorInvalidDeviceFunction);
    wrong.func = &wrong;
    EXPECT_EQ(launch(&wrong, 1, 0), hipErrorInvalidDeviceFunction);
    wrong = *good;
    wrong.blockDim.y = 0;
    EXPECT_EQ(launch(&wrong, 1, 0), hipErrorInvalidConfiguration);
    wrong = *good;
    wrong.blockDim.x = 4096;
    EXPECT_EQ(launch(&wrong, 1, 0), hipErrorInvalidConfiguration);
    EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidConfiguration);
  }
  if (device_count() < 2) return;
  hipLaunchParams twice[] = {*good, *good};
  EXPECT_EQ(hipExtLaunchMultiKernelMultiDevice(twice, 2, 0), hipErrorInvalidDevice);
}

// Every block reads what its neighbour wrote before all of them met. A kernel for the host's cores only.
TEST(CooperativeLaunch, BlocksMeet) {
  hipDeviceProp_t properties{};
  HIP_OK(hipGetDeviceProperties(&properties, 0));
  if (std::string(properties.gcnArchName) != "x86_64-cpu") GTEST_SKIP() << properties.gcnArchName;
  constexpr unsigned kBlocks = 2, kThreads = 64;
  LoadedModule module(CORE_KERNEL_FILE);
  TestStream stream;
  DeviceBuffer data(kBlocks * kThreads * sizeof(int));
  DeviceBuffer out(kBlocks * kThreads * sizeof(int));
  void *from = data.get(), *to = out.get();
  void* arguments[] = {&from, &to};
  FunctionLaunch launch{module.function("grid_shift"), kBlocks, 1, 1, kThreads, 1, 1, 0, stream, arguments};
  HIP_OK(hipModuleLaunchCooperativeKernelMultiDevice(&launch, 1, 0));
  HIP_OK(hipStreamSynchronize(stream));
  const auto read = read_ints(out.get(), kBlocks * kThreads);
  for (unsigned i = 0; i < read.size(); ++i)
    EXPECT_EQ(read[i], static_cast<int>((i + kThreads) % (kBlocks * kThreads)));
}

// By the functions' handles.
TEST(MultiDeviceLaunch, OfModuleFunctions) {
  LoadedModule module;
  TestStream stream;
  DeviceBuffer device(kCount * sizeof(int));
  void* out = device.get();
  int value = 11;
  int count = kCount;
  void* arguments[] = {&out, &value, &count};
  FunctionLaunch launch{module.function("fill"), 3, 1, 1, 128, 1, 1, 0, stream, arguments};
  HIP_OK(hipModuleLaunchCooperativeKernelMultiDevice(&launch, 1, 0));
  EXPECT_EQ(hipStreamQuery(stream), hipSuccess) << "waited for";
  EXPECT_EQ(read_ints(device.get(), kCount), counting_ints(kCount, 11));
  EXPECT_EQ(hipModuleLaunchCooperativeKernelMultiDevice(nullptr, 1, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLaunchCooperativeKernelMultiDevice(&launch, 0, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLaunchCooperativeKernelMultiDevice(&launch, ~0u, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLaunchCooperativeKernelMultiDevice(&launch, 1, 4), hipErrorInvalidValue);
  FunctionLaunch wrong = launch;
  wrong.stream = nullptr;
  EXPECT_EQ(hipModuleLaunchCooperativeKernelMultiDevice(&wrong, 1, 0), hipErrorInvalidHandle);
  wrong = launch;
  wrong.function = nullptr;
  EXPECT_EQ(hipModuleLaunchCooperativeKernelMultiDevice(&wrong, 1, 0), hipErrorInvalidHandle);
  wrong = launch;
  wrong.block_z = 0;
  EXPECT_EQ(hipModuleLaunchCooperativeKernelMultiDevice(&wrong, 1, 0), hipErrorInvalidConfiguration);
}

TEST(LaunchByPtr, TakesArgumentsOneByOne) {
  DeviceBuffer device(kCount * sizeof(int));
  void* out = device.get();
  const int value = 6;
  const int count = kCount;
  TestStream stream;
  HIP_OK(hipConfigureCall(dim3(3), dim3(128), 0, stream));
  HIP_OK(hipSetupArgument(&value, sizeof value, 8));
  HIP_OK(hipSetupArgument(&count, sizeof count, 12));
  HIP_OK(hipSetupArgument(&out, sizeof out, 0));
  HIP_OK(hipLaunchByPtr(fill_kernel()));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(device.get(), kCount), counting_ints(kCount, value));
}

TEST(LaunchByPtr, ConfigurationsAreAStack) {
  DeviceBuffer device(kCount * sizeof(int));
  void* out = device.get();
  const int value = 30;
  const int count = kCount;
  HIP_OK(hipConfigureCall(dim3(1), dim3(64), 0, nullptr));
  HIP_OK(hipSetupArgument(&out, sizeof out, 0));
  HIP_OK(hipConfigureCall(dim3(3), dim3(128), 0, nullptr));
  HIP_OK(hipSetupArgument(&out, sizeof out, 0));
  HIP_OK(hipSetupArgument(&value, sizeof value, 8));
  HIP_OK(hipSetupArgument(&count, sizeof count, 12));
  HIP_OK(hipLaunchByPtr(fill_kernel()));
  EXPECT_EQ(read_ints(device.get(), kCount), counting_ints(kCount, value));
  HIP_OK(hipLaunchByPtr(bounded_kernel()));  // the outer one: writes 64 ones
  EXPECT_EQ(read_ints(device.get(), 65)[63], 1);
  EXPECT_EQ(read_ints(device.get(), 65)[64], value + 64);
  EXPECT_EQ(hipLaunchByPtr(fill_kernel()), hipErrorMissingConfiguration);
}

TEST(LaunchByPtr, WrongOnesAreRefused) {
  int value = 0;
  EXPECT_EQ(hipSetupArgument(&value, sizeof value, 0), hipErrorMissingConfiguration);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorMissingConfiguration);
  HIP_OK(hipConfigureCall(dim3(1), dim3(1), 0, nullptr));
  EXPECT_EQ(hipSetupArgument(nullptr, 4, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipSetupArgument(&value, sizeof value, SIZE_MAX), hipErrorInvalidValue);
  EXPECT_EQ(hipSetupArgument(&value, SIZE_MAX, 4), hipErrorInvalidValue);
  EXPECT_EQ(hipLaunchByPtr(nullptr), hipErrorInvalidDeviceFunction);
  HIP_OK(hipConfigureCall(dim3(1), dim3(1), 0, nullptr));
  EXPECT_EQ(hipLaunchByPtr(&value), hipErrorInvalidDeviceFunction);
  HIP_OK(hipConfigureCall(dim3(1), dim3(4096), 0, nullptr));
  EXPECT_EQ(hipLaunchByPtr(fill_kernel()), hipErrorInvalidConfiguration);
}

TEST(LaunchByPtr, OldMacroLaunches) {
  DeviceBuffer device(kCount * sizeof(int));
  struct {
    void* out;
    int value;
    int count;
  } packed{device.get(), 9, kCount};
  std::size_t bytes = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  const auto function = reinterpret_cast<std::uintptr_t>(fill_kernel());
  hip_impl::hipLaunchKernelGGLImpl(function, dim3(3), dim3(128), 0, nullptr, extra);
  HIP_OK(hipPeekAtLastError());
  EXPECT_EQ(read_ints(device.get(), kCount), counting_ints(kCount, 9));
  hip_impl::hipLaunchKernelGGLImpl(0, dim3(3), dim3(128), 0, nullptr, extra);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDeviceFunction);
}

TEST(KernelName, ByHandleAndByStub) {
  LoadedModule module;
  const hipFunction_t function = module.function("increment");
  ASSERT_NE(hipKernelNameRef(function), nullptr);
  EXPECT_EQ(std::string(hipKernelNameRef(function)), "increment");
  EXPECT_EQ(hipKernelNameRef(nullptr), nullptr);
  ASSERT_NE(hipKernelNameRefByPtr(fill_kernel(), nullptr), nullptr);
  EXPECT_NE(std::string(hipKernelNameRefByPtr(fill_kernel(), nullptr)).find("fill"), std::string::npos);
  EXPECT_EQ(hipKernelNameRefByPtr(nullptr, nullptr), nullptr);
  EXPECT_EQ(hipKernelNameRefByPtr(&module, nullptr), nullptr);
}

TEST(KernelName, IsGoneWithItsModule) {
  if (is_nvidia()) GTEST_SKIP() << "the driver follows any function";
  hipFunction_t function = nullptr;
  {
    LoadedModule module;
    function = module.function("increment");
  }
  EXPECT_EQ(hipKernelNameRef(function), nullptr);
}

}  // namespace
}  // namespace tf::api_test
