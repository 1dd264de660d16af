// SPDX-License-Identifier: Apache-2.0
// Kernels that fail: every call that waits or asks says so, natively and remotely alike, whichever is first,
// and goes on to say so. A device that has failed stays so, hence each case is a process of its own.
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"
#include "tests/api/partner.h"

namespace tf::api_test {
namespace {

constexpr std::size_t kBytes = 4096;

template <typename Query>
hipError_t until_ready(Query query) {
  hipError_t status = hipErrorNotReady;
  for (int look = 0; look < 20000 && status == hipErrorNotReady; ++look) {
    status = query();
    if (status == hipErrorNotReady) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

// One process with one kernel that fails.
class FailedKernel {
 public:
  FailedKernel(const std::string& kernel, const std::string& where) : where_(where) {
    const unsigned flags = where == "unordered" ? hipStreamNonBlocking : hipStreamDefault;
    if (has_stream()) {
      EXPECT_EQ(hipStreamCreateWithFlags(&stream_, flags), hipSuccess);
    }
    if (where == "thread") stream_ = hipStreamPerThread;
    EXPECT_EQ(hipMalloc(&memory_, kBytes), hipSuccess);
    EXPECT_EQ(hipEventCreate(&early_), hipSuccess);
    EXPECT_EQ(hipEventCreate(&late_), hipSuccess);
    EXPECT_EQ(hipEventRecord(early_, stream_), hipSuccess);
    EXPECT_EQ(hipEventSynchronize(early_), hipSuccess);
    if (kernel == "trap") launch_trap(static_cast<int*>(memory_), stream_);
    if (kernel == "assert") launch_assert(static_cast<int*>(memory_), stream_);
    if (kernel == "wild write") launch_wild_write(stream_);
    if (kernel == "wrong free") launch_free_wrongly(static_cast<int*>(memory_), stream_);
    EXPECT_EQ(hipGetLastError(), hipSuccess) << "a launch does not wait";
    EXPECT_EQ(hipEventRecord(late_, stream_), hipSuccess);
    const bool by_address = kernel == "wild write" || kernel == "wrong free";
    expected_ = by_address ? hipErrorIllegalAddress : hipErrorLaunchFailure;
    if (kernel == "assert" && is_nvidia()) expected_ = hipErrorAssert;  // CUDA_ERROR_ASSERT of the driver
  }

  void first_to_tell(const std::string& call) {
    EXPECT_EQ(calls().at(call)(), expected_) << call;
    EXPECT_EQ(hipPeekAtLastError(), expected_);
    EXPECT_EQ(hipGetLastError(), expected_);
    EXPECT_EQ(hipGetLastError(), hipSuccess);
  }
  void everybody_tells() {
    for (int round = 0; round < 2; ++round)
      for (const auto& [name, call] : calls()) EXPECT_EQ(call(), expected_) << name << ", round " << round;
    if (is_nvidia()) return;  // what follows is said of no other device
    EXPECT_EQ(hipEventQuery(early_), hipSuccess) << "it was reached before";
    float passed = 0;
    EXPECT_EQ(hipEventElapsedTime(&passed, early_, late_), expected_);
    // What does not wait says nothing, and the next wait does again.
    launch_fill(static_cast<int*>(memory_), 1, 64, stream_);
    EXPECT_EQ(hipGetLastError(), hipSuccess);
    EXPECT_EQ(hipStreamSynchronize(stream_), expected_);
    HIP_OK(hipMemsetAsync(memory_, 0, kBytes, stream_));
    EXPECT_EQ(hipDeviceSynchronize(), expected_);
    void* more = nullptr;
    HIP_OK(hipMalloc(&more, kBytes));
    HIP_OK(hipFree(more));
    HIP_OK(hipHostMalloc(&more, kBytes, hipHostMallocDefault));
    HIP_OK(hipHostFree(more));
    EXPECT_EQ(hipDeviceSynchronize(), expected_);
  }
  // A copy to the device may return before it is made; if it does, the next wait tells.
  void copy_to_device_then_wait() {
    std::vector<char> zeros(kBytes);
    const hipError_t copied = hipMemcpy(memory_, zeros.data(), kBytes, hipMemcpyHostToDevice);
    EXPECT_TRUE(copied == expected_ || copied == hipSuccess) << copied;
    EXPECT_EQ(hipDeviceSynchronize(), expected_);
  }
  void clean_up() {
    if (is_nvidia()) return;
    HIP_OK(hipEventDestroy(early_));
    HIP_OK(hipEventDestroy(late_));
    if (has_stream()) {
      HIP_OK(hipStreamDestroy(stream_));
    }
    HIP_OK(hipFree(memory_));
    EXPECT_EQ(hipDeviceSynchronize(), expected_);
  }

 private:
  using Call = std::function<hipError_t()>;
  bool has_stream() const { return where_ == "created" || where_ == "unordered"; }
  std::map<std::string, Call> calls() {
    std::map<std::string, Call> all = {
        {"device synchronize", [] { return hipDeviceSynchronize(); }},
        {"stream synchronize", [this] { return hipStreamSynchronize(stream_); }},
        {"event synchronize", [this] { return hipEventSynchronize(late_); }},
        {"stream query", [this] { return until_ready([this] { return hipStreamQuery(stream_); }); }},
        {"event query", [this] { return until_ready([this] { return hipEventQuery(late_); }); }},
    };
    // These wait for the null stream, and so for the streams that are ordered with it.
    if (where_ == "unordered") return all;
    all["copy"] = [this] { return hipMemcpy(host_, memory_, kBytes, hipMemcpyDeviceToHost); };
    all["box copy"] = [this] { return hipMemcpy2D(host_, 64, memory_, 128, 64, 16, hipMemcpyDeviceToHost); };
    all["null stream synchronize"] = [] { return hipStreamSynchronize(nullptr); };
    return all;
  }

  const std::string where_;
  hipStream_t stream_ = nullptr;
  hipEvent_t early_ = nullptr;
  hipEvent_t late_ = nullptr;
  void* memory_ = nullptr;
  char host_[kBytes] = {};
  hipError_t expected_ = hipSuccess;
};

// "kernel/stream/call that is first"
TEST(FailedKernelProcess, DISABLED_Run) {
  const char* const role = std::getenv("HIP_TEST_PARTNER");
  if (role == nullptr) GTEST_SKIP() << "only as somebody's partner";
  const std::string text = role;
  const std::size_t stream = text.find('/');
  const std::size_t call = text.find('/', stream + 1);
  FailedKernel process(text.substr(0, stream), text.substr(stream + 1, call - stream - 1));
  if (text.substr(call + 1) == "copy to device") {
    process.copy_to_device_then_wait();
  } else {
    process.first_to_tell(text.substr(call + 1));
    process.everybody_tells();
  }
  process.clean_up();
}

class FailedKernelTold : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(FailedKernelTold, ByTheFirstCallThatWaitsAndEveryLaterOne) {
  const auto [kernel, stream] = GetParam();
  if (std::string(kernel) == "wrong free" && is_nvidia())
    GTEST_SKIP() << "what the driver's heap does is its own";
  const std::string prefix = std::string(kernel) + "/" + stream + "/";
  std::vector<std::string> calls = {"device synchronize", "stream synchronize", "event synchronize",
                                    "stream query", "event query"};
  if (std::string(stream) != "unordered")
    calls.insert(calls.end(), {"copy", "box copy", "null stream synchronize", "copy to device"});
  for (const std::string& call : calls) {
    const pid_t partner = start_partner(prefix + call, "", -1, "FailedKernelProcess.DISABLED_Run");
    EXPECT_EQ(exit_code(partner), 0) << prefix << call;
  }
}

INSTANTIATE_TEST_SUITE_P(Trap, FailedKernelTold,
                         ::testing::Combine(::testing::Values("trap"),
                                            ::testing::Values("null", "created", "unordered", "thread")));
INSTANTIATE_TEST_SUITE_P(Others, FailedKernelTold,
                         ::testing::Combine(::testing::Values("assert", "wild write", "wrong free"),
                                            ::testing::Values("null", "created")));

}  // namespace
}  // namespace tf::api_test
