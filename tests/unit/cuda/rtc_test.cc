// SPDX-License-Identifier: Apache-2.0
// hiprtc on an NVRTC that only remembers.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <cstdlib>
#include <string>
#include <vector>

extern "C" {  // HIP 5.3; enums as ints
hiprtcResult hiprtcLinkCreate(unsigned count, int* options, void** values, void** state);
hiprtcResult hiprtcLinkAddData(void* state, int type, void* image, size_t bytes, const char* name,
                               unsigned count, int* options, void** values);
int hiprtcLinkComplete(void* state, void** image, size_t* bytes);
hiprtcResult hiprtcLinkDestroy(void* state);
}

namespace {

const int kFakes =
    ::setenv("HIP_CUDA_DRIVER", TF_FAKE_CUDA_DRIVER, 1) | ::setenv("HIP_CUDA_NVRTC", TF_FAKE_NVRTC, 1);

class CudaRtc : public ::testing::Test {
 protected:
  void create(const char* source) {
    ASSERT_EQ(kFakes, 0);
    ASSERT_EQ(hiprtcCreateProgram(&program_, source, "x.hip", 0, nullptr, nullptr), HIPRTC_SUCCESS);
  }
  ~CudaRtc() override {
    if (program_) static_cast<void>(hiprtcDestroyProgram(&program_));
  }
  hiprtcResult compile(std::vector<const char*> options) {
    return hiprtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
  }
  std::string code() {
    std::size_t bytes = 0;
    EXPECT_EQ(hiprtcGetCodeSize(program_, &bytes), HIPRTC_SUCCESS);
    std::string text(bytes, '\0');
    EXPECT_EQ(hiprtcGetCode(program_, text.data()), HIPRTC_SUCCESS);
    return text.c_str();  // the fake's code ends with a zero
  }
  std::string log() {
    std::size_t bytes = 0;
    EXPECT_EQ(hiprtcGetProgramLogSize(program_, &bytes), HIPRTC_SUCCESS);
    std::string text(bytes, '\0');
    const hiprtcResult got = bytes != 0 ? hiprtcGetProgramLog(program_, text.data()) : HIPRTC_SUCCESS;
    EXPECT_EQ(got, HIPRTC_SUCCESS);
    return text;
  }

  hiprtcProgram program_ = nullptr;
};

TEST_F(CudaRtc, CompilesForTheDeviceToACubin) {
  create("__global__ void k() {}");
  ASSERT_EQ(compile({"-O3", "--offload-arch=gfx90a", "-DX=1"}), HIPRTC_SUCCESS) << log();
  EXPECT_EQ(code().rfind("CUBIN ", 0), 0u) << code();
  EXPECT_NE(code().find("-DX=1 "), std::string::npos);
  EXPECT_NE(code().find("--gpu-architecture=sm_90 "), std::string::npos);
  EXPECT_EQ(code().find("gfx"), std::string::npos);
  EXPECT_NE(log().find("gfx90a"), std::string::npos);
}

TEST_F(CudaRtc, PtxWhereThatIsAskedFor) {
  create("__global__ void k() {}");
  ASSERT_EQ(compile({"--gpu-architecture=compute_80"}), HIPRTC_SUCCESS);
  EXPECT_EQ(code().rfind("PTX ", 0), 0u) << code();
}

TEST_F(CudaRtc, TheProgramFollowsThePreludeOnLineOne) {
  create("__global__ void mine() {}");
  ASSERT_EQ(compile({}), HIPRTC_SUCCESS);
  void* const library = ::dlopen(TF_FAKE_NVRTC, RTLD_NOW);
  const auto get = reinterpret_cast<const char* (*)()>(::dlsym(library, "fake_nvrtc_source"));
  const std::string source = get();
  EXPECT_NE(source.find("#define hipThreadIdx_x"), std::string::npos);
  const std::string end = "\n#line 1\n__global__ void mine() {}";
  ASSERT_GE(source.size(), end.size());
  EXPECT_EQ(source.substr(source.size() - end.size()), end);
}

TEST_F(CudaRtc, NamesAndErrors) {
  create("template <typename T> __global__ void k() {}");
  ASSERT_EQ(hiprtcAddNameExpression(program_, "k<int>"), HIPRTC_SUCCESS);
  ASSERT_EQ(compile({}), HIPRTC_SUCCESS);
  const char* name = nullptr;
  ASSERT_EQ(hiprtcGetLoweredName(program_, "k<int>", &name), HIPRTC_SUCCESS);
  EXPECT_STREQ(name, "_Zlowered");
  EXPECT_EQ(hiprtcGetLoweredName(program_, "k<float>", &name), HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
}

// The driver writes into the options' values until the link is destroyed.
TEST(CudaRtcLink, KeepsTheOptionsValuesForTheDriver) {
  ASSERT_EQ(kFakes, 0);
  constexpr int kBitcode = 100;  // HIPRTC_JIT_INPUT_LLVM_BITCODE
  void* link = nullptr;
  ASSERT_EQ(hiprtcLinkCreate(0, nullptr, nullptr, &link), HIPRTC_SUCCESS);
  char part[] = ".version 7.0";
  ASSERT_EQ(hiprtcLinkAddData(link, kBitcode, part, sizeof part, "part", 0, nullptr, nullptr),
            HIPRTC_SUCCESS);
  void* image = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(hiprtcLinkComplete(link, &image, &bytes), 0);
  EXPECT_EQ(std::string(static_cast<const char*>(image), bytes), "CUBIN of all parts");
  EXPECT_EQ(hiprtcLinkDestroy(link), HIPRTC_SUCCESS);
}

TEST_F(CudaRtc, WhatDoesNotCompileSaysWhy) {
  create("broken");
  EXPECT_EQ(compile({}), HIPRTC_ERROR_COMPILATION);
  EXPECT_NE(log().find("1 error"), std::string::npos);
}

}  // namespace
