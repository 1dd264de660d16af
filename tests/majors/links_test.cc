// SPDX-License-Identifier: Apache-2.0
// What HIP 6 has beyond HIP 5: hipExtModuleLaunchKernel as a C function, and linking under HIP's own names.
#include <hip/hiprtc.h>

#include <array>
#include <string>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

constexpr int kPtx = 1;        // hipJitInputPtx
constexpr int kBitcode = 100;  // hipJitInputLLVMBitcode

using LinkCreate = hipError_t(unsigned, hipJitOption*, void**, void**);
using LinkAddData = hipError_t(void*, int, void*, std::size_t, const char*, unsigned, hipJitOption*, void**);
using LinkAddFile = hipError_t(void*, int, const char*, unsigned, hipJitOption*, void**);
using LinkComplete = hipError_t(void*, void**, std::size_t*);
using LinkDestroy = hipError_t(void*);

class Since6 : public Kernels {
 protected:
  void SetUp() override {
    Kernels::SetUp();
    if (major_ < 6) GTEST_SKIP() << "the functions are of HIP 6";
  }

  // The bitcode of a program, by the major's libhiprtc.
  std::string bitcode_of(const char* source) const {
    const std::string name = "libhiprtc.so." + std::to_string(major_);
    void* const rtc = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(rtc, nullptr) << ::dlerror();
    if (rtc == nullptr) return {};
    const auto find = [&]<typename Function>(Function*& function, const char* symbol) {
      function = reinterpret_cast<Function*>(::dlsym(rtc, symbol));
      EXPECT_NE(function, nullptr) << symbol;
    };
    decltype(&hiprtcCreateProgram) create;
    decltype(&hiprtcCompileProgram) compile;
    decltype(&hiprtcDestroyProgram) destroy;
    hiprtcResult (*size)(hiprtcProgram, std::size_t*);
    hiprtcResult (*copy)(hiprtcProgram, char*);
    find(create, "hiprtcCreateProgram");
    find(compile, "hiprtcCompileProgram");
    find(destroy, "hiprtcDestroyProgram");
    find(size, "hiprtcGetBitcodeSize");
    find(copy, "hiprtcGetBitcode");
    hiprtcProgram program = nullptr;
    const char* options[] = {"-fgpu-rdc"};
    std::size_t bytes = 0;
    EXPECT_EQ(create(&program, source, "part.hip", 0, nullptr, nullptr), HIPRTC_SUCCESS);
    EXPECT_EQ(compile(program, 1, options), HIPRTC_SUCCESS);
    EXPECT_EQ(size(program, &bytes), HIPRTC_SUCCESS);
    std::string code(bytes, '\0');
    EXPECT_EQ(copy(program, code.data()), HIPRTC_SUCCESS);
    EXPECT_EQ(destroy(&program), HIPRTC_SUCCESS);
    return code;
  }

  hipError_t add(void* state, std::string code, int type = kBitcode) const {
    return get<LinkAddData>("hipLinkAddData")(state, type, code.data(), code.size(), "part", 0, nullptr,
                                              nullptr);
  }
};

TEST_F(Since6, LaunchesByTheNameOfC) {
  using Launch = hipError_t(hipFunction_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                            std::uint32_t, std::uint32_t, std::size_t, hipStream_t, void**, void**,
                            hipEvent_t, hipEvent_t, std::uint32_t);
  const auto launch = get<Launch>("hipExtModuleLaunchKernel");
  const hipFunction_t kernel = kernel_of(load(), "fill");
  FillArguments arguments(allocate(64 * sizeof(int)), 21, 64);
  ASSERT_EQ(launch(kernel, 64, 1, 1, 32, 1, 1, 0, nullptr, arguments.get(), nullptr, nullptr, nullptr, 0),
            hipSuccess);
  expect_counted(arguments, 21);
  EXPECT_EQ(launch(kernel, 63, 1, 1, 32, 1, 1, 0, nullptr, arguments.get(), nullptr, nullptr, nullptr, 0),
            hipErrorInvalidConfiguration);
}

TEST_F(Since6, Links) {
  const auto complete = get<LinkComplete>("hipLinkComplete");
  const auto destroy = get<LinkDestroy>("hipLinkDestroy");
  void* state = nullptr;
  ASSERT_EQ(get<LinkCreate>("hipLinkCreate")(0, nullptr, nullptr, &state), hipSuccess);
  ASSERT_EQ(
      add(state,
          bitcode_of("extern __device__ int twice(int v);\n"
                     "extern \"C\" __global__ void run(int* o) { o[threadIdx.x] = twice(threadIdx.x); }")),
      hipSuccess);
  void* image = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(complete(state, &image, &bytes), hipErrorInvalidConfiguration) << "twice is missing";
  ASSERT_EQ(add(state, bitcode_of("__device__ int twice(int v) { return 2 * v; }")), hipSuccess);
  ASSERT_EQ(complete(state, &image, &bytes), hipSuccess);
  hipModule_t module = nullptr;
  ASSERT_EQ(get<decltype(hipModuleLoadData)>("hipModuleLoadData")(&module, image), hipSuccess);
  void* device = allocate(32 * sizeof(int));
  std::array<void*, 1> arguments = {&device};
  ASSERT_EQ(get<decltype(hipModuleLaunchKernel)>("hipModuleLaunchKernel")(
                kernel_of(module, "run"), 1, 1, 1, 32, 1, 1, 0, nullptr, arguments.data(), nullptr),
            hipSuccess);
  EXPECT_EQ(read<int>(device, 32)[31], 62);
  EXPECT_EQ(destroy(state), hipSuccess);
  EXPECT_EQ(destroy(state), kInvalid);
  EXPECT_EQ(complete(state, &image, &bytes), kInvalid);
  EXPECT_EQ(get<hipError_t()>("hipPeekAtLastError")(), kInvalid);
}

TEST_F(Since6, WrongLinksAreRefused) {
  const auto create = get<LinkCreate>("hipLinkCreate");
  const auto complete = get<LinkComplete>("hipLinkComplete");
  const auto add_file = get<LinkAddFile>("hipLinkAddFile");
  void* state = nullptr;
  EXPECT_EQ(create(0, nullptr, nullptr, nullptr), kInvalid);
  EXPECT_EQ(create(1, nullptr, nullptr, &state), kInvalid);
  ASSERT_EQ(create(0, nullptr, nullptr, &state), hipSuccess);
  EXPECT_EQ(get<LinkAddData>("hipLinkAddData")(state, kBitcode, nullptr, 4, "x", 0, nullptr, nullptr),
            kInvalid);
  EXPECT_EQ(add(state, "x", kPtx), kInvalid);
  EXPECT_EQ(add(nullptr, "x"), kInvalid);
  EXPECT_EQ(add_file(state, kBitcode, nullptr, 0, nullptr, nullptr), kInvalid);
  EXPECT_EQ(add_file(state, kBitcode, "/no/such/file", 0, nullptr, nullptr), hipErrorInvalidConfiguration);
  std::size_t bytes = 0;
  void* image = nullptr;
  EXPECT_EQ(complete(state, nullptr, &bytes), kInvalid);
  EXPECT_EQ(complete(state, &image, &bytes), hipErrorInvalidConfiguration) << "nothing was added";
  EXPECT_EQ(get<LinkDestroy>("hipLinkDestroy")(state), hipSuccess);
}

}  // namespace
}  // namespace tf::majors
