// SPDX-License-Identifier: Apache-2.0
// Whether asking for a stream is asking for the null stream's work, too: up to HIP 5 it is, if the stream is
// ordered with the null stream (Rules::follows_null).
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

using namespace std::chrono_literals;

// Work of a stream that goes on until it is let go, or for some seconds.
class Gate {
 public:
  void let_go() { open_ = true; }
  bool passed() const { return passed_; }
  static void pass(hipStream_t, hipError_t, void* gate) { static_cast<Gate*>(gate)->wait(); }

 private:
  void wait() {
    const auto limit = std::chrono::steady_clock::now() + 10s;
    while (!open_ && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(1ms);
    passed_ = true;
  }

  std::atomic<bool> open_{false};
  std::atomic<bool> passed_{false};
};

class NullStream : public Major {
 protected:
  void SetUp() override {
    Major::SetUp();
    // A worker cannot keep AMD's runtime from it, nor one of ours that stands in for AMD's.
    const char* const runtime = std::getenv("TF_TEST_RUNTIME_MAJOR");
    if (major_ > 5 && runtime != nullptr && std::string(runtime) == "5")
      GTEST_SKIP() << "as the runtime has it";
    ordered_ = create(hipStreamDefault);
    other_ = create(hipStreamDefault);
    alone_ = create(hipStreamNonBlocking);
  }
  void TearDown() override {
    gate_.let_go();
    if (ordered_ == nullptr) return;
    synchronize();
    for (hipStream_t stream : {ordered_, other_, alone_})
      EXPECT_EQ(get<hipError_t(hipStream_t)>("hipStreamDestroy")(stream), hipSuccess);
  }
  hipStream_t create(unsigned flags) const {
    hipStream_t stream = nullptr;
    EXPECT_EQ(get<hipError_t(hipStream_t*, unsigned)>("hipStreamCreateWithFlags")(&stream, flags),
              hipSuccess);
    return stream;
  }
  void hold(hipStream_t stream) {
    using Add = hipError_t(hipStream_t, hipStreamCallback_t, void*, unsigned);
    ASSERT_EQ(get<Add>("hipStreamAddCallback")(stream, Gate::pass, &gate_, 0), hipSuccess);
  }
  hipError_t query(hipStream_t stream) const {
    return get<hipError_t(hipStream_t)>("hipStreamQuery")(stream);
  }
  void wait_for(hipStream_t stream) const {
    EXPECT_EQ(get<hipError_t(hipStream_t)>("hipStreamSynchronize")(stream), hipSuccess);
  }
  // While another thread lets the gate go.
  void wait_while_opening(hipStream_t stream) {
    std::thread opener([this] {
      std::this_thread::sleep_for(30ms);
      gate_.let_go();
    });
    wait_for(stream);
    opener.join();
  }
  bool follows() const { return major_ < 6; }

  Gate gate_;
  hipStream_t ordered_ = nullptr, other_ = nullptr, alone_ = nullptr;
};

TEST_F(NullStream, IsAskedForWithAnOrderedStream) {
  hold(nullptr);
  EXPECT_EQ(query(ordered_), follows() ? hipErrorNotReady : hipSuccess);
  EXPECT_EQ(query(ordered_), follows() ? hipErrorNotReady : hipSuccess);
  if (follows()) {
    wait_while_opening(ordered_);
    EXPECT_TRUE(gate_.passed());
  } else {
    wait_for(ordered_);
    EXPECT_FALSE(gate_.passed());
    gate_.let_go();
  }
  wait_for(nullptr);
  EXPECT_EQ(query(ordered_), hipSuccess);
}

// A program that polls does not fill the stream: the device takes only so much.
TEST_F(NullStream, IsAskedForThousandsOfTimes) {
  hold(nullptr);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(query(ordered_), follows() ? hipErrorNotReady : hipSuccess) << i;
  EXPECT_FALSE(gate_.passed());
  gate_.let_go();
  wait_for(nullptr);
}

TEST_F(NullStream, LeavesItsCopiesDone) {
  if (!follows()) GTEST_SKIP() << "HIP 6 and later wait for the stream alone";
  constexpr std::size_t kBytes = 1 << 20;
  void* const memory = allocate(kBytes);
  void* pinned = nullptr;
  ASSERT_EQ(get<hipError_t(void**, std::size_t, unsigned)>("hipHostMalloc")(&pinned, kBytes, 0), hipSuccess);
  std::memset(pinned, 1, kBytes);
  hold(nullptr);
  using Fill = hipError_t(void*, int, std::size_t, hipStream_t);
  ASSERT_EQ(get<Fill>("hipMemsetAsync")(memory, 7, kBytes, nullptr), hipSuccess);
  using Copy = hipError_t(void*, const void*, std::size_t, hipMemcpyKind, hipStream_t);
  ASSERT_EQ(get<Copy>("hipMemcpyAsync")(pinned, memory, kBytes, hipMemcpyDeviceToHost, nullptr), hipSuccess);
  wait_while_opening(ordered_);
  const auto* const values = static_cast<const unsigned char*>(pinned);
  EXPECT_EQ(std::vector<unsigned char>(values, values + kBytes), std::vector<unsigned char>(kBytes, 7));
  EXPECT_EQ(get<hipError_t(void*)>("hipHostFree")(pinned), hipSuccess);
  EXPECT_EQ(get<hipError_t(void*)>("hipFree")(memory), hipSuccess);
}

TEST_F(NullStream, IsNotAskedForWithAStreamOfItsOwn) {
  hold(nullptr);
  EXPECT_EQ(query(alone_), hipSuccess);
  wait_for(alone_);
  EXPECT_FALSE(gate_.passed());
}

TEST_F(NullStream, DoesNotBringOtherStreamsInItsTrain) {
  void* const memory = allocate(16);
  ASSERT_EQ(get<hipError_t(void*, int, std::size_t, hipStream_t)>("hipMemsetAsync")(memory, 7, 16, nullptr),
            hipSuccess);
  hold(other_);
  wait_for(ordered_);
  EXPECT_EQ(query(ordered_), hipSuccess);
  EXPECT_FALSE(gate_.passed());
  gate_.let_go();
  EXPECT_EQ(get<hipError_t(void*)>("hipFree")(memory), hipSuccess);
}

}  // namespace
}  // namespace tf::majors
