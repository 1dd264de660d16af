// SPDX-License-Identifier: Apache-2.0
// Libraries of HIP 7 and their kernels, and functions by the address of their stub.
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

using LoadData = hipError_t(hipLibrary_t*, const void*, hipJitOption*, void**, unsigned, hipLibraryOption*,
                            void**, unsigned);
using LoadFile = hipError_t(hipLibrary_t*, const char*, hipJitOption*, void**, unsigned, hipLibraryOption*,
                            void**, unsigned);
using Unload = hipError_t(hipLibrary_t);
using GetKernel = hipError_t(hipKernel_t*, hipLibrary_t, const char*);
using GetCount = hipError_t(unsigned*, hipLibrary_t);
using Enumerate = hipError_t(hipKernel_t*, unsigned, hipLibrary_t);
using GetLibrary = hipError_t(hipLibrary_t*, hipKernel_t);
using GetName = hipError_t(const char**, hipKernel_t);

class Libraries : public Kernels {
 protected:
  void SetUp() override {
    Kernels::SetUp();
    if (major_ < 7) GTEST_SKIP() << "the functions are of HIP 7";
  }
  hipLibrary_t from_file() const {
    hipLibrary_t library = nullptr;
    EXPECT_EQ(get<LoadFile>("hipLibraryLoadFromFile")(&library, kKernelFile, nullptr, nullptr, 0, nullptr,
                                                      nullptr, 0),
              hipSuccess);
    return library;
  }
  hipError_t load(hipLibrary_t* library, const void* code, unsigned options = 0) const {
    return get<LoadData>("hipLibraryLoadData")(library, code, nullptr, nullptr, options, nullptr, nullptr, 0);
  }
  hipKernel_t kernel(hipLibrary_t library, const char* name) const {
    hipKernel_t found = nullptr;
    EXPECT_EQ(get<GetKernel>("hipLibraryGetKernel")(&found, library, name), hipSuccess);
    return found;
  }
  hipError_t unload(hipLibrary_t library) const { return get<Unload>("hipLibraryUnload")(library); }
  void expect_runs(hipKernel_t fill, int value) const {
    FillArguments arguments(allocate(64 * sizeof(int)), value, 64);
    ASSERT_EQ(
        get<decltype(hipModuleLaunchKernel)>("hipModuleLaunchKernel")(
            reinterpret_cast<hipFunction_t>(fill), 1, 1, 1, 64, 1, 1, 0, nullptr, arguments.get(), nullptr),
        hipSuccess);
    expect_counted(arguments, value);
  }
};

TEST_F(Libraries, KernelsOfAFileRun) {
  const hipLibrary_t library = from_file();
  expect_runs(kernel(library, "fill"), 5);
  EXPECT_EQ(kernel(library, "fill"), kernel(library, "fill"));
  EXPECT_EQ(unload(library), hipSuccess);
}

TEST_F(Libraries, KernelsOfAnImageRunWhenTheProgramHasFreedIt) {
  std::ifstream file(kKernelFile, std::ios::binary);
  std::vector<char> image{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  hipLibrary_t library = nullptr;
  ASSERT_EQ(load(&library, image.data()), hipSuccess);
  std::fill(image.begin(), image.end(), '\0');
  int count = 0;
  ASSERT_EQ(get<hipError_t(int*)>("hipGetDeviceCount")(&count), hipSuccess);
  const auto set_device = get<hipError_t(int)>("hipSetDevice");
  for (int device = 0; device < count; ++device) {
    ASSERT_EQ(set_device(device), hipSuccess);
    expect_runs(kernel(library, "fill"), 70 + device);
  }
  ASSERT_EQ(set_device(0), hipSuccess);
  EXPECT_EQ(unload(library), hipSuccess);
}

TEST_F(Libraries, NameTheirKernels) {
  const hipLibrary_t library = from_file();
  unsigned count = 0;
  ASSERT_EQ(get<GetCount>("hipLibraryGetKernelCount")(&count, library), hipSuccess);
  ASSERT_GT(count, 1u);
  std::vector<hipKernel_t> kernels(count + 1, nullptr);
  ASSERT_EQ(get<Enumerate>("hipLibraryEnumerateKernels")(kernels.data(), count + 1, library), hipSuccess);
  EXPECT_EQ(kernels.back(), nullptr);
  kernels.pop_back();
  std::set<std::string> names;
  for (const hipKernel_t each : kernels) {
    const char* name = nullptr;
    hipLibrary_t owner = nullptr;
    ASSERT_EQ(get<GetName>("hipKernelGetName")(&name, each), hipSuccess);
    EXPECT_EQ(get<GetLibrary>("hipKernelGetLibrary")(&owner, each), hipSuccess);
    EXPECT_EQ(owner, library);
    EXPECT_EQ(kernel(library, name), each);
    names.insert(name);
  }
  EXPECT_EQ(names.size(), count);
  EXPECT_TRUE(names.contains("fill") && names.contains("increment"));
  std::vector<hipKernel_t> first(2, nullptr);
  EXPECT_EQ(get<Enumerate>("hipLibraryEnumerateKernels")(first.data(), 1, library), hipSuccess);
  EXPECT_EQ(first, (std::vector<hipKernel_t>{kernels[0], nullptr}));
  EXPECT_EQ(unload(library), hipSuccess);
}

TEST_F(Libraries, AModuleSaysHowManyFunctionsItHas) {
  using CountFunctions = hipError_t(unsigned*, hipModule_t);
  const auto count_of = get<CountFunctions>("hipModuleGetFunctionCount");
  const hipLibrary_t library = from_file();
  unsigned kernels = 0;
  ASSERT_EQ(get<GetCount>("hipLibraryGetKernelCount")(&kernels, library), hipSuccess);
  EXPECT_EQ(unload(library), hipSuccess);
  const hipModule_t module = Kernels::load();
  unsigned count = 77;
  ASSERT_EQ(count_of(&count, module), hipSuccess);
  EXPECT_EQ(count, kernels);
  EXPECT_EQ(count_of(nullptr, module), kInvalid);
  EXPECT_EQ(count_of(&count, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(count_of(&count, reinterpret_cast<hipModule_t>(&count)), hipErrorInvalidHandle);
  EXPECT_EQ(get<decltype(hipModuleUnload)>("hipModuleUnload")(module), hipSuccess);
  EXPECT_EQ(count_of(&count, module), hipErrorInvalidHandle) << "it is unloaded";
  EXPECT_EQ(count, kernels);
}

TEST_F(Libraries, WhatIsWrongIsRefused) {
  hipLibrary_t library = nullptr;
  const std::vector<char> zeros(4096, '\0');
  EXPECT_EQ(load(nullptr, zeros.data()), kInvalid);
  EXPECT_EQ(load(&library, nullptr), kInvalid);
  EXPECT_EQ(load(&library, zeros.data(), 1), kInvalid) << "no option of a compiler is possible";
  EXPECT_EQ(load(&library, zeros.data()), hipErrorInvalidImage);
  const auto from = get<LoadFile>("hipLibraryLoadFromFile");
  EXPECT_EQ(from(&library, "/nowhere/kernels.co", nullptr, nullptr, 0, nullptr, nullptr, 0),
            hipErrorFileNotFound);
  library = from_file();
  hipKernel_t found = nullptr;
  unsigned count = 0;
  const auto get_kernel = get<GetKernel>("hipLibraryGetKernel");
  EXPECT_EQ(get_kernel(&found, library, "no such kernel"), hipErrorNotFound);
  EXPECT_EQ(get_kernel(nullptr, library, "fill"), kInvalid);
  EXPECT_EQ(get_kernel(&found, library, nullptr), kInvalid);
  EXPECT_EQ(get<GetCount>("hipLibraryGetKernelCount")(nullptr, library), kInvalid);
  const hipKernel_t fill = kernel(library, "fill");
  EXPECT_EQ(unload(library), hipSuccess);
  EXPECT_EQ(unload(library), hipErrorInvalidHandle);
  EXPECT_EQ(get_kernel(&found, library, "fill"), hipErrorInvalidHandle);
  EXPECT_EQ(get<GetCount>("hipLibraryGetKernelCount")(&count, library), hipErrorInvalidHandle);
  const char* name = nullptr;
  EXPECT_EQ(get<GetName>("hipKernelGetName")(&name, fill), hipErrorInvalidHandle);
  EXPECT_EQ(get<GetLibrary>("hipKernelGetLibrary")(&library, fill), hipErrorInvalidHandle);
}

TEST_F(Kernels, AFunctionOfNoStubIsRefused) {
  if (major_ < 6) GTEST_SKIP() << "the functions are of HIP 6";
  const auto by_symbol = get<hipError_t(hipFunction_t*, const void*)>("hipGetFuncBySymbol");
  hipFunction_t function = nullptr;
  EXPECT_EQ(by_symbol(&function, &function), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(by_symbol(&function, nullptr), hipErrorInvalidDeviceFunction);
}

// As the compiler's code does it.
TEST_F(Kernels, AFunctionByItsStubRuns) {
  if (major_ < 6) GTEST_SKIP() << "the functions are of HIP 6";
  hipFunction_t function = nullptr;
  ASSERT_EQ(get<hipError_t(hipFunction_t*, const void*)>("hipGetFuncBySymbol")(&function, stub("fill")),
            hipSuccess);
  FillArguments arguments(allocate(64 * sizeof(int)), 11, 64);
  ASSERT_EQ(get<decltype(hipModuleLaunchKernel)>("hipModuleLaunchKernel")(function, 1, 1, 1, 64, 1, 1, 0,
                                                                          nullptr, arguments.get(), nullptr),
            hipSuccess);
  expect_counted(arguments, 11);
}

}  // namespace
}  // namespace tf::majors
