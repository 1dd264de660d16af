// SPDX-License-Identifier: Apache-2.0
// Several threads at once: devices are per thread, everything else is shared.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 50;

template <typename Body>
void on_threads(Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(Thread, EachHasItsDevice) {
  if (device_count() < 2) GTEST_SKIP() << "one device";
  HIP_OK(hipSetDevice(1));
  int seen = -1;
  std::thread other([&] { EXPECT_EQ(hipGetDevice(&seen), hipSuccess); });
  other.join();
  EXPECT_EQ(seen, 0);
  HIP_OK(hipSetDevice(0));
}

TEST(Thread, OwnStreamsAndMemory) {
  std::atomic<int> failures{0};
  on_threads([&](int number) {
    for (int round = 0; round < kRounds; ++round) {
      void* device = nullptr;
      hipStream_t stream = nullptr;
      std::vector<unsigned char> back(10000);
      const int value = number * kRounds + round;
      bool good = hipMalloc(&device, back.size()) == hipSuccess;
      good = good && hipStreamCreate(&stream) == hipSuccess;
      good = good && hipMemsetAsync(device, value, back.size(), stream) == hipSuccess;
      good = good &&
             hipMemcpyAsync(back.data(), device, back.size(), hipMemcpyDeviceToHost, stream) == hipSuccess;
      good = good && hipStreamSynchronize(stream) == hipSuccess;
      good = good && back == std::vector<unsigned char>(back.size(), static_cast<unsigned char>(value));
      good = good && hipStreamDestroy(stream) == hipSuccess;
      good = good && hipFree(device) == hipSuccess;
      if (!good) failures.fetch_add(1, std::memory_order_relaxed);
    }
  });
  EXPECT_EQ(failures.load(std::memory_order_relaxed), 0);
}

// Copies that the caller makes itself, fills behind them, and one event recorded by all.
TEST(Thread, CallersAndTheStreamTakeTurns) {
  constexpr std::size_t kBytes = 256 << 10;
  TestStream stream(hipStreamNonBlocking);
  TestEvent event;
  PinnedBuffer host(kBytes);
  DeviceBuffer device(kThreads * kBytes);
  std::atomic<int> failures{0};
  on_threads([&](int number) {
    std::byte* const mine = device.at(static_cast<std::size_t>(number) * kBytes);
    for (int round = 0; round < kRounds; ++round) {
      bool good = hipMemcpyAsync(mine, host.as<void>(), kBytes, hipMemcpyHostToDevice, stream) == hipSuccess;
      good = good && hipMemsetAsync(mine, round, 64, stream) == hipSuccess;
      good = good && hipEventRecord(event, stream) == hipSuccess;
      good = good && hipMemsetAsync(mine + 64, round, kBytes - 64, stream) == hipSuccess;
      good = good && hipEventSynchronize(event) == hipSuccess;
      unsigned char back[2] = {};
      good = good && hipStreamSynchronize(stream) == hipSuccess;
      good = good && hipMemcpy(&back[0], mine, 1, hipMemcpyDeviceToHost) == hipSuccess;
      good = good && hipMemcpy(&back[1], mine + kBytes - 1, 1, hipMemcpyDeviceToHost) == hipSuccess;
      if (!good || back[0] != round || back[1] != round) failures.fetch_add(1, std::memory_order_relaxed);
    }
  });
  EXPECT_EQ(failures.load(std::memory_order_relaxed), 0);
  float milliseconds = -1;
  HIP_OK(hipEventElapsedTime(&milliseconds, event, event));
  EXPECT_FLOAT_EQ(milliseconds, 0.0f);
}

TEST(Thread, OneStreamForAll) {
  TestStream stream(hipStreamNonBlocking);
  DeviceBuffer device(kThreads * 1024);
  std::atomic<int> failures{0};
  on_threads([&](int number) {
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t offset = static_cast<std::size_t>(number) * 1024;
      bool good = hipMemsetAsync(device.at(offset), number * 40 + round % 40, 1024, stream) == hipSuccess;
      good = good && hipStreamSynchronize(stream) == hipSuccess;
      if (!good) failures.fetch_add(1, std::memory_order_relaxed);
    }
  });
  EXPECT_EQ(failures.load(std::memory_order_relaxed), 0);
  std::vector<unsigned char> back(kThreads * 1024);
  HIP_OK(hipMemcpy(back.data(), device.get(), back.size(), hipMemcpyDeviceToHost));
  for (std::size_t i = 0; i < back.size(); ++i)
    ASSERT_EQ(back[i], static_cast<unsigned char>(i / 1024 * 40 + (kRounds - 1) % 40));
}

TEST(Thread, DefaultStreamAndBlockingStreams) {
  std::atomic<int> failures{0};
  on_threads([&](int number) {
    DeviceBuffer device(4096);
    hipStream_t stream = nullptr;
    if (hipStreamCreate(&stream) != hipSuccess) failures.fetch_add(1, std::memory_order_relaxed);
    for (int round = 0; round < kRounds; ++round) {
      bool good = hipMemsetAsync(device.get(), number, 4096, stream) == hipSuccess;
      good = good && hipMemsetAsync(device.get(), number + round, 4096, nullptr) == hipSuccess;
      unsigned char back = 0;
      good = good && hipMemcpyAsync(&back, device.get(), 1, hipMemcpyDeviceToHost, stream) == hipSuccess;
      good = good && hipStreamSynchronize(stream) == hipSuccess && back == number + round;
      if (!good) failures.fetch_add(1, std::memory_order_relaxed);
    }
    if (hipStreamDestroy(stream) != hipSuccess) failures.fetch_add(1, std::memory_order_relaxed);
  });
  EXPECT_EQ(failures.load(std::memory_order_relaxed), 0);
}

TEST(Thread, EventsAcrossThreads) {
  TestStream stream(hipStreamNonBlocking);
  TestEvent event;
  Gate gate;
  gate.close(stream);
  HIP_OK(hipEventRecord(event, stream));
  std::atomic<bool> woken{false};
  std::thread waiter([&] {
    EXPECT_EQ(hipEventSynchronize(event), hipSuccess);
    woken.store(true, std::memory_order_release);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(woken.load(std::memory_order_acquire));
  gate.open();
  waiter.join();
  EXPECT_TRUE(woken.load(std::memory_order_acquire));
}

// Neither the threads nor the session are there; a call that waits for them would hang.
TEST(Fork, TheChildOfAProcessThatUsesHipGetsErrors) {
  const DeviceBuffer memory(4096);
  HIP_OK(hipDeviceSynchronize());
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    int wrong = 0;
    void* more = nullptr;
    const auto expect = [&wrong](hipError_t error) { wrong += error != hipErrorNotInitialized; };
    expect(hipMalloc(&more, 4096));
    expect(hipMemset(memory.get(), 1, 4096));
    expect(hipMemcpy(memory.get(), &wrong, sizeof wrong, hipMemcpyHostToDevice));
    expect(hipStreamSynchronize(nullptr));
    expect(hipStreamSynchronize(hipStreamPerThread));
    expect(hipDeviceSynchronize());
    expect(hipFree(memory.get()));
    ::_exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  HIP_OK(hipMemset(memory.get(), 1, 4096));  // the parent goes on
  HIP_OK(hipDeviceSynchronize());
}

}  // namespace
}  // namespace tf::api_test
