// SPDX-License-Identifier: Apache-2.0
// Compiles a templated kernel at run time with hiprtc, asks for its mangled name, loads and runs it.
#include "check_rtc.h"

#include <string>
#include <vector>

static const char kSource[] = R"(
template <typename T>
__global__ void axpy(T a, const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i] + T(OFFSET);
}
)";

static void print_log(hiprtcProgram program) {
  std::size_t bytes = 0;
  CHECK_RTC(hiprtcGetProgramLogSize(program, &bytes));
  std::string log(bytes, '\0');
  if (bytes > 1) CHECK_RTC(hiprtcGetProgramLog(program, log.data()));
  std::printf("%s\n", log.c_str());
}

int main() {
  hiprtcProgram program = nullptr;
  CHECK_RTC(hiprtcCreateProgram(&program, kSource, "axpy.hip", 0, nullptr, nullptr));
  CHECK_RTC(hiprtcAddNameExpression(program, "axpy<double>"));
  const char* options[] = {"-DOFFSET=10", "-O3"};
  if (hiprtcCompileProgram(program, 2, options) != HIPRTC_SUCCESS) {
    print_log(program);
    std::printf("FAILED: compilation\n");
    return 1;
  }
  const char* name = nullptr;
  CHECK_RTC(hiprtcGetLoweredName(program, "axpy<double>", &name));
  std::printf("compiled %s\n", name);
  std::size_t bytes = 0;
  CHECK_RTC(hiprtcGetCodeSize(program, &bytes));
  std::vector<char> code(bytes);
  CHECK_RTC(hiprtcGetCode(program, code.data()));

  hipModule_t module = nullptr;
  hipFunction_t axpy = nullptr;
  CHECK(hipModuleLoadData(&module, code.data()));
  CHECK(hipModuleGetFunction(&axpy, module, name));
  CHECK_RTC(hiprtcDestroyProgram(&program));

  int n = 10000;
  double a = 3.0;
  std::vector<double> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = y[i] = i;
  void *on_x = nullptr, *on_y = nullptr;
  CHECK(hipMalloc(&on_x, n * sizeof(double)));
  CHECK(hipMalloc(&on_y, n * sizeof(double)));
  CHECK(hipMemcpy(on_x, x.data(), n * sizeof(double), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(on_y, y.data(), n * sizeof(double), hipMemcpyHostToDevice));
  void* arguments[] = {&a, &on_x, &on_y, &n};
  CHECK(hipModuleLaunchKernel(axpy, (n + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(hipMemcpy(y.data(), on_y, n * sizeof(double), hipMemcpyDeviceToHost));
  long wrong = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != 4.0 * i + 10.0;
  CHECK(hipModuleUnload(module));
  CHECK(hipFree(on_x));
  CHECK(hipFree(on_y));
  return verdict(wrong, n);
}
