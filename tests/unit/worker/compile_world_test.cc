// SPDX-License-Identifier: Apache-2.0
// The world of a session's compiler: what a source, an option, a module, and a compiler that has been taken
// over reach from there. What each of them is refused, a session itself or a worker without walls allows.
#include <sys/stat.h>

#include "compile_walls.h"
#include "worker/sandbox/compile_options.h"
#include "worker/sandbox/landlock.h"

namespace tf::worker {
namespace {

constexpr int kInvalidOption = 5;     // HIPRTC_ERROR_INVALID_OPTION
constexpr int kSignalScopeSince = 6;  // of Landlock's versions
constexpr char kKernel[] = "extern \"C\" __global__ void k(int* p) { *p = 1; }\n";

// Says on a line of its own what it could do.
constexpr char kLookAround[] = R"(#!/usr/bin/python3
import os, socket, sys
def attempt(name, what):
    try:
        what()
        print(name, flush=True)
    except OSError:
        pass
attempt('own', lambda: open(os.environ['TMPDIR'] + '/file', 'w').close())
attempt('file', lambda: open('/etc/passwd').close())
attempt('processor', lambda: open('/proc/cpuinfo').close())
attempt('environment', lambda: open('/proc/self/environ').close())
attempt('processes', lambda: os.listdir('/proc'))
attempt('elsewhere', lambda: os.close(os.open(os.path.dirname(sys.argv[0]) + '/written', os.O_WRONLY | os.O_CREAT)))
attempt('signal', lambda: os.kill(os.getppid(), 0))
attempt('socket', lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close())
for number in range(3, 256):
    attempt('descriptor', lambda: os.fstat(number))
sys.exit(1)
)";

class CompileWorld : public CompileWalls {
 protected:
  CompileWorld() {
    if (Landlock::version() == 0) skip_ = "this kernel has no Landlock, so files cannot be walled off";
  }
  ~CompileWorld() override { ::unsetenv("TF_HIPCC_CPU"); }
  void SetUp() override {
    if (!skip_.empty()) GTEST_SKIP() << skip_;
  }
  // From now on workers compile with this program.
  void compile_with(const std::string& script) {
    const fs::path program = fs::path(secret()).parent_path() / "compiler";
    std::ofstream(program) << script;
    ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
    ::setenv("TF_HIPCC_CPU", program.c_str(), 1);
  }
  // With two seconds of processor time.
  void compile_in_two_seconds() {
    const fs::path build = fs::path(TF_CPU_RUNTIME).parent_path().parent_path();
    compile_with("#!/bin/sh\nulimit -S -t 2\nexec " + (build / "bin" / "hipcc-cpu").string() + " \"$@\"\n");
  }

 private:
  std::string skip_;
};

// As a compiler says that it may not open a file, or that there is none (where a session has mounts of its
// own).
bool says_no(const std::string& log, const std::string& file) {
  return log.find("cannot open file '" + file) != std::string::npos ||
         log.find("'" + file + "' file not found") != std::string::npos;
}

TEST_F(CompileWorld, ASourceReadsNothingOfTheWorkers) {
  const WorkerProcess worker({}, TF_CPU_RUNTIME);
  for (const std::string file : {"/etc/passwd", "/etc/ld.so.conf", "/proc/self/environ", "/proc/cpuinfo"}) {
    if (!fs::exists(file)) continue;
    const protocol::RtcResult result = compile(worker, program_of("#include \"" + file + "\"\n" + kKernel));
    EXPECT_TRUE(says_no(result.log, file)) << file << result.log;
  }
}

TEST_F(CompileWorld, AnOptionReadsNothingOfTheWorkers) {
  const WorkerProcess worker({}, TF_CPU_RUNTIME);
  const protocol::RtcResult before = compile(worker, program_of(kKernel, {"-include", "/etc/passwd"}));
  EXPECT_TRUE(says_no(before.log, "/etc/passwd")) << before.log;
  const protocol::RtcResult below =
      compile(worker, program_of(std::string("#include <ld.so.conf>\n") + kKernel, {"-I/etc"}));
  EXPECT_NE(below.result, 0);
  EXPECT_EQ(below.log.find("include /etc"), std::string::npos) << below.log;
}

TEST_F(CompileWorld, AnOptionThatNamesFilesIsRefused) {
  const WorkerProcess worker({}, TF_CPU_RUNTIME);
  const protocol::RtcResult result = compile(worker, program_of(kKernel, {"-O3", "-fplugin=/usr/lib/x.so"}));
  EXPECT_EQ(result.result, kInvalidOption);
  EXPECT_NE(result.log.find("-fplugin=/usr/lib/x.so"), std::string::npos) << result.log;
  EXPECT_EQ(compile(worker, program_of(kKernel, {"-O3"})).result, 0);
}

TEST_F(CompileWorld, AModuleReadsNothingOfTheWorkers) {
  protocol::RtcProgram program;
  program.modules.push_back({"module",
                             "module asm \".section .rodata\"\n"
                             "module asm \".incbin \\22/etc/ld.so.conf\\22\"\n"
                             "define amdgpu_kernel void @k() { ret void }\n"});
  const WorkerProcess worker({}, TF_CPU_RUNTIME);
  const protocol::RtcResult result = compile(worker, program);
  EXPECT_EQ(result.code.find("include /etc"), std::string::npos);
  EXPECT_NE(result.log.find("ld.so.conf"), std::string::npos) << result.result << result.log;
}

TEST_F(CompileWorld, ACompilerThatIsTakenOverReachesNothing) {
  compile_with(kLookAround);
  const std::string signal = Landlock::version() >= kSignalScopeSince ? "" : "signal\n";
  EXPECT_EQ(compile({}, kKernel).log, "own\n" + signal);
  const fs::path written = fs::path(secret()).parent_path() / "written";
  EXPECT_FALSE(fs::exists(written));
  const std::string all = compile({"--no-sandbox"}, kKernel).log;
  EXPECT_TRUE(all.starts_with("own\nfile\nprocessor\nenvironment\nprocesses\nelsewhere\nsignal\nsocket\n"))
      << all;
  EXPECT_TRUE(fs::exists(written));
}

TEST_F(CompileWorld, ABombEndsByItsLimit) {
  compile_in_two_seconds();
  const WorkerProcess worker({}, TF_CPU_RUNTIME);
  const std::string types =
      "template <int N, class T> struct Two { Two<N - 1, Two<N, T>*> a; Two<N - 1, Two<N, T>&> b; };\n"
      "template <class T> struct Two<0, T> {};\n"
      "template struct Two<40, int>;\n";
  for (const std::string& bomb : {std::string(kBomb), types}) {
    const protocol::RtcResult result =
        compile(worker, program_of(bomb + kKernel, {"-std=c++17", "-fconstexpr-steps=2147483647"}));
    EXPECT_NE(result.result, 0);
    EXPECT_NE(result.log.find("CPU time limit exceeded"), std::string::npos) << result.log;
  }
  EXPECT_EQ(compile(worker, program_of(kKernel)).result, 0);
}

TEST(CompileOptions, WhatSaysHowASourceIsCompiledIsTaken) {
  const std::vector<std::vector<std::string>> taken = {
      {},
      {"-O3", "-std=c++17", "--std=c++20", "-ffast-math", "-fno-gpu-rdc", "-fgpu-rdc", "-w", "-g", "-Wall"},
      {"-Wno-error=unused", "-W#warnings", "-Wno-c++11-narrowing", "-ffp-contract=off",
       "-ftemplate-depth=100"},
      {"--offload-arch=gfx90a:xnack+", "--gpu-architecture=sm_90", "-arch=compute_75", "-mcumode"},
      {"-DX", "-DX=\"/usr\"", "-D", "X=1", "-UX", "-U", "X", "-I/opt/rocm/include", "-I", "include"},
      {"-isystem", "/usr/include", "-include", "hip/hip_runtime.h"},
      {"-mllvm", "-amdgpu-early-inline-all=true", "-mllvm", "--unroll-threshold=100", "-mllvm", "-x=0.5"},
      {"-Xclang", "-target-feature", "-Xclang", "+sse4.1", "-Xclang", "-mllvm", "-Xclang", "-fast-isel=0"},
      {"-hip-pch", "-Rpass=.*", "-x", "hip", "-target", "amdgcn-amd-amdhsa", "--use_fast_math",
       "--maxrregcount=64", "-default-device"}};
  for (const std::vector<std::string>& options : taken)
    EXPECT_TRUE(check_compile_options(options).is_ok()) << check_compile_options(options).message();
}

TEST(CompileOptions, WhatNamesFilesOrProgramsIsNot) {
  const std::vector<std::vector<std::string>> refused = {{"-o", "/tmp/x"},
                                                         {"-o/tmp/x"},
                                                         {"--output=x"},
                                                         {"-MD"},
                                                         {"-MF", "/tmp/x"},
                                                         {"-Wp,-MD,/tmp/x"},
                                                         {"-Wl,-T,x"},
                                                         {"-Wa,-I,/etc"},
                                                         {"@/etc/passwd"},
                                                         {"-D", "@/etc/passwd"},
                                                         {"-I", "@x"},
                                                         {"/etc/passwd"},
                                                         {"x.s"},
                                                         {"-"},
                                                         {""},
                                                         {"-fplugin=x"},
                                                         {"-fplugin-arg-x-y"},
                                                         {"-fpass-plugin=x"},
                                                         {"-Xclang", "-load"},
                                                         {"-Xclang", "x.so"},
                                                         {"-Xclang", "-fplugin=x"},
                                                         {"-Xclang"},
                                                         {"-mllvm"},
                                                         {"-mllvm", "x"},
                                                         {"-mllvm", "-load=x.so"},
                                                         {"-mllvm", "-info-output-file=/tmp/x"},
                                                         {"-save-temps"},
                                                         {"--save-temps"},
                                                         {"-working-directory=/etc"},
                                                         {"-ivfsoverlay", "x"},
                                                         {"--config", "x"},
                                                         {"--config=x"},
                                                         {"--sysroot=/etc"},
                                                         {"-B/tmp"},
                                                         {"-specs=x"},
                                                         {"-resource-dir=/x"},
                                                         {"-fuse-ld=/tmp/x"},
                                                         {"-fprofile-use=/tmp/x"},
                                                         {"-fmodule-file=a/b"},
                                                         {"-l", "x"},
                                                         {"-lx"},
                                                         {"-L/x"},
                                                         {"-Xlinker", "x"},
                                                         {"-x", "ir"},
                                                         {"-x", "assembler"},
                                                         {"--names", "x"},
                                                         {"--rtc-link"},
                                                         {"-gsplit-dwarf=/x"},
                                                         {"-include"},
                                                         {"-I"},
                                                         {"-fcrash-diagnostics-dir=../x"}};
  for (const std::vector<std::string>& options : refused)
    EXPECT_EQ(check_compile_options(options).code(), Code::kPermission)
        << (options.empty() ? "" : options[0]);
}

}  // namespace
}  // namespace tf::worker
