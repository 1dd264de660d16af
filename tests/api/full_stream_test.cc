// SPDX-License-Identifier: Apache-2.0
// A runtime takes only so much work for one stream: about 1000 launches on a GPU, 65536 on the host's cores.
// Then it holds up the thread that launches. What stands in front of the work and needs the host goes on
// all the same: host functions, and copies from and to memory of the host.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/api/graph_fixture.h"

namespace tf::api_test {
namespace {

using namespace std::chrono_literals;

constexpr int kLaunches = 70'000;        // more than any runtime takes
constexpr std::size_t kLarge = 3 << 20;  // ints

class FullStream : public ::testing::Test {
 protected:
  // Returns when no more launches come: the stream is full, or all are there.
  void wait_until_full() const {
    int before = -1;
    for (int now = launched_; now != before || now == 0; now = launched_) {
      before = now;
      std::this_thread::sleep_for(50ms);
    }
  }
  void begin() {
    launched_ = 0;
    HIP_OK(hipMemset(count_.get(), 0, sizeof(int)));
  }
  void fill_and_finish(hipStream_t stream) {
    for (; launched_ < kLaunches; ++launched_) launch_increment(module_, count_.get(), 1, stream);
    HIP_OK(hipStreamSynchronize(stream));
    int counted = 0;
    HIP_OK(hipMemcpy(&counted, count_.get(), sizeof counted, hipMemcpyDeviceToHost));
    EXPECT_EQ(counted, kLaunches);
  }
  // `call` outlives the function.
  static void on_host(hipStream_t stream, std::function<void()>& call) {
    const auto run = [](void* function) { (*static_cast<std::function<void()>*>(function))(); };
    ASSERT_EQ(hipLaunchHostFunc(stream, run, &call), hipSuccess);
  }
  static std::vector<int> fetch(const DeviceBuffer& memory, std::size_t count) {
    std::vector<int> found(count);
    EXPECT_EQ(hipMemcpy(found.data(), memory.get(), count * sizeof(int), hipMemcpyDeviceToHost), hipSuccess);
    return found;
  }
  static std::vector<int> numbers(std::size_t count, int first) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), first);
    return all;
  }

  LoadedModule module_;
  DeviceBuffer count_{sizeof(int)};
  std::atomic<int> launched_{0};
  TestStream stream_{hipStreamNonBlocking};

 private:
  void SetUp() override { begin(); }
};

TEST_F(FullStream, TheDeviceGetsWhatAHostFunctionWrites) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{5000}, kLarge}) {
    SCOPED_TRACE(count);
    PinnedBuffer pinned(count * sizeof(int));
    const DeviceBuffer memory(count * sizeof(int));
    std::fill_n(pinned.as<int>(), count, -1);
    std::function<void()> write = [&] {
      wait_until_full();
      std::iota(pinned.as<int>(), pinned.as<int>() + count, 7);
    };
    begin();
    on_host(stream_, write);
    HIP_OK(
        hipMemcpyAsync(memory.get(), pinned.as<int>(), count * sizeof(int), hipMemcpyHostToDevice, stream_));
    fill_and_finish(stream_);
    EXPECT_EQ(fetch(memory, count), numbers(count, 7));
  }
}

TEST_F(FullStream, TheDeviceGetsRowsThatAHostFunctionWrites) {
  constexpr std::size_t kWidth = 300;
  constexpr std::size_t kPitch = 512;
  constexpr std::size_t kRows = 3000;
  PinnedBuffer pinned(kRows * kPitch);
  const DeviceBuffer memory(kRows * kWidth);
  auto* const bytes = pinned.as<unsigned char>();
  std::fill_n(bytes, kRows * kPitch, 0xff);
  const auto value = [](std::size_t row, std::size_t column) {
    return static_cast<unsigned char>(row * 31 + column);
  };
  std::function<void()> write = [&] {
    wait_until_full();
    for (std::size_t row = 0; row < kRows; ++row)
      for (std::size_t column = 0; column < kWidth; ++column)
        bytes[row * kPitch + column] = value(row, column);
  };
  on_host(stream_, write);
  HIP_OK(
      hipMemcpy2DAsync(memory.get(), kWidth, bytes, kPitch, kWidth, kRows, hipMemcpyHostToDevice, stream_));
  fill_and_finish(stream_);
  std::vector<unsigned char> found(kRows * kWidth);
  HIP_OK(hipMemcpy(found.data(), memory.get(), found.size(), hipMemcpyDeviceToHost));
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < found.size(); ++at) wrong += found[at] != value(at / kWidth, at % kWidth);
  EXPECT_EQ(wrong, 0u);
}

// There and back through the same memory, without a function: the stream is held up at its beginning.
TEST_F(FullStream, TheDeviceGetsBackWhatItHasSent) {
  for (const std::size_t count : {std::size_t{100}, kLarge}) {
    SCOPED_TRACE(count);
    PinnedBuffer pinned(count * sizeof(int));
    const DeviceBuffer first(count * sizeof(int));
    const DeviceBuffer second(count * sizeof(int));
    HIP_OK(hipMemcpy(first.get(), numbers(count, 3).data(), count * sizeof(int), hipMemcpyHostToDevice));
    std::fill_n(pinned.as<int>(), count, -1);
    std::function<void()> hold = [&] { wait_until_full(); };
    begin();
    on_host(stream_, hold);
    HIP_OK(
        hipMemcpyAsync(pinned.as<int>(), first.get(), count * sizeof(int), hipMemcpyDeviceToHost, stream_));
    HIP_OK(
        hipMemcpyAsync(second.get(), pinned.as<int>(), count * sizeof(int), hipMemcpyHostToDevice, stream_));
    fill_and_finish(stream_);
    EXPECT_EQ(fetch(second, count), numbers(count, 3));
    EXPECT_EQ(pinned.as<int>()[count - 1], static_cast<int>(count) + 2);
  }
}

TEST_F(FullStream, AHostFunctionSeesWhatTheDeviceHasSent) {
  for (const std::size_t count : {std::size_t{100}, kLarge}) {
    SCOPED_TRACE(count);
    PinnedBuffer pinned(count * sizeof(int));
    const DeviceBuffer memory(count * sizeof(int));
    HIP_OK(hipMemcpy(memory.get(), numbers(count, 3).data(), count * sizeof(int), hipMemcpyHostToDevice));
    std::fill_n(pinned.as<int>(), count, -1);
    std::vector<int> seen;
    std::function<void()> hold = [&] { wait_until_full(); };
    std::function<void()> look = [&] { seen.assign(pinned.as<int>(), pinned.as<int>() + count); };
    begin();
    on_host(stream_, hold);
    HIP_OK(
        hipMemcpyAsync(pinned.as<int>(), memory.get(), count * sizeof(int), hipMemcpyDeviceToHost, stream_));
    on_host(stream_, look);
    fill_and_finish(stream_);
    EXPECT_EQ(seen, numbers(count, 3));
  }
}

// The same, and the copy is another stream's.
TEST_F(FullStream, AHostFunctionSeesWhatAnotherStreamHasSent) {
  constexpr std::size_t kCount = 100'000;
  PinnedBuffer pinned(kCount * sizeof(int));
  const DeviceBuffer memory(kCount * sizeof(int));
  HIP_OK(hipMemcpy(memory.get(), numbers(kCount, 3).data(), kCount * sizeof(int), hipMemcpyHostToDevice));
  std::fill_n(pinned.as<int>(), kCount, -1);
  const TestStream other(hipStreamNonBlocking);
  const TestEvent copied;
  std::vector<int> seen;
  std::function<void()> hold = [&] { wait_until_full(); };
  std::function<void()> look = [&] { seen.assign(pinned.as<int>(), pinned.as<int>() + kCount); };
  on_host(other, hold);
  HIP_OK(hipMemcpyAsync(pinned.as<int>(), memory.get(), kCount * sizeof(int), hipMemcpyDeviceToHost, other));
  HIP_OK(hipEventRecord(copied, other));
  HIP_OK(hipStreamWaitEvent(stream_, copied, 0));
  on_host(stream_, look);
  fill_and_finish(stream_);
  EXPECT_EQ(seen, numbers(kCount, 3));
}

// Payload of other copies is under way all the time, and may not come between.
TEST_F(FullStream, WhileAnotherThreadCopies) {
  constexpr std::size_t kCount = 200'000;
  constexpr int kRounds = 3;
  std::atomic<bool> done{false};
  std::thread copier([&] {
    const TestStream own(hipStreamNonBlocking);
    const DeviceBuffer memory(kCount * sizeof(int));
    std::vector<int> there(kCount);
    std::vector<int> back(kCount);
    for (int round = 0; !done; ++round) {
      std::fill(there.begin(), there.end(), round);
      for (int repeat = 0; repeat < 10; ++repeat)
        ASSERT_EQ(
            hipMemcpyAsync(memory.get(), there.data(), kCount * sizeof(int), hipMemcpyHostToDevice, own),
            hipSuccess);
      ASSERT_EQ(hipMemcpyAsync(back.data(), memory.get(), kCount * sizeof(int), hipMemcpyDeviceToHost, own),
                hipSuccess);
      ASSERT_EQ(back, there);
    }
  });
  PinnedBuffer pinned(kCount * sizeof(int));
  const DeviceBuffer memory(kCount * sizeof(int));
  for (int round = 0; round < kRounds; ++round) {
    std::function<void()> write = [&] {
      wait_until_full();
      std::iota(pinned.as<int>(), pinned.as<int>() + kCount, round);
    };
    begin();
    on_host(stream_, write);
    HIP_OK(
        hipMemcpyAsync(memory.get(), pinned.as<int>(), kCount * sizeof(int), hipMemcpyHostToDevice, stream_));
    fill_and_finish(stream_);
    EXPECT_EQ(fetch(memory, kCount), numbers(kCount, round));
  }
  done = true;
  copier.join();
}

}  // namespace
}  // namespace tf::api_test
