// SPDX-License-Identifier: Apache-2.0
// Streams one by one: creation, waiting, callbacks.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "tests/api/hip_test.h"

extern "C" hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);  // HIP 5.6

namespace tf::api_test {
namespace {

TEST(Stream, CreateAndAsk) {
  hipStream_t stream = nullptr;
  HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  unsigned flags = 77;
  HIP_OK(hipStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(hipStreamNonBlocking));
  EXPECT_EQ(hipStreamGetFlags(stream, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamGetFlags(nullptr, &flags), hipErrorInvalidValue) << "AMD's has none of the null stream";
  HIP_OK(hipStreamQuery(stream));
  HIP_OK(hipStreamSynchronize(stream));
  HIP_OK(hipStreamDestroy(stream));
  int least = 0;
  int greatest = 0;
  HIP_OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_GE(least, greatest);
  HIP_OK(hipStreamCreateWithPriority(&stream, hipStreamDefault, greatest));
  int priority = 77;
  HIP_OK(hipStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, greatest);
  HIP_OK(hipStreamDestroy(stream));
}

TEST(Stream, KnowsItsDevice) {
  hipDevice_t device = -1;
  for (int current = device_count(); --current >= 0;) {
    HIP_OK(hipSetDevice(current));
    TestStream own;
    for (const hipStream_t stream : {hipStream_t{}, hipStreamPerThread, hipStream_t{own}}) {
      HIP_OK(hipStreamGetDevice(stream, &device));
      EXPECT_EQ(device, current);
    }
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipStreamGetDevice(own, &device));
    EXPECT_EQ(device, current);
  }
  device = -1;
  hipStream_t gone = nullptr;
  HIP_OK(hipStreamCreate(&gone));
  HIP_OK(hipStreamDestroy(gone));
  EXPECT_EQ(hipStreamGetDevice(gone, &device), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipStreamGetDevice(reinterpret_cast<hipStream_t>(0x7777), &device), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipStreamGetDevice(nullptr, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(device, -1);
}

TEST(Stream, BadArgumentsAreRefused) {
  hipStream_t stream = nullptr;
  EXPECT_EQ(hipStreamCreate(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamCreateWithFlags(&stream, 0x40), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamDestroy(nullptr), hipErrorInvalidHandle);
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipStreamDestroy(stream));
  EXPECT_NE(hipStreamSynchronize(stream), hipSuccess) << "used after its end";
  EXPECT_NE(hipStreamDestroy(stream), hipSuccess) << "destroyed twice";
}

TEST(Stream, QueryTellsBusyFromIdle) {
  TestStream stream;
  Gate gate;
  gate.close(stream);
  EXPECT_EQ(hipStreamQuery(stream), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(stream));
  HIP_OK(hipStreamQuery(stream));
}

TEST(Stream, CommandsReturnWhileTheStreamIsBusy) {
  TestStream stream;
  DeviceBuffer device(1 << 20);
  PinnedBuffer host(1 << 20);
  Gate gate;
  gate.close(stream);
  for (int i = 0; i < 100; ++i) HIP_OK(hipMemsetAsync(device.get(), i, 1 << 20, stream));
  HIP_OK(hipMemcpyAsync(host.as<void>(), device.get(), 1 << 20, hipMemcpyDeviceToHost, stream));
  EXPECT_EQ(hipStreamQuery(stream), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(host.as<unsigned char>()[12345], 99);
}

// The words of hipExtStreamGetCUMask that have bits of units; what lies behind them stays as it was.
std::vector<std::uint32_t> mask_of(hipStream_t stream, std::size_t words) {
  std::vector<std::uint32_t> mask(words + 2, 0x5a5a5a5au);
  EXPECT_EQ(hipExtStreamGetCUMask(stream, static_cast<std::uint32_t>(mask.size()), mask.data()), hipSuccess);
  EXPECT_EQ(mask[words], 0x5a5a5a5au);
  EXPECT_EQ(mask[words + 1], 0x5a5a5a5au);
  mask.resize(words);
  return mask;
}

std::vector<std::uint32_t> mask_after_wish(const std::vector<std::uint32_t>& wish, std::size_t words) {
  hipStream_t stream = nullptr;
  EXPECT_EQ(hipExtStreamCreateWithCUMask(&stream, static_cast<std::uint32_t>(wish.size()), wish.data()),
            hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
  std::vector<std::uint32_t> mask = mask_of(stream, words);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  return mask;
}

TEST(Stream, KeepsItsMaskOfComputeUnits) {
  hipDeviceProp_t properties{};
  HIP_OK(hipGetDeviceProperties(&properties, 0));
  const auto units = static_cast<std::uint32_t>(properties.multiProcessorCount);
  std::vector<std::uint32_t> all((units + 31) / 32, ~0u);
  if (units % 32 != 0) all.back() = (1u << units % 32) - 1;
  const std::size_t words = all.size();
  TestStream plain;
  for (const hipStream_t stream : {hipStream_t{nullptr}, hipStreamPerThread, hipStream_t{plain}})
    EXPECT_EQ(mask_of(stream, words), all) << "made without a mask";

  std::vector<std::uint32_t> last(words, 0);
  last.back() = 1u << (units - 1) % 32;
  EXPECT_EQ(mask_after_wish(last, words), last);
  std::vector<std::uint32_t> longer = last;
  longer.insert(longer.end(), 3, ~0u);
  EXPECT_EQ(mask_after_wish(longer, words), last) << "more than there are units";
  EXPECT_EQ(mask_after_wish(std::vector<std::uint32_t>(words, 0), words), all) << "no unit is every unit";
  if (units % 32 != 0) {
    last.back() |= 1u << 31;
    std::vector<std::uint32_t> real = last;
    real.back() &= all.back();
    EXPECT_EQ(mask_after_wish(last, words), real) << "a unit that there is not";
  }
}

TEST(Stream, BadMasksAreRefused) {
  std::uint32_t mask = 1;
  hipStream_t stream = nullptr;
  EXPECT_EQ(hipExtStreamCreateWithCUMask(nullptr, 1, &mask), hipErrorInvalidValue);
  EXPECT_EQ(hipExtStreamCreateWithCUMask(&stream, 0, &mask), hipErrorInvalidValue);
  EXPECT_EQ(hipExtStreamCreateWithCUMask(&stream, 1, nullptr), hipErrorInvalidValue);
  HIP_OK(hipExtStreamCreateWithCUMask(&stream, 1, &mask));
  EXPECT_EQ(hipExtStreamGetCUMask(stream, 0, &mask), hipErrorInvalidValue)
      << "fewer words than the device needs";
  EXPECT_EQ(hipExtStreamGetCUMask(stream, 64, nullptr), hipErrorInvalidValue);
  HIP_OK(hipStreamDestroy(stream));
  std::vector<std::uint32_t> room(64);
  EXPECT_EQ(hipExtStreamGetCUMask(stream, 64, room.data()), hipErrorContextIsDestroyed)
      << "used after its end";
}

struct Order {
  std::atomic<int> next{0};
  std::vector<int> seen = std::vector<int>(50, -1);
};
struct OrderEntry {
  Order* order;
  int number;
};

TEST(Stream, CallbacksRunInOrder) {
  TestStream stream;
  Order order;
  std::vector<OrderEntry> entries;
  for (int i = 0; i < 50; ++i) entries.push_back({&order, i});
  const auto note = [](hipStream_t, hipError_t status, void* data) {
    const auto* const entry = static_cast<OrderEntry*>(data);
    const int position = entry->order->next.fetch_add(1, std::memory_order_relaxed);
    entry->order->seen[static_cast<std::size_t>(position)] = status == hipSuccess ? entry->number : -2;
  };
  for (OrderEntry& entry : entries) HIP_OK(hipStreamAddCallback(stream, note, &entry, 0));
  HIP_OK(hipStreamSynchronize(stream));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order.seen[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(hipStreamAddCallback(stream, nullptr, nullptr, 0), hipErrorInvalidValue);
}

// A program may have one stream's host function wait for another stream's, or for its copy.
TEST(Stream, HostFunctionsDoNotHoldUpOtherStreams) {
  if (!runs_host_functions_at_once()) GTEST_SKIP() << "the driver calls host functions one at a time";
  TestStream held;
  TestStream other;
  DeviceBuffer device(4096);
  PinnedBuffer host(4096);
  host.as<unsigned char>()[0] = 0;
  Gate gate;
  gate.close(held);
  HIP_OK(hipMemsetAsync(device.get(), 42, 4096, other));
  HIP_OK(hipMemcpyAsync(host.as<void>(), device.get(), 4096, hipMemcpyDeviceToHost, other));
  const auto open = [](void* closed) { static_cast<Gate*>(closed)->open(); };
  HIP_OK(hipLaunchHostFunc(other, open, &gate));
  HIP_OK(hipStreamSynchronize(held));
  EXPECT_EQ(host.as<unsigned char>()[0], 42);
}

// More than the library has threads for.
TEST(Stream, ManyHostFunctionsAreHeldAtOnce) {
  // Seen with driver 580: the calls do not return.
  if (is_bare_nvidia()) GTEST_SKIP() << "NVIDIA's driver does not take as many host functions that wait";
  constexpr std::size_t kStreams = 80;
  std::vector<hipStream_t> streams(kStreams);
  Gate gate;
  std::atomic<int> run{0};
  for (hipStream_t& stream : streams) {
    HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    gate.close(stream);
  }
  const auto count = [](void* calls) { ++*static_cast<std::atomic<int>*>(calls); };
  for (hipStream_t stream : streams) HIP_OK(hipLaunchHostFunc(stream, count, &run));
  gate.open();
  for (hipStream_t stream : streams) {
    HIP_OK(hipStreamSynchronize(stream));
    HIP_OK(hipStreamDestroy(stream));
  }
  EXPECT_EQ(run.load(), static_cast<int>(kStreams));
}

TEST(Stream, DestroyedWhileBusyStillFinishes) {
  PinnedBuffer host(4096);
  DeviceBuffer device(4096);
  host.as<unsigned char>()[0] = 0;
  Gate gate;
  hipStream_t stream = nullptr;
  HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  gate.close(stream);
  HIP_OK(hipMemsetAsync(device.get(), 42, 4096, stream));
  HIP_OK(hipMemcpyAsync(host.as<void>(), device.get(), 4096, hipMemcpyDeviceToHost, stream));
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  HIP_OK(hipStreamDestroy(stream));
  HIP_OK(hipDeviceSynchronize());  // as a rule before the gate opens
  opener.join();
  EXPECT_EQ(host.as<unsigned char>()[0], 42);
}

TEST(Stream, ManyStreams) {
  constexpr std::size_t kStreams = 64;
  std::vector<hipStream_t> streams(kStreams);
  DeviceBuffer device(kStreams * 256);
  for (std::size_t i = 0; i < kStreams; ++i) {
    HIP_OK(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
    HIP_OK(hipMemsetAsync(device.at(i * 256), static_cast<int>(i), 256, streams[i]));
  }
  HIP_OK(hipDeviceSynchronize());
  std::vector<unsigned char> back(kStreams * 256);
  HIP_OK(hipMemcpy(back.data(), device.get(), back.size(), hipMemcpyDeviceToHost));
  for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], i / 256);
  for (hipStream_t stream : streams) HIP_OK(hipStreamDestroy(stream));
}

}  // namespace
}  // namespace tf::api_test
