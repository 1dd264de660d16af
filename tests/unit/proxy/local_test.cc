// SPDX-License-Identifier: Apache-2.0
// The calls of the API that need no message, over a session with the fake worker, as the exported stubs reach
// them.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "proxy/base/thread_state.h"
#include "proxy/client/process.h"
#include "proxy/gen/custom.h"
#include "proxy/gen/local.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"

namespace tf::proxy {
namespace {

constexpr std::uint64_t kLocalMemoryBytes = 256ull << 20;

class LocalTest : public ::testing::Test {
 protected:
  LocalTest() {
    auto [client, server] = make_loopback_pair();
    worker_ = std::make_unique<FakeWorker>(std::move(server), kLocalMemoryBytes);
    Connected parts;
    parts.endpoint = std::move(client);
    parts.snapshot = fake_snapshot(kLocalMemoryBytes);
    parts.snapshot.devices[0].properties.name = "fake";
    parts.snapshot.devices[0].attributes = {{hipDeviceAttributeWarpSize, 0, 64},
                                            {9, hipErrorInvalidValue, 0}};
    client_ = std::make_unique<Client>(std::move(parts));
    use_client(client_.get());
    thread_state() = ThreadState{};
  }
  ~LocalTest() override { use_client(nullptr); }

  std::unique_ptr<FakeWorker> worker_;
  std::unique_ptr<Client> client_;
  ApiCall call_;
};

TEST_F(LocalTest, LastErrorOfHip5IsSetByEveryCall) {
  EXPECT_EQ(local::hipSetDevice(7), hipErrorInvalidDevice);
  EXPECT_EQ(local::hipPeekAtLastError(), hipErrorInvalidDevice);
  std::thread other([] { EXPECT_EQ(local::hipPeekAtLastError(), hipSuccess) << "errors are per thread"; });
  other.join();
  EXPECT_EQ(local::hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(local::hipGetLastError(), hipSuccess);
  EXPECT_EQ(local::hipSetDevice(7), hipErrorInvalidDevice);
  EXPECT_EQ(local::hipSetDevice(0), hipSuccess);
  EXPECT_EQ(local::hipPeekAtLastError(), hipSuccess) << "success overwrites, up to HIP 6";
}

TEST_F(LocalTest, DeviceAnswersComeWithoutRoundTrips) {
  hipDeviceProp_t properties{};
  int value = 0;
  int count = 0;
  ASSERT_EQ(local::hipGetDeviceCount(&count), hipSuccess);
  EXPECT_EQ(count, 1);
  ASSERT_EQ(local::hipGetDeviceProperties(&properties, 0), hipSuccess);
  EXPECT_STREQ(properties.name, "fake");
  EXPECT_STREQ(properties.gcnArchName, "x86_64-cpu");
  EXPECT_EQ(properties.maxThreadsDim[2], 1024);
  EXPECT_EQ(local::hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0), hipSuccess);
  EXPECT_EQ(value, 64);
  EXPECT_EQ(local::hipDeviceGetAttribute(&value, hipDeviceAttributeMaxPitch, 0), hipErrorInvalidValue);
  EXPECT_EQ(local::hipGetDeviceProperties(&properties, 1), hipErrorInvalidDevice);
  EXPECT_EQ(local::hipGetDeviceProperties(nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(worker_->calls, 0);
}

TEST_F(LocalTest, PointersAreKnownForWhatTheyAre) {
  void* device = nullptr;
  void* host = nullptr;
  ASSERT_EQ(custom::hipMalloc(call_, &device, 1000), hipSuccess);
  ASSERT_EQ(local::hipHostMalloc(&host, 5000, hipHostMallocDefault), hipSuccess);
  hipPointerAttribute_t attributes{};
  ASSERT_EQ(local::hipPointerGetAttributes(&attributes, static_cast<char*>(device) + 999), hipSuccess);
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.devicePointer, static_cast<char*>(device) + 999);
  EXPECT_EQ(local::hipPointerGetAttributes(&attributes, static_cast<char*>(device) + 1000),
            hipErrorInvalidValue);
  ASSERT_EQ(local::hipPointerGetAttributes(&attributes, host), hipSuccess);
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeHost);
  int on_stack = 0;
  EXPECT_EQ(local::hipPointerGetAttributes(&attributes, &on_stack), hipErrorInvalidValue);
  hipDeviceptr_t base = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(local::hipMemGetAddressRange(&base, &bytes, static_cast<char*>(device) + 10), hipSuccess);
  EXPECT_EQ(base, device);
  EXPECT_EQ(bytes, 1000u);
  void* mapped = nullptr;
  EXPECT_EQ(local::hipHostGetDevicePointer(&mapped, host, 0), hipErrorNotSupported);
  EXPECT_EQ(custom::hipHostFree(call_, host), hipSuccess);
  EXPECT_EQ(custom::hipHostFree(call_, host), hipErrorInvalidValue);
  EXPECT_EQ(custom::hipFree(call_, static_cast<char*>(device) + 1), hipErrorInvalidValue);
  EXPECT_EQ(custom::hipFree(call_, device), hipSuccess);
  EXPECT_EQ(custom::hipFree(call_, device), hipErrorInvalidValue);
}

TEST_F(LocalTest, MemGetInfoFollowsAllocations) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  void* device = nullptr;
  ASSERT_EQ(custom::hipMemGetInfo(call_, &before, &total), hipSuccess);
  EXPECT_EQ(before, total);
  ASSERT_EQ(custom::hipMalloc(call_, &device, 1 << 20), hipSuccess);
  ASSERT_EQ(custom::hipMemGetInfo(call_, &after, &total), hipSuccess);
  EXPECT_EQ(before - after, 1u << 20) << "leases are not allocations";
  EXPECT_EQ(custom::hipMalloc(call_, &device, kLocalMemoryBytes), hipErrorOutOfMemory);
}

TEST_F(LocalTest, CallConfigurationIsAStack) {
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  hipStream_t stream = nullptr;
  EXPECT_EQ(local::__hipPopCallConfiguration(&grid, &block, &shared, &stream), hipErrorMissingConfiguration);
  ASSERT_EQ(local::__hipPushCallConfiguration(dim3(1), dim3(2), 3, nullptr), hipSuccess);
  ASSERT_EQ(local::__hipPushCallConfiguration(dim3(4), dim3(5), 6, nullptr), hipSuccess);
  ASSERT_EQ(local::__hipPopCallConfiguration(&grid, &block, &shared, &stream), hipSuccess);
  EXPECT_EQ(grid.x, 4u);
  ASSERT_EQ(local::__hipPopCallConfiguration(&grid, &block, &shared, &stream), hipSuccess);
  EXPECT_EQ(shared, 3u);
}

TEST_F(LocalTest, UnknownHandlesAreRefusedHere) {
  auto nonsense = reinterpret_cast<hipStream_t>(0x1234567890ull);
  EXPECT_EQ(custom::hipStreamSynchronize(call_, nonsense), hipErrorContextIsDestroyed);
  EXPECT_EQ(custom::hipEventQuery(call_, reinterpret_cast<hipEvent_t>(nonsense)), hipErrorInvalidHandle);
  EXPECT_EQ(custom::hipModuleUnload(call_, reinterpret_cast<hipModule_t>(nonsense)), hipErrorInvalidValue);
  EXPECT_EQ(worker_->calls, 0);
}

// The connection may be lost between any two steps of a call: here it comes and goes.
TEST_F(LocalTest, ALostWorkerIsAnErrorAtAnyMoment) {
  void* device = nullptr;
  void* value = nullptr;
  std::uint64_t raw = 0;
  ASSERT_EQ(custom::hipMalloc(call_, &device, 1000), hipSuccess);
  ASSERT_TRUE(call_.create(protocol::HandleKind::kStream, raw, value));
  const auto stream = static_cast<hipStream_t>(value);
  std::atomic<bool> over{false};
  std::thread loser([&] {
    while (!over.load()) {
      internal::connected_client.store(nullptr);
      internal::connected_client.store(client_.get());
    }
  });
  for (int call = 0; call < 100'000; ++call) {
    const hipError_t attached = local::hipStreamAttachMemAsync(stream, device, 0, hipMemAttachGlobal);
    ASSERT_TRUE(attached == hipSuccess || attached == kLostError) << attached;
    int which = -1;
    const hipError_t found = local::hipStreamGetDevice(stream, &which);
    ASSERT_TRUE(found == kLostError || (found == hipSuccess && which == 0)) << found << ' ' << which;
    static_cast<void>(local::hipGetStreamDeviceId(stream));
  }
  over.store(true);
  loser.join();
  internal::connected_client.store(client_.get());
}

TEST_F(LocalTest, LaunchesOfUnregisteredKernels) {
  static const char stub = 0;
  EXPECT_EQ(custom::hipLaunchKernel(call_, &stub, dim3(1), dim3(1), nullptr, 0, nullptr),
            hipErrorInvalidDeviceFunction);
  EXPECT_EQ(worker_->launches, 0);
}

}  // namespace
}  // namespace tf::proxy
