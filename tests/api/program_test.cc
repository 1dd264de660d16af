// SPDX-License-Identifier: Apache-2.0
// Kernels and variables that the compiler put into the program: <<<>>>, symbols, attributes, occupancy.
#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"
#include "tests/api/module_fixture.h"

namespace tf::api_test {
namespace {

constexpr int kProgramCount = 3000;

TEST(Program, Launches) {
  DeviceBuffer device(kProgramCount * sizeof(int));
  launch_fill(device.get<int>(), 12, kProgramCount, nullptr);
  HIP_OK(hipGetLastError());
  EXPECT_EQ(read_ints(device.get(), kProgramCount), counting_ints(kProgramCount, 12));
  TestStream stream;
  launch_fill(device.get<int>(), 13, kProgramCount, stream);
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(device.get(), kProgramCount), counting_ints(kProgramCount, 13));
}

TEST(Program, TemplatesAndStructs) {
  DeviceBuffer device(100 * sizeof(double));
  std::vector<double> values(100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  HIP_OK(hipMemcpy(device.get(), values.data(), 800, hipMemcpyHostToDevice));
  launch_square(device.get<double>(), 100);
  HIP_OK(hipMemcpy(values.data(), device.get(), 800, hipMemcpyDeviceToHost));
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<double>(i * i));

  launch_take_struct({7, 'q', 1.5, {9, 8, 7, 6, 5, 4, 3, 2, 1, -1}}, device.get<long long>());
  long long back[4] = {};
  HIP_OK(hipMemcpy(back, device.get(), sizeof back, hipMemcpyDeviceToHost));
  EXPECT_EQ(std::vector<long long>(back, back + 4), (std::vector<long long>{7, 'q', 3, -1}));
}

TEST(Program, LaunchByStub) {
  DeviceBuffer device(kProgramCount * sizeof(int));
  void* out = device.get();
  int value = 4;
  int n = kProgramCount;
  void* arguments[] = {&out, &value, &n};
  HIP_OK(hipLaunchKernel(fill_kernel(), dim3(24), dim3(128), arguments, 0, nullptr));
  EXPECT_EQ(read_ints(device.get(), kProgramCount), counting_ints(kProgramCount, 4));
  EXPECT_EQ(hipLaunchKernel(nullptr, dim3(1), dim3(1), arguments, 0, nullptr), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(hipLaunchKernel(&value, dim3(1), dim3(1), arguments, 0, nullptr), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(hipLaunchKernel(fill_kernel(), dim3(0), dim3(1), arguments, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipLaunchKernel(bounded_kernel(), dim3(1), dim3(65), arguments, 0, nullptr),
            hipErrorLaunchFailure);
  HIP_OK(hipDeviceSynchronize());
}

TEST(Program, RefusedLaunchIsTheLastError) {
  (void)hipGetLastError();
  void* nothing[] = {nullptr};
  EXPECT_EQ(hipLaunchKernel(fill_kernel(), dim3(1), dim3(4096), nothing, 0, nullptr),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidConfiguration);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidConfiguration);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

TEST(Program, ConstantsAreSetBySymbol) {
  const float factor = 2.5f;
  HIP_OK(hipMemcpyToSymbol(factor_symbol(), &factor, sizeof factor));
  float back = 0;
  HIP_OK(hipMemcpyFromSymbol(&back, factor_symbol(), sizeof back));
  EXPECT_EQ(back, factor);
  std::vector<float> values(kProgramCount, 4.0f);
  DeviceBuffer device(kProgramCount * sizeof(float));
  HIP_OK(hipMemcpy(device.get(), values.data(), kProgramCount * sizeof(float), hipMemcpyHostToDevice));
  launch_scale(device.get<float>(), kProgramCount, nullptr);
  HIP_OK(hipMemcpy(values.data(), device.get(), kProgramCount * sizeof(float), hipMemcpyDeviceToHost));
  EXPECT_EQ(values, std::vector<float>(kProgramCount, 10.0f));
}

TEST(Program, VariablesKeepTheirValue) {
  int before = 0;
  HIP_OK(hipMemcpyFromSymbol(&before, counter_symbol(), sizeof before));
  TestStream stream;
  launch_add_to_counter(5, stream);
  launch_add_to_counter(6, stream);
  int after = 0;
  HIP_OK(hipMemcpyFromSymbolAsync(&after, counter_symbol(), sizeof after, 0, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(after, before + 11);
}

TEST(Program, AnInlineVariableThatNoKernelUsesIsThere) {
  int value = 0;
  HIP_OK(hipMemcpyFromSymbol(&value, inline_symbol(), sizeof value));
  EXPECT_EQ(value, 11);
  value = 12;
  HIP_OK(hipMemcpyToSymbol(inline_symbol(), &value, sizeof value));
  value = 0;
  HIP_OK(hipMemcpyFromSymbol(&value, inline_symbol(), sizeof value));
  EXPECT_EQ(value, 12);
  value = 11;
  HIP_OK(hipMemcpyToSymbol(inline_symbol(), &value, sizeof value));
}

TEST(Program, SymbolsHaveAddressAndSize) {
  void* address = nullptr;
  std::size_t bytes = 0;
  HIP_OK(hipGetSymbolAddress(&address, table_symbol()));
  HIP_OK(hipGetSymbolSize(&bytes, table_symbol()));
  EXPECT_EQ(bytes, 16 * sizeof(int));
  const std::vector<int> values = counting_ints(16, 300);
  HIP_OK(hipMemcpy(address, values.data(), bytes, hipMemcpyHostToDevice));
  const int last = -1;
  HIP_OK(hipMemcpyToSymbol(table_symbol(), &last, sizeof last, 15 * sizeof(int)));
  DeviceBuffer device(bytes);
  launch_read_table(device.get<int>(), nullptr);
  std::vector<int> expected = values;
  expected[15] = -1;
  EXPECT_EQ(read_ints(device.get(), 16), expected);
}

TEST(Program, BadSymbolsAreRefused) {
  int on_stack = 0;
  void* address = nullptr;
  std::size_t bytes = 0;
  const void* const nobody = &on_stack;
  EXPECT_EQ(hipGetSymbolAddress(&address, nobody), hipErrorInvalidSymbol);
  EXPECT_EQ(hipGetSymbolSize(&bytes, nobody), hipErrorInvalidSymbol);
  EXPECT_EQ(hipMemcpyToSymbol(nobody, &on_stack, 4), hipErrorInvalidSymbol);
  EXPECT_EQ(hipMemcpyToSymbol(counter_symbol(), &on_stack, 4, 1), hipErrorInvalidValue) << "beyond its end";
  EXPECT_EQ(hipMemcpyFromSymbol(&on_stack, counter_symbol(), 5), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyToSymbol(counter_symbol(), &on_stack, 4, 0, hipMemcpyDeviceToHost),
            hipErrorInvalidMemcpyDirection);
}

TEST(Program, FunctionAttributes) {
  hipFuncAttributes attributes = {};
  HIP_OK(hipFuncGetAttributes(&attributes, bounded_kernel()));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 64);
  EXPECT_EQ(attributes.sharedSizeBytes, 0u);
  HIP_OK(hipFuncGetAttributes(&attributes, shared_kernel()));
  EXPECT_EQ(attributes.sharedSizeBytes, 1024u);
  EXPECT_EQ(hipFuncGetAttributes(nullptr, shared_kernel()), hipErrorInvalidValue);
  EXPECT_EQ(hipFuncGetAttributes(&attributes, nullptr), hipErrorInvalidDeviceFunction);
  HIP_OK(hipFuncSetCacheConfig(fill_kernel(), hipFuncCachePreferL1));
  HIP_OK(hipFuncSetSharedMemConfig(fill_kernel(), hipSharedMemBankSizeFourByte));
  const auto set = [](hipFuncAttribute attribute, int value) {
    return hipFuncSetAttribute(fill_kernel(), attribute, value);
  };
  for (const int carveout : {-1, 0, 100})
    EXPECT_EQ(set(hipFuncAttributePreferredSharedMemoryCarveout, carveout), hipSuccess) << carveout;
  for (const int carveout : {-2, 101})
    EXPECT_EQ(set(hipFuncAttributePreferredSharedMemoryCarveout, carveout), hipErrorInvalidValue) << carveout;
  HIP_OK(set(hipFuncAttributeMaxDynamicSharedMemorySize, 0));
  int most = 0;
  HIP_OK(hipDeviceGetAttribute(&most, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
  const auto set_shared = [](int bytes) {
    return hipFuncSetAttribute(shared_kernel(), hipFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  HIP_OK(set_shared(most - 1024));
  EXPECT_EQ(set_shared(1 << 30), hipErrorInvalidValue);
  EXPECT_EQ(set(hipFuncAttributeMaxDynamicSharedMemorySize, -1), hipErrorInvalidValue);
  EXPECT_EQ(set(hipFuncAttributeMax, 0), hipErrorInvalidValue);
  unsigned unknown = ~0U;
  EXPECT_EQ(hipFuncSetCacheConfig(fill_kernel(), static_cast<hipFuncCache_t>(unknown)), hipErrorInvalidValue);
  EXPECT_EQ(hipFuncSetSharedMemConfig(fill_kernel(), static_cast<hipSharedMemConfig>(unknown)),
            hipErrorInvalidValue);
  int nobody = 0;
  for (const void* const function : {static_cast<const void*>(nullptr), static_cast<const void*>(&nobody)}) {
    EXPECT_EQ(hipFuncSetCacheConfig(function, hipFuncCachePreferL1), hipErrorInvalidDeviceFunction);
    EXPECT_EQ(hipFuncSetSharedMemConfig(function, hipSharedMemBankSizeFourByte),
              hipErrorInvalidDeviceFunction);
  }
}

// Of the whole code object, whatever the kernel uses of it.
TEST(Program, ConstantMemoryIsCounted) {
  hipFuncAttributes attributes = {};
  HIP_OK(hipFuncGetAttributes(&attributes, bounded_kernel()));
  hipDeviceProp_t properties = {};
  HIP_OK(hipGetDeviceProperties(&properties, 0));
  if (std::string(properties.gcnArchName) != "x86_64-cpu") GTEST_SKIP() << "a number of the device's runtime";
  EXPECT_EQ(attributes.constSizeBytes, std::size_t{kConstantBytes});
}

TEST(Program, TheLimitOfSharedMemoryCanBeAsked) {
  int most = 0;
  HIP_OK(hipDeviceGetAttribute(&most, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
  const auto limit = [] {
    hipFuncAttributes attributes = {};
    EXPECT_EQ(hipFuncGetAttributes(&attributes, shared_kernel()), hipSuccess);
    return attributes.maxDynamicSharedSizeBytes;
  };
  const auto set = [](int bytes) {
    return hipFuncSetAttribute(shared_kernel(), hipFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  const int whole = most - 1024;
  for (const int bytes : {2048, 0, whole}) {
    HIP_OK(set(bytes));
    EXPECT_EQ(limit(), bytes);
  }
  HIP_OK(set(512));
  EXPECT_EQ(set(1 << 30), hipErrorInvalidValue);
  HIP_OK(hipFuncSetAttribute(shared_kernel(), hipFuncAttributePreferredSharedMemoryCarveout, 50));
  EXPECT_EQ(limit(), 512) << "what is refused, and other settings, leave it";
  HIP_OK(set(whole));
}

TEST(Program, Occupancy) {
  int blocks = 0;
  HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill_kernel(), 256, 0));
  EXPECT_GE(blocks, 1);
  int grid = 0;
  int block = 0;
  HIP_OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, bounded_kernel(), 0, 0));
  EXPECT_GE(grid, 1);
  EXPECT_GE(block, 1);
  EXPECT_LE(block, 64);
  EXPECT_EQ(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &block, 256, 0),
            hipErrorInvalidDeviceFunction);
}

}  // namespace
}  // namespace tf::api_test
