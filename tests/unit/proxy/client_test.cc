// SPDX-License-Identifier: Apache-2.0
// A whole client against the fake worker: copies, sticky errors, callbacks, lost worker, many threads.
#include "proxy/client/client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <future>
#include <memory>
#include <numeric>
#include <random>

#include "proxy/client/process.h"
#include "proxy/copy/engine.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"

namespace tf::proxy {
namespace {

constexpr std::uint64_t kClientMemoryBytes = 256ull << 20;

class ClientTest : public ::testing::Test {
 protected:
  ClientTest() {
    auto [client, server] = make_loopback_pair();
    int control[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, control), 0);
    worker_ = std::make_unique<FakeWorker>(std::move(server), kClientMemoryBytes, net::OwnedFd(control[0]));
    Connected parts;
    parts.control = net::OwnedFd(control[1]);
    parts.endpoint = std::move(client);
    parts.snapshot = fake_snapshot(kClientMemoryBytes);
    client_ = std::make_unique<Client>(std::move(parts));
  }

  void* allocate(std::uint64_t bytes) {
    std::uint64_t address = 0;
    EXPECT_EQ(client_->device_memory().allocate(0, bytes, address), hipSuccess);
    return reinterpret_cast<void*>(address);
  }
  hipError_t synchronize(std::uint64_t stream = 0) {
    protocol::SynchronizeStreamRequest request{};
    request.stream = stream;
    return client_->connection().synchronized_stream(0, stream, client_->connection().call(0, request));
  }
  static std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> data(bytes);
    for (std::byte& byte : data) byte = static_cast<std::byte>(random());
    return data;
  }

  std::unique_ptr<FakeWorker> worker_;
  std::unique_ptr<Client> client_;
  CopyMode wait_{0, 0, true};
  CopyMode async_{0, 0, false};
};

TEST_F(ClientTest, CopiesThereAndBackInAllSizes) {
  for (std::size_t bytes : {1u, 8192u, 8193u, 100'000u, 5'000'000u}) {
    void* device = allocate(bytes);
    void* other = allocate(bytes);
    std::vector<std::byte> data = pattern(bytes, 1);
    std::vector<std::byte> back(bytes);
    ASSERT_EQ(copy(client_->copies(), wait_, device, data.data(), bytes, hipMemcpyHostToDevice), hipSuccess);
    ASSERT_EQ(copy(client_->copies(), wait_, back.data(), device, bytes, hipMemcpyDefault), hipSuccess);
    EXPECT_EQ(back, data) << bytes;
    EXPECT_NE(device, other);
  }
  EXPECT_EQ(worker_->leases, 1);
}

// The worker is in this process here, so all that it allocates is in the way.
TEST_F(ClientTest, FineGrainedMemoryWhereThisProcessHasMemoryIsRefused) {
  std::uint64_t address = 0;
  EXPECT_EQ(client_->device_memory().allocate_alone(0, 4096, hipDeviceMallocFinegrained, address),
            hipErrorOutOfMemory);
  EXPECT_GT(worker_->leases, 1) << "it asks again, since other addresses may be free";
  EXPECT_EQ(synchronize(), hipSuccess);  // behind what was posted
  EXPECT_EQ(worker_->leases_returned, worker_->leases);
}

TEST_F(ClientTest, KindsAndRangesAreChecked) {
  void* device = allocate(1000);
  std::vector<std::byte> host(2000);
  auto refuse = [&](void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
    return copy(client_->copies(), wait_, to, from, bytes, kind);
  };
  EXPECT_EQ(refuse(device, host.data(), 1000, hipMemcpyDeviceToHost), hipSuccess) << "goes by the memory";
  EXPECT_EQ(refuse(host.data(), device, 1000, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(refuse(device, host.data(), 1001, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(refuse(device, nullptr, 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(refuse(device, host.data(), 0, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(refuse(host.data() + 1000, host.data(), 1000, hipMemcpyDefault), hipSuccess);
}

TEST_F(ClientTest, BoxesThereAndBack) {
  // Wide enough for several batches, with gaps on both sides.
  Box box;
  box.width = 70'000;
  box.height = 20;
  box.depth = 3;
  std::uint64_t host_pitch = 70'016;
  std::uint64_t device_pitch = 70'144;
  std::vector<std::byte> data = pattern(host_pitch * 22 * 3, 2);
  void* device = allocate(device_pitch * 20 * 3);
  box.source = {to_raw(data.data()), host_pitch, host_pitch * 22};
  box.target = {to_raw(device), device_pitch, device_pitch * 20};
  const int before = worker_->messages;
  ASSERT_EQ(copy_box(client_->copies(), wait_, box, hipMemcpyHostToDevice), hipSuccess);
  std::vector<std::byte> back(data.size(), std::byte{0});
  Box reverse = box;
  reverse.source = box.target;
  reverse.target = {to_raw(back.data()), host_pitch, host_pitch * 22};
  ASSERT_EQ(copy_box(client_->copies(), wait_, reverse, hipMemcpyDeviceToHost), hipSuccess);
  for (std::uint64_t row = 0; row < 60; ++row) {
    std::size_t at = row / 20 * host_pitch * 22 + row % 20 * host_pitch;
    ASSERT_EQ(std::memcmp(&back[at], &data[at], box.width), 0) << row;
    ASSERT_EQ(back[at + box.width], std::byte{0}) << "wrote between rows";
  }
  EXPECT_EQ(worker_->messages, before + 2) << "one a copy, whatever its rows";
  box.target.address += device_pitch;
  EXPECT_EQ(copy_box(client_->copies(), wait_, box, hipMemcpyHostToDevice), hipErrorInvalidValue)
      << "beyond the allocation";
}

TEST_F(ClientTest, AsynchronousCopyLandsBySynchronization) {
  constexpr std::size_t kBytes = 3'000'000;
  void* device = allocate(kBytes);
  std::vector<std::byte> data = pattern(kBytes, 3);
  std::vector<std::byte> back(kBytes);
  ASSERT_EQ(copy(client_->copies(), async_, device, data.data(), kBytes, hipMemcpyHostToDevice), hipSuccess);
  data.assign(kBytes, std::byte{0});  // pageable memory may be reused at once
  ASSERT_EQ(copy(client_->copies(), async_, back.data(), device, kBytes, hipMemcpyDeviceToHost), hipSuccess);
  ASSERT_EQ(synchronize(), hipSuccess);
  EXPECT_EQ(back, pattern(kBytes, 3));
}

TEST_F(ClientTest, AsynchronousCopyLandsThoughNobodyWaits) {
  constexpr std::size_t kBytes = 3'000'000;
  void* device = allocate(kBytes);
  std::vector<std::byte> back(kBytes);
  std::vector<std::byte> data = pattern(kBytes, 4);
  ASSERT_EQ(copy(client_->copies(), wait_, device, data.data(), kBytes, hipMemcpyHostToDevice), hipSuccess);
  ASSERT_EQ(copy(client_->copies(), async_, back.data(), device, kBytes, hipMemcpyDeviceToHost), hipSuccess);
  for (int i = 0; i < 5000 && client_->streams().transfers().sweep(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(client_->streams().transfers().sweep()) << "the pump did not move it";
  EXPECT_EQ(back, data);
}

TEST_F(ClientTest, PostedFailureIsReturnedOnceByTheNextSynchronization) {
  void* device = allocate(100);
  int value = 5;
  worker_->fail_next_copy = hipErrorIllegalAddress;
  EXPECT_EQ(copy(client_->copies(), async_, device, &value, sizeof value, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(synchronize(), hipErrorIllegalAddress);
  EXPECT_EQ(synchronize(), hipSuccess);
}

TEST_F(ClientTest, AbortedCopyFromDeviceCarriesItsError) {
  void* device = allocate(100'000);
  std::vector<std::byte> back(100'000);
  worker_->abort_next_copy = hipErrorIllegalAddress;
  EXPECT_EQ(copy(client_->copies(), wait_, back.data(), device, back.size(), hipMemcpyDeviceToHost),
            hipErrorIllegalAddress);
  worker_->abort_next_copy = hipErrorLaunchFailure;
  EXPECT_EQ(copy(client_->copies(), async_, back.data(), device, back.size(), hipMemcpyDeviceToHost),
            hipErrorLaunchFailure)
      << "with pageable memory the call waits";
  ASSERT_EQ(client_->host_allocations().add(0, back.data(), back.size(), hipHostRegisterDefault), hipSuccess);
  worker_->abort_next_copy = hipErrorLaunchFailure;
  EXPECT_EQ(copy(client_->copies(), async_, back.data(), device, back.size(), hipMemcpyDeviceToHost),
            hipSuccess);
  EXPECT_EQ(synchronize(), hipErrorLaunchFailure);
  EXPECT_EQ(copy(client_->copies(), wait_, back.data(), device, back.size(), hipMemcpyDeviceToHost),
            hipSuccess);
}

TEST_F(ClientTest, CallbacksRunInOrderBeforeTheSynchronizationReturns) {
  std::vector<int> order;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(client_->callbacks().add(0, 0,
                                       [&order, i](hipError_t error) {
                                         EXPECT_EQ(error, hipSuccess);
                                         order.push_back(i);
                                       }),
              hipSuccess);
  }
  ASSERT_EQ(synchronize(), hipSuccess);
  std::vector<int> expected(20);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(ClientTest, CallbackRunsThoughNobodyWaits) {
  std::atomic<bool> ran{false};
  ASSERT_EQ(client_->callbacks().add(0, 0, [&ran](hipError_t) { ran = true; }), hipSuccess);
  for (int i = 0; i < 5000 && !ran; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(ran);
}

TEST_F(ClientTest, AFunctionThatTheWorkerRefusesIsForgotten) {
  worker_->refuse_callbacks = true;
  std::atomic<bool> gone{false};
  std::shared_ptr<void> held(nullptr, [&](void*) { gone = true; });
  ASSERT_EQ(client_->callbacks().add(0, 0, [kept = std::move(held)](hipError_t) { ADD_FAILURE(); }),
            hipSuccess);
  for (int i = 0; i < 5000 && !gone; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(gone);
  EXPECT_FALSE(client_->callbacks().any());
  EXPECT_FALSE(client_->callbacks().any_function());
}

// What a function holds may run the program's code when it goes.
TEST_F(ClientTest, WhatWaitsForALostWorkerEndsWithoutALock) {
  std::promise<void> gate;
  const auto wait = [opened = gate.get_future().share()](hipError_t) { opened.wait(); };
  std::future<void> call;
  std::atomic<int> unlocked{-1};
  std::shared_ptr<void> held(nullptr, [&](void*) {
    call = std::async(std::launch::async, [this] { client_->callbacks().transfer_started(); });
    unlocked = call.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
  });
  ASSERT_EQ(client_->callbacks().add(0, 0, wait), hipSuccess);
  ASSERT_EQ(client_->callbacks().add(0, 0, [kept = std::move(held)](hipError_t) { ADD_FAILURE(); }),
            hipSuccess);
  worker_->die();
  gate.set_value();
  for (int i = 0; i < 10000 && unlocked < 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(unlocked, 1);
}

TEST_F(ClientTest, AGraphsObjectsWaitForTheDeviceIfNoCallbackCanBeQueued) {
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  hipGraphExec_t exec = nullptr;
  hipUserObject_t object = nullptr;
  graph::Library& library = client_->graphs().library();
  struct Seen {
    FakeWorker& worker;
    int calls = -1;
  } seen{*worker_};
  const auto end = [](void* data) {
    static_cast<Seen*>(data)->calls = static_cast<Seen*>(data)->worker.calls.load();
  };
  ASSERT_EQ(library.create(&graph, 0), hipSuccess);
  ASSERT_EQ(library.add(&node, graph, nullptr, 0, graph::EmptyWork{}), hipSuccess);
  ASSERT_EQ(library.create_object(&object, &seen, end, 1, hipUserObjectNoDestructorSync), hipSuccess);
  ASSERT_EQ(library.retain_object(graph, object, 1, hipGraphUserObjectMove), hipSuccess);
  ASSERT_EQ(library.instantiate(&exec, graph, 0ULL), hipSuccess);
  ASSERT_EQ(library.destroy(graph), hipSuccess);
  ASSERT_EQ(library.launch(exec, client_->graphs().reference(0, 0)), hipSuccess);
  ASSERT_EQ(synchronize(), hipSuccess);
  client_->callbacks().stop();
  const int before = worker_->calls;
  EXPECT_EQ(library.destroy(exec), hipSuccess);
  EXPECT_EQ(seen.calls, before + 1) << "the device was not waited for";
}

TEST_F(ClientTest, LostWorkerEndsEveryCall) {
  void* device = allocate(1 << 20);
  std::vector<std::byte> back(1 << 20);
  worker_->die();
  EXPECT_EQ(copy(client_->copies(), wait_, back.data(), device, back.size(), hipMemcpyDeviceToHost),
            kLostError);
  EXPECT_TRUE(client_->connection().lost());
  EXPECT_EQ(synchronize(), kLostError);
  use_client(client_.get());
  EXPECT_EQ(acquire_client(), nullptr);
  EXPECT_EQ(no_client_error(), kLostError);
  use_client(nullptr);
  EXPECT_EQ(no_client_error(), hipErrorNotInitialized);
}

// Whoever waits for the payload learns of the loss before anybody reads messages: the next call, which is
// only posted, must not succeed.
TEST_F(ClientTest, LossInACopyEndsEveryLaterCall) {
  void* device = allocate(1 << 20);
  std::vector<std::byte> back(1 << 20);
  worker_->die_of_next_copy = true;
  EXPECT_EQ(copy(client_->copies(), wait_, back.data(), device, back.size(), hipMemcpyDeviceToHost),
            kLostError);
  EXPECT_TRUE(client_->connection().lost());
}

TEST_F(ClientTest, GoodbyeArrives) {
  client_->connection().goodbye();
  for (int i = 0; i < 2000 && !worker_->goodbye; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(worker_->goodbye);
}

TEST_F(ClientTest, ManyThreads) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 30; ++i) {
        std::size_t bytes = 1000 + 40'000u * static_cast<unsigned>(i % 3);
        void* device = allocate(bytes);
        std::vector<std::byte> data = pattern(bytes, t * 100 + static_cast<unsigned>(i));
        std::vector<std::byte> back(bytes);
        EXPECT_EQ(copy(client_->copies(), async_, device, data.data(), bytes, hipMemcpyHostToDevice),
                  hipSuccess);
        EXPECT_EQ(
            copy(client_->copies(), i % 2 ? wait_ : async_, back.data(), device, bytes, hipMemcpyDefault),
            hipSuccess);
        EXPECT_EQ(synchronize(), hipSuccess);
        EXPECT_EQ(back, data);
        EXPECT_EQ(client_->device_memory().release(to_raw(device)), hipSuccess);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tf::proxy
