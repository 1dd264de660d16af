// SPDX-License-Identifier: Apache-2.0
// hiprtc: compiling at run time, names, headers, logs, and running what came out, on whatever device there
// is.
#include <hip/hiprtc.h>

#include <string>

#include "tests/api/hip_test.h"
#include "tests/api/module_fixture.h"

namespace tf::api_test {
namespace {

constexpr char kSource[] = R"(
template <typename T>
__global__ void scale(T* data, T by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * by + T(OFFSET);
}
extern "C" __global__ void plain(int* out) { out[threadIdx.x] = threadIdx.x; }
)";

class Program {
 public:
  explicit Program(const char* source) : Program(source, {}, {}) {}
  Program(const char* source, std::vector<const char*> headers, std::vector<const char*> names) {
    EXPECT_EQ(hiprtcCreateProgram(&program_, source, "test.hip", static_cast<int>(headers.size()),
                                  headers.data(), names.data()),
              HIPRTC_SUCCESS);
  }
  ~Program() { EXPECT_EQ(hiprtcDestroyProgram(&program_), HIPRTC_SUCCESS); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  operator hiprtcProgram() const { return program_; }  // NOLINT: used where a hiprtcProgram is

 private:
  hiprtcProgram program_ = nullptr;
};

std::string log_of(hiprtcProgram program) {
  std::size_t bytes = 0;
  EXPECT_EQ(hiprtcGetProgramLogSize(program, &bytes), HIPRTC_SUCCESS);
  std::string log(bytes, '\0');
  const hiprtcResult got = bytes != 0 ? hiprtcGetProgramLog(program, log.data()) : HIPRTC_SUCCESS;
  EXPECT_EQ(got, HIPRTC_SUCCESS);
  return log;
}

std::vector<char> code_of(hiprtcProgram program) {
  std::size_t bytes = 0;
  EXPECT_EQ(hiprtcGetCodeSize(program, &bytes), HIPRTC_SUCCESS);
  std::vector<char> code(bytes);
  EXPECT_EQ(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
  return code;
}

// The 64 ints that a kernel writes with 64 threads.
std::vector<int> written_by(hiprtcProgram program, const char* name) {
  hipModule_t module = nullptr;
  hipFunction_t kernel = nullptr;
  EXPECT_EQ(hipModuleLoadData(&module, code_of(program).data()), hipSuccess);
  EXPECT_EQ(hipModuleGetFunction(&kernel, module, name), hipSuccess);
  DeviceBuffer device(64 * sizeof(int));
  void* data = device.get();
  void* arguments[] = {&data};
  EXPECT_EQ(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr), hipSuccess);
  std::vector<int> ints = read_ints(device.get(), 64);
  EXPECT_EQ(hipModuleUnload(module), hipSuccess);
  return ints;
}

TEST(Rtc, CompileLoadRun) {
  Program program(kSource);
  ASSERT_EQ(hiprtcAddNameExpression(program, "scale<int>"), HIPRTC_SUCCESS);
  const char* options[] = {"-DOFFSET=10"};
  ASSERT_EQ(hiprtcCompileProgram(program, 1, options), HIPRTC_SUCCESS) << log_of(program);
  const char* lowered = nullptr;
  ASSERT_EQ(hiprtcGetLoweredName(program, "scale<int>", &lowered), HIPRTC_SUCCESS);
  const std::string name = lowered;
  const std::vector<char> code = code_of(program);

  hipModule_t module = nullptr;
  hipFunction_t scale = nullptr;
  HIP_OK(hipModuleLoadData(&module, code.data()));
  HIP_OK(hipModuleGetFunction(&scale, module, name.c_str()));
  DeviceBuffer device(100 * sizeof(int));
  const std::vector<int> values = counting_ints(100, 0);
  HIP_OK(hipMemcpy(device.get(), values.data(), 400, hipMemcpyHostToDevice));
  void* data = device.get();
  int by = 3;
  int n = 100;
  void* arguments[] = {&data, &by, &n};
  HIP_OK(hipModuleLaunchKernel(scale, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  const std::vector<int> back = read_ints(device.get(), 100);
  for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], static_cast<int>(i) * 3 + 10);
  HIP_OK(hipModuleUnload(module));
}

TEST(Rtc, HeadersAndTheArchitectureOfTheDevice) {
  Program program(
      "#include \"twice.h\"\nextern \"C\" __global__ void fill(int* out) { out[threadIdx.x] = "
      "twice(threadIdx.x); }",
      {"__device__ inline int twice(int value) { return 2 * value; }"}, {"twice.h"});
  hipDeviceProp_t properties{};
  HIP_OK(hipGetDeviceProperties(&properties, 0));
  const std::string architecture = std::string("--offload-arch=") + properties.gcnArchName;
  const char* options[] = {architecture.c_str(), "-O2"};
  ASSERT_EQ(hiprtcCompileProgram(program, 2, options), HIPRTC_SUCCESS) << log_of(program);
  const std::vector<int> back = written_by(program, "fill");
  for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], static_cast<int>(i) * 2);
}

// As in AMD's hiprtc, whose built-in headers are more than hip_runtime.h.
TEST(Rtc, HeadersThatNobodyIncludes) {
  if (is_nvidia()) GTEST_SKIP() << "NVRTC compiles, which has no headers of HIP";
  Program program(R"(
extern "C" __global__ void compute(int* out) {
  const hip_bfloat16 half(1.5f);
  const hipFloatComplex product = hipCmulf(make_hipFloatComplex(1, 2), make_hipFloatComplex(3, 4));
  if (threadIdx.x != 0) return;
  out[0] = static_cast<int>(static_cast<float>(half) * 2);
  out[1] = static_cast<int>(hipCrealf(product));
  out[2] = static_cast<int>(hipCimagf(product));
  out[3] = __half2int_rn(__hadd(__float2half(1.5f), __float2half(2.5f)));
})");
  ASSERT_EQ(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_SUCCESS) << log_of(program);
  std::vector<int> back = written_by(program, "compute");
  back.resize(4);
  EXPECT_EQ(back, (std::vector<int>{3, -5, 10, 4}));
}

// Sources for newer hiprtc, on whatever headers of HIP there are: constants, traits, the larger and the smaller of two
// halves, and vectors' own operators where complex numbers have none to do.
TEST(Rtc, WhatNewerHeadersHave) {
  if (is_nvidia()) GTEST_SKIP() << "NVRTC compiles, which has no headers of HIP";
  Program program(R"(
extern "C" __global__ void compute(int* out) {
  if (threadIdx.x != 0) return;
  const __half two = __float2half(2), three = __float2half(3), none = __float2half(HIP_NAN_F);
  float2 pair = make_float2(1, 2);
  pair += make_float2(3, 4);
  pair *= make_float2(2, 2);
  out[0] = HIP_PI == 3.14159265358979323846 && HIP_PI_LO == 1.2246467991473532e-16 && HIP_TWO_TO_24_F == 16777216.0f;
  out[1] = HIP_INF_F > HIP_MAX_NORMAL_F && HIP_MIN_DENORM > 0 && HIP_NAN != HIP_NAN;
  out[2] = __hip_internal::is_same<ptrdiff_t, long>::value && !__hip_internal::is_integral<float>::value;
  out[3] = __half2int_rn(__hmax(two, three)) * 10 + __half2int_rn(__hmin(two, three));
  out[4] = __half2int_rn(__hmax(none, two)) * 10 + __half2int_rn(__hmin(three, none));
  out[5] = __hisnan(__hmax_nan(none, two)) + __hisnan(__hmin_nan(three, none));
  out[6] = static_cast<int>(pair.x) * 100 + static_cast<int>(pair.y);
  out[7] = __half2int_rn(__shfl(three, 0));
})");
  ASSERT_EQ(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_SUCCESS) << log_of(program);
  std::vector<int> back = written_by(program, "compute");
  back.resize(8);
  EXPECT_EQ(back, (std::vector<int>{1, 1, 1, 32, 23, 2, 812, 3}));
}

// From HIP 6.1 on.
TEST(Rtc, TheTypeOfDifferencesIsChosenByAMacro) {
  if (is_nvidia()) GTEST_SKIP() << "NVRTC compiles, which has no such macro";
  constexpr char kDifferences[] = R"(
static_assert(__hip_internal::is_same<ptrdiff_t, TYPE>::value, "");
static_assert(__hip_internal::is_same<decltype(static_cast<std::ptrdiff_t>(0)), TYPE>::value, "");
extern "C" __global__ void compute(int* out) { out[threadIdx.x] = 1; })";
  const char* const kLong[] = {"-DTYPE=long", "-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__=0"};
  const char* const kLongLong[] = {"-DTYPE=long long", "-D__HIPRTC_PTRDIFF_T_IS_LONG_LONG__=1"};
  for (auto options : {kLong, kLongLong}) {
    Program program(kDifferences);
    EXPECT_EQ(hiprtcCompileProgram(program, 2, const_cast<const char**>(options)), HIPRTC_SUCCESS)
        << options[1] << '\n'
        << log_of(program);
  }
}

TEST(Rtc, NamesAndCodeComeWithCompiling) {
  Program program(kSource);
  ASSERT_EQ(hiprtcAddNameExpression(program, "scale<float>"), HIPRTC_SUCCESS);
  const char* lowered = nullptr;
  std::size_t bytes = 0;
  EXPECT_NE(hiprtcGetLoweredName(program, "scale<float>", &lowered), HIPRTC_SUCCESS);
  EXPECT_NE(hiprtcGetCodeSize(program, &bytes), HIPRTC_SUCCESS);
  const char* options[] = {"-DOFFSET=1"};
  ASSERT_EQ(hiprtcCompileProgram(program, 1, options), HIPRTC_SUCCESS) << log_of(program);
  EXPECT_EQ(hiprtcGetLoweredName(program, "scale<double>", &lowered), HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
  EXPECT_EQ(hiprtcAddNameExpression(program, "plain"), HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
}

TEST(Rtc, ErrorsAreInTheLog) {
  Program program("__global__ void broken(int* out) { out[0] = no_such_name; }");
  EXPECT_EQ(hiprtcCompileProgram(program, 0, nullptr), HIPRTC_ERROR_COMPILATION);
  EXPECT_NE(log_of(program).find("no_such_name"), std::string::npos);
}

TEST(Rtc, BadArgumentsAreRefused) {
  hiprtcProgram program = nullptr;
  EXPECT_EQ(hiprtcCreateProgram(nullptr, kSource, "x", 0, nullptr, nullptr), HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(hiprtcCompileProgram(nullptr, 0, nullptr), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcDestroyProgram(&program), HIPRTC_ERROR_INVALID_INPUT);
  hiprtcProgram destroyed = nullptr;
  ASSERT_EQ(hiprtcCreateProgram(&program, kSource, "x", 0, nullptr, nullptr), HIPRTC_SUCCESS);
  destroyed = program;
  EXPECT_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
  EXPECT_EQ(hiprtcCompileProgram(destroyed, 0, nullptr), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcAddNameExpression(destroyed, "name"), HIPRTC_ERROR_INVALID_PROGRAM);
  std::size_t bytes = 0;
  EXPECT_EQ(hiprtcGetProgramLogSize(reinterpret_cast<hiprtcProgram>(0x1234), &bytes),
            HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcDestroyProgram(&destroyed), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_STREQ(hiprtcGetErrorString(HIPRTC_ERROR_COMPILATION), "HIPRTC_ERROR_COMPILATION");
  int major = 0;
  int minor = 0;
  EXPECT_EQ(hiprtcVersion(&major, &minor), HIPRTC_SUCCESS);
  EXPECT_GT(major, 0);
}

}  // namespace
}  // namespace tf::api_test
