// SPDX-License-Identifier: Apache-2.0
// hiprtc's linking: a kernel of one program uses a function and a variable of another one.
#include <hip/hiprtc.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tests/api/hip_test.h"
#include "tests/api/module_fixture.h"

extern "C" {  // HIP 5.3; enums as ints
hiprtcResult hiprtcGetBitcode(hiprtcProgram program, char* bitcode);
hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram program, size_t* bytes);
hiprtcResult hiprtcLinkCreate(unsigned count, int* options, void** values, void** state);
hiprtcResult hiprtcLinkAddData(void* state, int type, void* image, size_t bytes, const char* name,
                               unsigned count, int* options, void** values);
hiprtcResult hiprtcLinkAddFile(void* state, int type, const char* path, unsigned count, int* options,
                               void** values);
int hiprtcLinkComplete(void* state, void** image, size_t* bytes);
hiprtcResult hiprtcLinkDestroy(void* state);
}

namespace tf::api_test {
namespace {

constexpr int kErrorLinking = 100;  // HIPRTC_ERROR_LINKING
constexpr int kErrorLog = 5;        // HIPRTC_JIT_ERROR_LOG_BUFFER
constexpr int kErrorLogBytes = 6;   // HIPRTC_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
constexpr int kPtx = 1;             // HIPRTC_JIT_INPUT_PTX
constexpr int kBitcode = 100;       // HIPRTC_JIT_INPUT_LLVM_BITCODE
constexpr int kBundle = 101;        // HIPRTC_JIT_INPUT_LLVM_BUNDLED_BITCODE

constexpr char kUser[] = R"(
extern __device__ int twice(int value);
extern __device__ int base;
extern "C" __global__ void run(int* out) { out[threadIdx.x] = twice(threadIdx.x) + base; }
)";
constexpr char kGiver[] = R"(
__device__ int base = 5;
__device__ int twice(int value) { return 2 * value; }
)";

// A compiled program, as a module if `options` say so.
class Compiled {
 public:
  explicit Compiled(const char* source, std::vector<const char*> options = {"-fgpu-rdc"}) {
    EXPECT_EQ(hiprtcCreateProgram(&program_, source, "part.hip", 0, nullptr, nullptr), HIPRTC_SUCCESS);
    EXPECT_EQ(hiprtcCompileProgram(program_, static_cast<int>(options.size()), options.data()),
              HIPRTC_SUCCESS);
  }
  ~Compiled() { EXPECT_EQ(hiprtcDestroyProgram(&program_), HIPRTC_SUCCESS); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  operator hiprtcProgram() const { return program_; }  // NOLINT: used where a hiprtcProgram is
  std::string bitcode() const {
    std::size_t bytes = 0;
    EXPECT_EQ(hiprtcGetBitcodeSize(program_, &bytes), HIPRTC_SUCCESS);
    std::string code(bytes, '\0');
    EXPECT_EQ(hiprtcGetBitcode(program_, code.data()), HIPRTC_SUCCESS);
    EXPECT_GT(bytes, 0u);
    return code;
  }

 private:
  hiprtcProgram program_ = nullptr;
};

class Link {
 public:
  Link() {
    int options[] = {kErrorLog, kErrorLogBytes};
    void* values[] = {log_, reinterpret_cast<void*>(sizeof log_)};
    EXPECT_EQ(hiprtcLinkCreate(2, options, values, &state_), HIPRTC_SUCCESS);
  }
  ~Link() { EXPECT_EQ(hiprtcLinkDestroy(state_), HIPRTC_SUCCESS); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void* state() const { return state_; }
  std::string log() const { return log_; }
  hiprtcResult add(std::string image, const char* name = "part", int type = kBitcode) {
    return hiprtcLinkAddData(state_, type, image.data(), image.size(), name, 0, nullptr, nullptr);
  }

 private:
  char log_[4096] = {};
  void* state_ = nullptr;
};

void expect_runs(const void* image) {
  hipModule_t module = nullptr;
  hipFunction_t run = nullptr;
  HIP_OK(hipModuleLoadData(&module, image));
  HIP_OK(hipModuleGetFunction(&run, module, "run"));
  DeviceBuffer device(32 * sizeof(int));
  void* out = device.get();
  void* arguments[] = {&out};
  HIP_OK(hipModuleLaunchKernel(run, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  const std::vector<int> back = read_ints(device.get(), 32);
  for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], static_cast<int>(i) * 2 + 5);
  HIP_OK(hipModuleUnload(module));
}

TEST(RtcLink, PartsBecomeOneCodeObject) {
  const Compiled user(kUser);
  const Compiled giver(kGiver);
  Link link;
  ASSERT_EQ(link.add(user.bitcode(), "user"), HIPRTC_SUCCESS);
  char path[] = "/tmp/hip-link-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  const std::string code = giver.bitcode();
  ASSERT_EQ(write(file, code.data(), code.size()), static_cast<ssize_t>(code.size()));
  close(file);
  EXPECT_EQ(hiprtcLinkAddFile(link.state(), kBitcode, path, 0, nullptr, nullptr), HIPRTC_SUCCESS);
  std::remove(path);
  void* image = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(hiprtcLinkComplete(link.state(), &image, &bytes), HIPRTC_SUCCESS) << link.log();
  EXPECT_GT(bytes, 0u);
  expect_runs(image);
}

TEST(RtcLink, WhatIsMissingIsInTheLog) {
  const Compiled user(kUser);
  Link link;
  ASSERT_EQ(link.add(user.bitcode()), HIPRTC_SUCCESS);
  void* image = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(hiprtcLinkComplete(link.state(), &image, &bytes), kErrorLinking);
  EXPECT_NE(link.log().find("twice"), std::string::npos) << link.log();
  EXPECT_EQ(image, nullptr);
}

TEST(RtcLink, WhatIsNoBitcodeIsRefused) {
  Link link;
  EXPECT_EQ(link.add("no bitcode at all"), HIPRTC_SUCCESS);
  void* image = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(hiprtcLinkComplete(link.state(), &image, &bytes), kErrorLinking);
  EXPECT_NE(link.log(), "");
}

// A module is no code object, and a code object no module.
TEST(RtcLink, BitcodeIsAskedForWithTheOption) {
  const Compiled whole("extern \"C\" __global__ void nothing() {}", {});
  const Compiled part("extern \"C\" __global__ void nothing() {}");
  std::size_t bytes = 7;
  char room[1] = {};
  EXPECT_EQ(hiprtcGetBitcodeSize(whole, &bytes), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcGetBitcode(whole, room), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcGetBitcodeSize(nullptr, &bytes), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcGetBitcode(nullptr, room), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcGetBitcodeSize(part, nullptr), HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(hiprtcGetBitcode(part, nullptr), HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(hiprtcGetCodeSize(part, &bytes), HIPRTC_SUCCESS);
  EXPECT_EQ(bytes, 0u);
}

TEST(RtcLink, BadArgumentsAreRefused) {
  int option = kErrorLog;
  void* value = nullptr;
  void* state = nullptr;
  EXPECT_EQ(hiprtcLinkCreate(0, nullptr, nullptr, nullptr), HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(hiprtcLinkCreate(1, nullptr, &value, &state), HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(hiprtcLinkCreate(1, &option, nullptr, &state), HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(hiprtcLinkCreate(1, &option, &value, &state), HIPRTC_ERROR_INVALID_OPTION)
      << "a log without a buffer";
  EXPECT_EQ(state, nullptr);
  Link link;
  char image[] = "x";
  EXPECT_EQ(hiprtcLinkAddData(link.state(), kBitcode, nullptr, 1, "x", 0, nullptr, nullptr),
            HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(hiprtcLinkAddData(link.state(), kBitcode, image, 0, "x", 0, nullptr, nullptr),
            HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(link.add("x", "x", kPtx), HIPRTC_ERROR_INVALID_INPUT) << "NVIDIA's own";
  EXPECT_EQ(link.add("x", "x", kBundle), HIPRTC_ERROR_PROGRAM_CREATION_FAILURE);
  EXPECT_NE(link.log().find("bundle"), std::string::npos);
  EXPECT_EQ(hiprtcLinkAddFile(link.state(), kBitcode, nullptr, 0, nullptr, nullptr),
            HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(hiprtcLinkAddFile(link.state(), kBitcode, "/no/such/file", 0, nullptr, nullptr),
            HIPRTC_ERROR_PROGRAM_CREATION_FAILURE);
  void* made = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(hiprtcLinkComplete(link.state(), nullptr, &bytes), HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(hiprtcLinkComplete(link.state(), &made, nullptr), HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(hiprtcLinkComplete(link.state(), &made, &bytes), kErrorLinking) << "nothing was added";
}

TEST(RtcLink, AStateThatIsGoneIsRefused) {
  void* state = nullptr;
  ASSERT_EQ(hiprtcLinkCreate(0, nullptr, nullptr, &state), HIPRTC_SUCCESS);
  ASSERT_EQ(hiprtcLinkDestroy(state), HIPRTC_SUCCESS);
  char image[] = "x";
  void* made = nullptr;
  std::size_t bytes = 0;
  for (void* const wrong : {state, static_cast<void*>(nullptr), static_cast<void*>(image)}) {
    EXPECT_EQ(hiprtcLinkAddData(wrong, kBitcode, image, 1, "x", 0, nullptr, nullptr),
              HIPRTC_ERROR_INVALID_INPUT);
    EXPECT_EQ(hiprtcLinkAddFile(wrong, kBitcode, "x", 0, nullptr, nullptr), HIPRTC_ERROR_INVALID_INPUT);
    EXPECT_EQ(hiprtcLinkComplete(wrong, &made, &bytes), HIPRTC_ERROR_INVALID_INPUT);
    EXPECT_EQ(hiprtcLinkDestroy(wrong), HIPRTC_ERROR_INVALID_INPUT);
  }
}

}  // namespace
}  // namespace tf::api_test
