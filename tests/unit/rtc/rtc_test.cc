// SPDX-License-Identifier: Apache-2.0
// hiprtc on the CPU: compiling, lowered names, headers, options, messages, and running what came out.
#include "worker/runtime/cpu/kernel_api.h"
#include "worker/runtime/cpu/rtc/process.h"

#include "tests/support/slow_compiler.h"
#include "tests/unit/cpu_kernel/test_heap_memory.h"

#include <gtest/gtest.h>
#include <hip/hiprtc.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

constexpr char kSource[] = R"(
#include "factor.h"
namespace n { struct Pair { float a, b; }; }
__device__ int offset = 3;
extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i] + FACTOR + EXTRA;
}
template <typename T, int N> __global__ void fill(T* to, n::Pair p) { to[threadIdx.x] = T(p.a + p.b) * N; }
)";

std::string log_of(hiprtcProgram program) {
  std::size_t bytes = 0;
  EXPECT_EQ(HIPRTC_SUCCESS, hiprtcGetProgramLogSize(program, &bytes));
  std::string log(bytes, '\0');
  if (bytes != 0) {
    EXPECT_EQ(HIPRTC_SUCCESS, hiprtcGetProgramLog(program, log.data()));
  }
  return log;
}

TEST(Rtc, CompilesAndRunsWithHeadersOptionsAndNames) {
  hiprtcProgram program = nullptr;
  const char* header = "#define FACTOR 10.0f\n";
  const char* header_name = "factor.h";
  ASSERT_EQ(HIPRTC_SUCCESS, hiprtcCreateProgram(&program, kSource, "axpy.hip", 1, &header, &header_name));
  ASSERT_EQ(HIPRTC_SUCCESS, hiprtcAddNameExpression(program, "fill<double, 3>"));
  ASSERT_EQ(HIPRTC_SUCCESS, hiprtcAddNameExpression(program, "&offset"));
  const char* options[] = {"-DEXTRA=0.5f", "--gpu-architecture=gfx90a", "-O2"};
  ASSERT_EQ(HIPRTC_SUCCESS, hiprtcCompileProgram(program, 3, options)) << log_of(program);
  EXPECT_EQ(HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, hiprtcAddNameExpression(program, "late"));
  const char *fill = nullptr, *offset = nullptr, *none = nullptr;
  ASSERT_EQ(HIPRTC_SUCCESS, hiprtcGetLoweredName(program, "fill<double, 3>", &fill));
  ASSERT_EQ(HIPRTC_SUCCESS, hiprtcGetLoweredName(program, "&offset", &offset));
  EXPECT_EQ(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID, hiprtcGetLoweredName(program, "fill<int, 1>", &none));
  EXPECT_STREQ("_Z4fillIdLi3EEvPT_N1n4PairE", fill);

  std::size_t bytes = 0;
  ASSERT_EQ(HIPRTC_SUCCESS, hiprtcGetCodeSize(program, &bytes));
  std::vector<char> code(bytes);
  ASSERT_EQ(HIPRTC_SUCCESS, hiprtcGetCode(program, code.data()));
  std::unique_ptr<tf::cpu::CodeObject> object;
  ASSERT_EQ(hipSuccess, tf::cpu::CodeObject::load(code.data(), object));
  float x[4] = {1, 2, 3, 4}, y[4] = {};
  struct {
    float a;
    const float* x;
    float* y;
    int n;
  } arguments = {2.0f, x, y, 4};
  tf::cpu::TestHeapMemory memory;
  tf::cpu::DeviceHeap heap(memory, memory.total);
  tf::cpu::Grid grid;
  grid.threads[0] = 4;
  ASSERT_NE(nullptr, object->find("axpy"));
  ASSERT_EQ(hipSuccess, tf::cpu::run_grid(*object->find("axpy"), grid, &arguments, heap));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(2.0f * x[i] + 10.5f, y[i]);
  double filled[4] = {};
  struct {
    double* to;
    float a, b;
  } other = {filled, 1.0f, 2.0f};
  ASSERT_NE(nullptr, object->find(fill));
  ASSERT_EQ(hipSuccess, tf::cpu::run_grid(*object->find(fill), grid, &other, heap));
  EXPECT_EQ(9.0, filled[3]);
  std::size_t variable_bytes = 0;
  auto* variable = static_cast<int*>(object->global(offset, variable_bytes));
  ASSERT_NE(nullptr, variable);
  EXPECT_EQ(3, *variable);
  EXPECT_EQ(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
  EXPECT_EQ(nullptr, program);
}

TEST(Rtc, CompilerErrorsAreInTheLog) {
  hiprtcProgram program = nullptr;
  ASSERT_EQ(HIPRTC_SUCCESS, hiprtcCreateProgram(&program, "__global__ void k() { nonsense(); }", "bad.hip", 0,
                                                nullptr, nullptr));
  EXPECT_EQ(HIPRTC_ERROR_COMPILATION, hiprtcCompileProgram(program, 0, nullptr));
  const std::string log = log_of(program);
  EXPECT_NE(std::string::npos, log.find("bad.hip:1")) << log;
  EXPECT_NE(std::string::npos, log.find("nonsense")) << log;
  std::size_t bytes = 0;
  EXPECT_NE(HIPRTC_SUCCESS, hiprtcGetCodeSize(program, &bytes));
  EXPECT_EQ(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
}

TEST(Rtc, WrongCallsAreRefused) {
  hiprtcProgram program = nullptr;
  EXPECT_EQ(HIPRTC_ERROR_INVALID_INPUT, hiprtcCreateProgram(nullptr, "", "", 0, nullptr, nullptr));
  EXPECT_EQ(HIPRTC_ERROR_INVALID_INPUT, hiprtcCreateProgram(&program, nullptr, "", 0, nullptr, nullptr));
  EXPECT_EQ(HIPRTC_ERROR_INVALID_INPUT, hiprtcCreateProgram(&program, "", "", 1, nullptr, nullptr));
  EXPECT_EQ(HIPRTC_ERROR_INVALID_PROGRAM, hiprtcCompileProgram(nullptr, 0, nullptr));
  EXPECT_EQ(HIPRTC_ERROR_INVALID_INPUT, hiprtcDestroyProgram(&program));
  const char *text = "", *outside = "../../outside.h";
  ASSERT_EQ(HIPRTC_SUCCESS, hiprtcCreateProgram(&program, "", "a", 1, &text, &outside));
  EXPECT_EQ(HIPRTC_ERROR_INTERNAL_ERROR, hiprtcCompileProgram(program, 0, nullptr));
  EXPECT_NE(std::string::npos, log_of(program).find("outside.h"));
  EXPECT_EQ(HIPRTC_SUCCESS, hiprtcDestroyProgram(&program));
}

TEST(Rtc, AProgramThatIsKilledTakesItsCompilationAlong) {
  const tf::test::SlowCompiler compiler;
  const pid_t program = ::fork();
  ASSERT_GE(program, 0);
  if (program == 0) {
    hiprtcProgram compiled = nullptr;
    static_cast<void>(hiprtcCreateProgram(&compiled, kSource, "axpy.hip", 0, nullptr, nullptr));
    static_cast<void>(hiprtcCompileProgram(compiled, 0, nullptr));
    ::_exit(0);
  }
  const std::vector<pid_t> pids = compiler.wait_for_start();
  EXPECT_EQ(pids.size(), 2u);
  ::kill(program, SIGKILL);
  EXPECT_EQ(::waitpid(program, nullptr, 0), program);
  EXPECT_TRUE(compiler.is_cleaned_up(pids));
}

// By the kernel, so also if nobody is left to watch it.
TEST(RtcProcess, ACommandThatReachesALimitIsEnded) {
  tf::cpu::rtc::Surroundings surroundings{"/dev/null"};
  surroundings.limits = tf::cpu::rtc::Limits{1, 1 << 20, 64};
  const auto run = [&](const char* script) {
    return tf::cpu::rtc::run_command({"sh", "-c", script}, surroundings, std::chrono::seconds(60));
  };
  auto endless = run("while :; do :; done");
  ASSERT_TRUE(endless);
  EXPECT_EQ(*endless, 128 + SIGXCPU) << "of processor time";
  auto stubborn = run("trap '' XCPU; while :; do :; done");
  ASSERT_TRUE(stubborn);
  EXPECT_EQ(*stubborn, 128 + SIGKILL) << "of processor time";
  auto large = run("f=$(mktemp); head -c 100000 /dev/zero > $f; s=$?; rm $f; exit $s");
  ASSERT_TRUE(large);
  EXPECT_NE(*large, 0) << "of files";
  auto small = run("f=$(mktemp); head -c 1000 /dev/zero > $f; s=$?; rm $f; exit $s");
  ASSERT_TRUE(small);
  EXPECT_EQ(*small, 0);
}

TEST(RtcProcess, ACommandThatTakesTooLongIsEnded) {
  const auto start = std::chrono::steady_clock::now();
  auto result = tf::cpu::rtc::run_command({"sleep", "30"}, {"/dev/null"}, std::chrono::seconds(1));
  EXPECT_EQ(tf::Code::kTimeout, result.code());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_FALSE(tf::cpu::rtc::run_command({"no-such-command-here"}, {"/dev/null"}, std::chrono::seconds(5)));
  auto seven = tf::cpu::rtc::run_command({"sh", "-c", "exit 7"}, {"/dev/null"}, std::chrono::seconds(5));
  ASSERT_TRUE(seven);
  EXPECT_EQ(7, *seven);
}

}  // namespace
