// SPDX-License-Identifier: Apache-2.0
// What programs of HIP 6 find in libamdhip64.so.6 beyond HIP 5: hipExtModuleLaunchKernel as C, and linking
// under HIP's own names.
#include <hip/hiprtc.h>

#include <string>

#include "tests/api/hip_test.h"
#include "tests/api/module_fixture.h"

extern "C" {
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t global_x, uint32_t global_y,
                                    uint32_t global_z, uint32_t local_x, uint32_t local_y, uint32_t local_z,
                                    size_t shared_bytes, hipStream_t stream, void** arguments, void** extra,
                                    hipEvent_t start, hipEvent_t stop, uint32_t flags);
// Enums as ints, a link state as what it is.
hipError_t hipLinkCreate(unsigned count, int* options, void** values, void** state);
hipError_t hipLinkAddData(void* state, int type, void* image, size_t bytes, const char* name, unsigned count,
                          int* options, void** values);
hipError_t hipLinkAddFile(void* state, int type, const char* path, unsigned count, int* options,
                          void** values);
hipError_t hipLinkComplete(void* state, void** image, size_t* bytes);
hipError_t hipLinkDestroy(void* state);
}

namespace tf::api_test {
namespace {

constexpr int kPtx = 1;        // hipJitInputPtx
constexpr int kBitcode = 100;  // hipJitInputLLVMBitcode

TEST(Major6, LaunchesByTheNameOfC) {
  LoadedModule module;
  DeviceBuffer device(64 * sizeof(int));
  void* out = device.get();
  int value = 21;
  int count = 64;
  void* arguments[] = {&out, &value, &count};
  HIP_OK(hipExtModuleLaunchKernel(module.function("fill"), 64, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr,
                                  nullptr, nullptr, 0));
  EXPECT_EQ(read_ints(device.get(), 64), counting_ints(64, 21));
  EXPECT_EQ(hipExtModuleLaunchKernel(module.function("fill"), 63, 1, 1, 32, 1, 1, 0, nullptr, arguments,
                                     nullptr, nullptr, nullptr, 0),
            hipErrorInvalidConfiguration);
}

// The bitcode of a program. HIP 6 has hiprtc in its own library, with or without the functions in this one.
std::string bitcode_of(const char* source) {
  void* const rtc = dlopen("libhiprtc.so.6", RTLD_NOW);
  EXPECT_NE(rtc, nullptr) << dlerror();
  if (rtc == nullptr) return {};
  const auto create = reinterpret_cast<decltype(&hiprtcCreateProgram)>(dlsym(rtc, "hiprtcCreateProgram"));
  const auto compile = reinterpret_cast<decltype(&hiprtcCompileProgram)>(dlsym(rtc, "hiprtcCompileProgram"));
  const auto size = reinterpret_cast<decltype(&hiprtcGetCodeSize)>(dlsym(rtc, "hiprtcGetBitcodeSize"));
  const auto copy = reinterpret_cast<decltype(&hiprtcGetCode)>(dlsym(rtc, "hiprtcGetBitcode"));
  const auto destroy = reinterpret_cast<decltype(&hiprtcDestroyProgram)>(dlsym(rtc, "hiprtcDestroyProgram"));
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

hipError_t add(void* state, std::string code, int type = kBitcode) {
  return hipLinkAddData(state, type, code.data(), code.size(), "part", 0, nullptr, nullptr);
}

TEST(Major6, Links) {
  void* state = nullptr;
  HIP_OK(hipLinkCreate(0, nullptr, nullptr, &state));
  HIP_OK(
      add(state,
          bitcode_of("extern __device__ int twice(int v);\n"
                     "extern \"C\" __global__ void run(int* o) { o[threadIdx.x] = twice(threadIdx.x); }")));
  void* image = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(hipLinkComplete(state, &image, &bytes), hipErrorInvalidConfiguration) << "twice is missing";
  HIP_OK(add(state, bitcode_of("__device__ int twice(int v) { return 2 * v; }")));
  HIP_OK(hipLinkComplete(state, &image, &bytes));
  hipModule_t module = nullptr;
  hipFunction_t run = nullptr;
  HIP_OK(hipModuleLoadData(&module, image));
  HIP_OK(hipModuleGetFunction(&run, module, "run"));
  DeviceBuffer device(32 * sizeof(int));
  void* out = device.get();
  void* arguments[] = {&out};
  HIP_OK(hipModuleLaunchKernel(run, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(read_ints(device.get(), 32)[31], 62);
  HIP_OK(hipModuleUnload(module));
  HIP_OK(hipLinkDestroy(state));
  EXPECT_EQ(hipLinkDestroy(state), hipErrorInvalidValue);
  EXPECT_EQ(hipLinkComplete(state, &image, &bytes), hipErrorInvalidValue);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidValue);
}

TEST(Major6, WrongLinksAreRefused) {
  void* state = nullptr;
  EXPECT_EQ(hipLinkCreate(0, nullptr, nullptr, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipLinkCreate(1, nullptr, nullptr, &state), hipErrorInvalidValue);
  HIP_OK(hipLinkCreate(0, nullptr, nullptr, &state));
  EXPECT_EQ(hipLinkAddData(state, kBitcode, nullptr, 4, "x", 0, nullptr, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(add(state, "x", kPtx), hipErrorInvalidValue);
  EXPECT_EQ(add(nullptr, "x"), hipErrorInvalidValue);
  EXPECT_EQ(hipLinkAddFile(state, kBitcode, nullptr, 0, nullptr, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipLinkAddFile(state, kBitcode, "/no/such/file", 0, nullptr, nullptr),
            hipErrorInvalidConfiguration);
  std::size_t bytes = 0;
  void* image = nullptr;
  EXPECT_EQ(hipLinkComplete(state, nullptr, &bytes), hipErrorInvalidValue);
  EXPECT_EQ(hipLinkComplete(state, &image, &bytes), hipErrorInvalidConfiguration) << "nothing was added";
  HIP_OK(hipLinkDestroy(state));
}

}  // namespace
}  // namespace tf::api_test
