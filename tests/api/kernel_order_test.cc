// SPDX-License-Identifier: Apache-2.0
// Kernels, copies, callbacks and events in the order of their streams, from one thread and from several.
#include <atomic>
#include <thread>

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"
#include "tests/api/module_fixture.h"

namespace tf::api_test {
namespace {

constexpr int kOrderCount = 5000;
constexpr std::size_t kOrderBytes = kOrderCount * sizeof(int);

void increment(const LoadedModule& module, void* data, hipStream_t stream) {
  int n = kOrderCount;
  void* arguments[] = {&data, &n};
  ASSERT_EQ(hipModuleLaunchKernel(module.function("increment"), (kOrderCount + 127) / 128, 1, 1, 128, 1, 1, 0,
                                  stream, arguments, nullptr),
            hipSuccess);
}

TEST(KernelOrder, ChainOnOneStream) {
  LoadedModule module;
  TestStream stream;
  DeviceBuffer device(kOrderBytes);
  launch_fill(device.get<int>(), 0, kOrderCount, stream);
  for (int i = 0; i < 50; ++i) increment(module, device.get(), stream);
  std::vector<int> back(kOrderCount);
  HIP_OK(hipMemcpyAsync(back.data(), device.get(), kOrderBytes, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(back, counting_ints(kOrderCount, 50));
}

// More than a runtime may keep waiting, behind a kernel that takes its time.
TEST(KernelOrder, MoreThanAQueueHolds) {
  constexpr int kLaunches = 70'000;
  LoadedModule module;
  TestStream stream;
  DeviceBuffer device(2 * sizeof(int));
  HIP_OK(hipMemset(device.get(), 0, 2 * sizeof(int)));
  void* busy = device.at(sizeof(int));
  int value = 1;
  int rounds = 50'000'000;
  void* slow[] = {&busy, &value, &rounds};
  HIP_OK(hipModuleLaunchKernel(module.function("slow"), 1, 1, 1, 1, 1, 1, 0, stream, slow, nullptr));
  void* counter = device.get();
  int one = 1;
  void* arguments[] = {&counter, &one};
  const hipFunction_t function = module.function("increment");
  for (int i = 0; i < kLaunches; ++i)
    HIP_OK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(device.get(), 1)[0], kLaunches);
}

// Every thread of these blocks waits for the others, in more streams than can have stacks for all of them.
TEST(KernelOrder, ManyStreamsWithBarriersInFullBlocks) {
  constexpr unsigned kStreams = 64, kThreads = 1024;
  constexpr int kTurns = 5;
  LoadedModule module;
  const hipFunction_t reverse = module.function("reverse_shared");
  DeviceBuffer device(kStreams * kThreads * sizeof(int));
  const auto values = counting_ints(kStreams * kThreads, 0);
  HIP_OK(hipMemcpy(device.get(), values.data(), values.size() * sizeof(int), hipMemcpyHostToDevice));
  std::vector<TestStream> streams(kStreams);
  for (int turn = 0; turn < kTurns; ++turn) {
    for (unsigned s = 0; s < kStreams; ++s) {
      void* part = device.get<int>() + s * kThreads;
      void* arguments[] = {&part};
      HIP_OK(hipModuleLaunchKernel(reverse, 1, 1, 1, kThreads, 1, 1, kThreads * sizeof(int), streams[s],
                                   arguments, nullptr));
    }
  }
  for (const TestStream& stream : streams) HIP_OK(hipStreamSynchronize(stream));
  const auto back = read_ints(device.get(), values.size());
  for (unsigned i = 0; i < back.size(); ++i) {
    const unsigned t = i % kThreads;
    ASSERT_EQ(back[i], static_cast<int>(i - t + kThreads - 1 - t)) << i;
  }
}

TEST(KernelOrder, EventsBetweenStreams) {
  LoadedModule module;
  TestStream first(hipStreamNonBlocking);
  TestStream second(hipStreamNonBlocking);
  TestEvent filled;
  TestEvent incremented;
  DeviceBuffer device(kOrderBytes);
  // NVIDIA's driver loads code when it is used first, and then waits for the gate.
  launch_fill(device.get<int>(), 0, kOrderCount, first);
  increment(module, device.get(), first);
  for (int round = 0; round < 10; ++round) {
    Gate gate;
    gate.close(first);
    launch_fill(device.get<int>(), round, kOrderCount, first);
    HIP_OK(hipEventRecord(filled, first));
    HIP_OK(hipStreamWaitEvent(second, filled, 0));
    increment(module, device.get(), second);
    HIP_OK(hipEventRecord(incremented, second));
    EXPECT_EQ(hipEventQuery(incremented), hipErrorNotReady);
    gate.open();
    HIP_OK(hipEventSynchronize(incremented));
    EXPECT_EQ(read_ints(device.get(), kOrderCount), counting_ints(kOrderCount, round + 1));
  }
}

TEST(KernelOrder, NullStreamWaitsForBlockingStreams) {
  LoadedModule module;
  TestStream stream;
  DeviceBuffer device(kOrderBytes);
  launch_fill(device.get<int>(), 10, kOrderCount, stream);
  increment(module, device.get(), nullptr);
  increment(module, device.get(), stream);
  increment(module, device.get(), nullptr);
  EXPECT_EQ(read_ints(device.get(), kOrderCount), counting_ints(kOrderCount, 13));
}

struct Seen {
  std::atomic<int> calls{0};
  std::atomic<int> status{-1};
  std::atomic<hipStream_t> stream{nullptr};
  std::vector<int> values;
};

TEST(KernelOrder, CallbackAfterCopyAndKernel) {
  TestStream stream;
  DeviceBuffer device(kOrderBytes);
  PinnedBuffer host(kOrderBytes);
  struct Check {
    Seen seen;
    const int* values;
  } check;
  check.values = host.as<int>();
  launch_fill(device.get<int>(), 21, kOrderCount, stream);
  HIP_OK(hipMemcpyAsync(host.as<int>(), device.get(), kOrderBytes, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipStreamAddCallback(
      stream,
      [](hipStream_t where, hipError_t status, void* data) {
        auto* const mine = static_cast<Check*>(data);
        mine->seen.stream.store(where);
        mine->seen.status.store(status);
        mine->seen.values.assign(mine->values, mine->values + kOrderCount);
        mine->seen.calls.fetch_add(1);
      },
      &check, 0));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(check.seen.calls.load(), 1);
  EXPECT_EQ(check.seen.status.load(), hipSuccess);
  EXPECT_EQ(check.seen.stream.load(), stream);
  EXPECT_EQ(check.seen.values, counting_ints(kOrderCount, 21));
}

TEST(KernelOrder, HostFunctionsHoldTheStream) {
  TestStream stream;
  std::vector<int> order;
  struct Step {
    std::vector<int>* order;
    int number;
  };
  Step steps[20];
  for (int i = 0; i < 20; ++i) {
    steps[i] = {&order, i};
    HIP_OK(hipLaunchHostFunc(
        stream,
        [](void* data) {
          auto* const step = static_cast<Step*>(data);
          step->order->push_back(step->number);
        },
        &steps[i]));
  }
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(order, counting_ints(20, 0));
  EXPECT_EQ(hipLaunchHostFunc(stream, nullptr, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamAddCallback(stream, nullptr, nullptr, 0), hipErrorInvalidValue);
}

// --- several threads ------------------------------------------------------------------------------------

constexpr int kThreads = 4;
constexpr int kRounds = 25;

template <typename Body>
void on_threads(Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

bool round_trip(const LoadedModule& module, int* device, int first, hipStream_t stream) {
  const std::vector<int> values = counting_ints(kOrderCount, first);
  std::vector<int> back(kOrderCount);
  void* data = device;
  int n = kOrderCount;
  void* arguments[] = {&data, &n};
  bool good = hipMemcpyAsync(device, values.data(), kOrderBytes, hipMemcpyHostToDevice, stream) == hipSuccess;
  good = good && hipModuleLaunchKernel(module.function("increment"), 40, 1, 1, 128, 1, 1, 0, stream,
                                       arguments, nullptr) == hipSuccess;
  good =
      good && hipMemcpyAsync(back.data(), device, kOrderBytes, hipMemcpyDeviceToHost, stream) == hipSuccess;
  good = good && hipStreamSynchronize(stream) == hipSuccess;
  return good && back == counting_ints(kOrderCount, first + 1);
}

TEST(KernelThread, KernelsAndCopiesOnOwnStreams) {
  LoadedModule module;
  std::atomic<int> failures{0};
  on_threads([&](int number) {
    DeviceBuffer device(kOrderBytes);
    TestStream stream;
    for (int round = 0; round < kRounds; ++round) {
      if (!round_trip(module, device.get<int>(), number * 1000 + round, stream)) failures.fetch_add(1);
    }
  });
  EXPECT_EQ(failures.load(), 0);
}

TEST(KernelThread, ModulesComeAndGo) {
  std::atomic<int> failures{0};
  on_threads([&](int number) {
    for (int round = 0; round < 8; ++round) {
      LoadedModule module;
      DeviceBuffer device(kOrderBytes);
      TestStream stream;
      if (!round_trip(module, device.get<int>(), number * 1000 + round, stream)) failures.fetch_add(1);
    }
  });
  EXPECT_EQ(failures.load(), 0);
}

TEST(KernelThread, FirstUseOfTheProgramsKernels) {
  std::atomic<int> failures{0};
  on_threads([&](int number) {
    DeviceBuffer device(kOrderBytes);
    TestStream stream;
    std::vector<int> back(kOrderCount);
    for (int round = 0; round < kRounds; ++round) {
      launch_fill(device.get<int>(), number + round, kOrderCount, stream);
      bool good =
          hipMemcpyAsync(back.data(), device.get(), kOrderBytes, hipMemcpyDeviceToHost, stream) == hipSuccess;
      good = good && hipStreamSynchronize(stream) == hipSuccess &&
             back == counting_ints(kOrderCount, number + round);
      if (!good) failures.fetch_add(1);
    }
  });
  EXPECT_EQ(failures.load(), 0);
}

// Streams and events are destroyed and made on all threads at once: no handle may come to life twice.
TEST(KernelThread, HandlesAreReused) {
  std::atomic<int> failures{0};
  on_threads([&](int) {
    for (int round = 0; round < 300; ++round) {
      hipStream_t stream = nullptr;
      hipEvent_t event = nullptr;
      bool good = hipStreamCreate(&stream) == hipSuccess && hipEventCreate(&event) == hipSuccess;
      good = good && hipEventRecord(event, stream) == hipSuccess;
      good = good && hipEventSynchronize(event) == hipSuccess;
      good = good && hipEventDestroy(event) == hipSuccess && hipStreamDestroy(stream) == hipSuccess;
      if (!good) failures.fetch_add(1);
    }
  });
  EXPECT_EQ(failures.load(), 0);
  HIP_OK(hipDeviceSynchronize());
}

}  // namespace
}  // namespace tf::api_test
