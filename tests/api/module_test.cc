// SPDX-License-Identifier: Apache-2.0
// Code objects: loading, looking up, refusing.
#include <fstream>
#include <iterator>
#include <string>

#include "tests/api/hip_test.h"
#include "tests/api/module_fixture.h"

namespace tf::api_test {
namespace {

std::vector<char> kernel_bytes() {
  std::ifstream file(kKernelFile, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Module, FromAFile) {
  hipModule_t module = nullptr;
  HIP_OK(hipModuleLoad(&module, kKernelFile));
  hipFunction_t function = nullptr;
  HIP_OK(hipModuleGetFunction(&function, module, "fill"));
  EXPECT_NE(function, nullptr);
  HIP_OK(hipModuleUnload(module));
}

TEST(Module, FromMemory) {
  const std::vector<char> bytes = kernel_bytes();
  ASSERT_FALSE(bytes.empty());
  hipModule_t module = nullptr;
  HIP_OK(hipModuleLoadData(&module, bytes.data()));
  hipFunction_t function = nullptr;
  HIP_OK(hipModuleGetFunction(&function, module, "increment"));
  HIP_OK(hipModuleUnload(module));
  HIP_OK(hipModuleLoadDataEx(&module, bytes.data(), 0, nullptr, nullptr));
  HIP_OK(hipModuleUnload(module));
}

TEST(Module, ManyTimesAndTwiceAtOnce) {
  const std::vector<char> bytes = kernel_bytes();
  for (int i = 0; i < 10; ++i) {
    hipModule_t first = nullptr;
    hipModule_t second = nullptr;
    HIP_OK(hipModuleLoadData(&first, bytes.data()));
    HIP_OK(hipModuleLoadData(&second, bytes.data()));
    EXPECT_NE(first, second);
    HIP_OK(hipModuleUnload(first));
    hipFunction_t function = nullptr;
    HIP_OK(hipModuleGetFunction(&function, second, "fill"));
    HIP_OK(hipModuleUnload(second));
  }
}

TEST(Module, BadImagesAreRefused) {
  hipModule_t module = nullptr;
  std::vector<char> garbage(4096, 'x');
  EXPECT_EQ(hipModuleLoadData(&module, garbage.data()), hipErrorInvalidImage);
  std::vector<char> empty_elf(4096, '\0');
  const std::string magic = "\177ELF\2\1\1";
  std::copy(magic.begin(), magic.end(), empty_elf.begin());
  EXPECT_NE(hipModuleLoadData(&module, empty_elf.data()), hipSuccess);
  EXPECT_EQ(hipModuleLoadData(&module, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLoadData(nullptr, garbage.data()), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLoad(&module, "/nowhere/at/all.co"), hipErrorFileNotFound);
  EXPECT_EQ(hipModuleLoad(&module, nullptr), hipErrorInvalidValue);
  HIP_OK(hipDeviceSynchronize());
}

TEST(Module, LookupsThatFail) {
  LoadedModule module;
  hipFunction_t function = nullptr;
  EXPECT_EQ(hipModuleGetFunction(&function, module, "no_such_kernel"), hipErrorNotFound);
  EXPECT_EQ(hipModuleGetFunction(nullptr, module, "fill"), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleGetFunction(&function, module, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleGetFunction(&function, nullptr, "fill"), hipErrorInvalidValue);
  hipDeviceptr_t pointer = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(hipModuleGetGlobal(&pointer, &bytes, module, "no_such_variable"), hipErrorNotFound);
  EXPECT_EQ(hipModuleUnload(nullptr), hipErrorInvalidValue);
}

TEST(Module, UnloadedIsUnknown) {
  hipModule_t module = nullptr;
  HIP_OK(hipModuleLoad(&module, kKernelFile));
  hipFunction_t function = nullptr;
  HIP_OK(hipModuleGetFunction(&function, module, "nothing"));
  HIP_OK(hipModuleUnload(module));
  EXPECT_EQ(hipModuleUnload(module), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleGetFunction(&function, module, "nothing"), hipErrorInvalidValue);
}

TEST(Module, Variables) {
  LoadedModule module;
  hipDeviceptr_t counter = nullptr;
  std::size_t bytes = 0;
  HIP_OK(hipModuleGetGlobal(&counter, &bytes, module, "module_counter"));
  EXPECT_EQ(bytes, sizeof(int));
  int value = 0;
  HIP_OK(hipMemcpyDtoH(&value, counter, sizeof value));
  EXPECT_EQ(value, 41);
  value = 100;
  HIP_OK(hipMemcpyHtoD(counter, &value, sizeof value));
  int by = 11;
  void* arguments[] = {&by};
  HIP_OK(hipModuleLaunchKernel(module.function("add_to_counter"), 2, 1, 1, 32, 1, 1, 0, nullptr, arguments,
                               nullptr));
  HIP_OK(hipMemcpyDtoH(&value, counter, sizeof value));
  EXPECT_EQ(value, 111);
  HIP_OK(hipModuleGetGlobal(nullptr, &bytes, module, "module_table"));
  EXPECT_EQ(bytes, 16 * sizeof(int));
}

TEST(Module, FunctionAttributes) {
  LoadedModule module;
  int value = -1;
  HIP_OK(
      hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, module.function("at_most_64")));
  EXPECT_EQ(value, 64);
  HIP_OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, module.function("fill")));
  EXPECT_EQ(value, 0);
  EXPECT_EQ(hipFuncGetAttribute(nullptr, HIP_FUNC_ATTRIBUTE_NUM_REGS, module.function("fill")),
            hipErrorInvalidValue);
}

TEST(Module, Occupancy) {
  LoadedModule module;
  int blocks = 0;
  HIP_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, module.function("fill"), 128, 0));
  EXPECT_GE(blocks, 1);
  int grid = 0;
  int block = 0;
  HIP_OK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, module.function("at_most_64"), 0, 0));
  EXPECT_GE(grid, 1);
  EXPECT_GE(block, 1);
  EXPECT_LE(block, 64);
  HIP_OK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, module.function("fill"), 0, 32));
  EXPECT_LE(block, 32);
  EXPECT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, module.function("fill"), 128, 0),
            hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::api_test
