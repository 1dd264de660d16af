// SPDX-License-Identifier: Apache-2.0
// Kernels of HIP 7's libraries: their functions, attributes and arguments; and the libraries' variables.
#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

using LoadFile = hipError_t(hipLibrary_t*, const char*, hipJitOption*, void**, unsigned, hipLibraryOption*,
                            void**, unsigned);
using GetFunction = hipError_t(hipFunction_t*, hipKernel_t);
using GetAttribute = hipError_t(int*, hipFunction_attribute, hipKernel_t, hipDevice_t);
using SetAttribute = hipError_t(hipFunction_attribute, int, hipKernel_t, hipDevice_t);
using GetParameter = hipError_t(hipKernel_t, std::size_t, std::size_t*, std::size_t*);
using GetVariable = hipError_t(void**, std::size_t*, hipLibrary_t, const char*);

class LibraryKernels : public Kernels {
 protected:
  void SetUp() override {
    Kernels::SetUp();
    if (major_ < 7) GTEST_SKIP() << "the functions are of HIP 7";
    ASSERT_EQ(get<LoadFile>("hipLibraryLoadFromFile")(&library_of_file_, kKernelFile, nullptr, nullptr, 0,
                                                      nullptr, nullptr, 0),
              hipSuccess);
    fill_ = kernel("fill");
  }
  void TearDown() override {
    if (major_ < 7) return;
    EXPECT_EQ(unload(), hipSuccess);
    Kernels::TearDown();
  }
  hipError_t unload() { return get<hipError_t(hipLibrary_t)>("hipLibraryUnload")(library_of_file_); }
  hipKernel_t kernel(const char* name) const {
    hipKernel_t found = nullptr;
    using Get = hipError_t(hipKernel_t*, hipLibrary_t, const char*);
    EXPECT_EQ(get<Get>("hipLibraryGetKernel")(&found, library_of_file_, name), hipSuccess);
    return found;
  }
  int attribute(hipFunction_attribute which, hipKernel_t of, int device = 0) const {
    int value = -1;
    EXPECT_EQ(get<GetAttribute>("hipKernelGetAttribute")(&value, which, of, device), hipSuccess);
    return value;
  }
  void set_device(int device) const { ASSERT_EQ(get<hipError_t(int)>("hipSetDevice")(device), hipSuccess); }

  hipLibrary_t library_of_file_ = nullptr;
  hipKernel_t fill_ = nullptr;
};

TEST_F(LibraryKernels, AFunctionRunsOnEachDevice) {
  const auto get_function = get<GetFunction>("hipKernelGetFunction");
  int count = 0;
  ASSERT_EQ(get<hipError_t(int*)>("hipGetDeviceCount")(&count), hipSuccess);
  for (int device = 0; device < count; ++device) {
    set_device(device);
    hipFunction_t function = nullptr;
    ASSERT_EQ(get_function(&function, fill_), hipSuccess);
    FillArguments arguments(allocate(64 * sizeof(int)), 30 + device, 64);
    ASSERT_EQ(get<decltype(hipModuleLaunchKernel)>("hipModuleLaunchKernel")(
                  function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments.get(), nullptr),
              hipSuccess);
    expect_counted(arguments, 30 + device);
  }
  set_device(0);
  hipFunction_t function = nullptr;
  EXPECT_EQ(get_function(nullptr, fill_), kInvalid);
  EXPECT_EQ(get_function(&function, nullptr), kInvalid);
}

TEST_F(LibraryKernels, AttributesAreThoseOfTheFunction) {
  const hipKernel_t small = kernel("at_most_64");
  EXPECT_EQ(attribute(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, small), 64);
  EXPECT_EQ(attribute(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, small, 1), 64) << "on the other device";
  int device = -1;
  EXPECT_EQ(get<hipError_t(int*)>("hipGetDevice")(&device), hipSuccess);
  EXPECT_EQ(device, 0) << "the thread's device stays";
  const auto get_attribute = get<GetAttribute>("hipKernelGetAttribute");
  int value = -1;
  EXPECT_EQ(get_attribute(nullptr, HIP_FUNC_ATTRIBUTE_NUM_REGS, fill_, 0), kInvalid);
  EXPECT_EQ(get_attribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, nullptr, 0), hipErrorInvalidHandle);
  EXPECT_EQ(get_attribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, fill_, -1), hipErrorInvalidDevice);
  EXPECT_EQ(get_attribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, fill_, 2), hipErrorInvalidDevice);
  EXPECT_EQ(get_attribute(&value, std::bit_cast<hipFunction_attribute>(77), fill_, 0), kInvalid);
  EXPECT_EQ(value, -1);
}

TEST_F(LibraryKernels, SharedMemoryThatIsAllowedCanBeAsked) {
  constexpr auto kShared = HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  const auto set = get<SetAttribute>("hipKernelSetAttribute");
  const int most = attribute(kShared, fill_);
  ASSERT_GT(most, 4096);
  EXPECT_EQ(set(kShared, 4096, fill_, 0), hipSuccess);
  EXPECT_EQ(attribute(kShared, fill_), 4096);
  EXPECT_EQ(attribute(kShared, fill_, 1), most) << "the other device's is its own";
  EXPECT_EQ(set(kShared, -1, fill_, 0), kInvalid);
  EXPECT_EQ(set(kShared, most + 1, fill_, 0), kInvalid);
  EXPECT_EQ(attribute(kShared, fill_), 4096);
  EXPECT_EQ(set(HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50, fill_, 0), hipSuccess);
  EXPECT_EQ(set(HIP_FUNC_ATTRIBUTE_NUM_REGS, 50, fill_, 0), kInvalid) << "the compiler's";
  EXPECT_EQ(set(kShared, 4096, nullptr, 0), kInvalid);
  EXPECT_EQ(set(kShared, 4096, reinterpret_cast<hipKernel_t>(this), 0), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(set(kShared, 4096, fill_, 2), hipErrorInvalidDevice);
}

TEST_F(LibraryKernels, ArgumentsHaveTheirPlaces) {
  const auto get_parameter = get<GetParameter>("hipKernelGetParamInfo");
  const std::vector<std::array<std::size_t, 2>> expected = {{0, 8}, {8, 4}, {12, 4}};  // pointer, int, int
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::size_t offset = 99, bytes = 99;
    ASSERT_EQ(get_parameter(fill_, i, &offset, &bytes), hipSuccess);
    EXPECT_EQ((std::array{offset, bytes}), expected[i]) << i;
  }
  std::size_t offset = 99;
  EXPECT_EQ(get_parameter(fill_, 1, &offset, nullptr), hipSuccess);
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(get_parameter(fill_, 3, &offset, nullptr), kInvalid);
  EXPECT_EQ(get_parameter(fill_, 0, nullptr, nullptr), kInvalid);
  EXPECT_EQ(get_parameter(nullptr, 0, &offset, nullptr), kInvalid);
  EXPECT_EQ(get_parameter(reinterpret_cast<hipKernel_t>(this), 0, &offset, nullptr),
            hipErrorInvalidDeviceFunction);
}

TEST_F(LibraryKernels, VariablesAreFound) {
  const auto get_variable = get<GetVariable>("hipLibraryGetGlobal");
  void* address = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(get_variable(&address, &bytes, library_of_file_, "module_counter"), hipSuccess);
  EXPECT_EQ(bytes, sizeof(int));
  EXPECT_EQ(read<int>(address, 1), std::vector<int>{41});
  EXPECT_EQ(get_variable(nullptr, &bytes, library_of_file_, "module_table"), hipSuccess);
  EXPECT_EQ(bytes, 16 * sizeof(int));
  EXPECT_EQ(get_variable(&address, nullptr, library_of_file_, "module_table"), hipSuccess);
  EXPECT_EQ(get_variable(&address, &bytes, library_of_file_, "no such variable"), hipErrorNotFound);
}

TEST_F(LibraryKernels, NoManagedVariableIsFound) {
  void* address = nullptr;
  std::size_t bytes = 7;
  EXPECT_EQ(get<GetVariable>("hipLibraryGetManaged")(&address, &bytes, library_of_file_, "module_counter"),
            hipErrorNotFound);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(bytes, 7u);
}

TEST_F(LibraryKernels, WrongNamesOfVariablesAreRefused) {
  for (const char* name : {"hipLibraryGetGlobal", "hipLibraryGetManaged"}) {
    SCOPED_TRACE(name);
    const auto get_variable = get<GetVariable>(name);
    void* address = nullptr;
    std::size_t bytes = 0;
    EXPECT_EQ(get_variable(nullptr, nullptr, library_of_file_, "module_counter"), kInvalid);
    EXPECT_EQ(get_variable(&address, &bytes, library_of_file_, nullptr), kInvalid);
    EXPECT_EQ(get_variable(&address, &bytes, library_of_file_, ""), kInvalid);
    EXPECT_EQ(get_variable(&address, &bytes, nullptr, "module_counter"), hipErrorInvalidHandle);
  }
}

}  // namespace
}  // namespace tf::majors
