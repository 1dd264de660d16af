// SPDX-License-Identifier: Apache-2.0
// Answers kept by the client: exact keys, bounds, threads, and calls that reach the worker only once.
#include "proxy/session/reply_cache.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "proxy/base/thread_state.h"
#include "proxy/client/process.h"
#include "proxy/exported/api_call.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"

namespace tf::proxy {
namespace {

using protocol::HandleKind;
using protocol::Op;

std::span<const std::byte> bytes_of(const std::uint64_t& value) {
  return std::as_bytes(std::span(&value, 1));
}

void keep(ReplyCache& cache, Op op, int device, std::uint64_t request, std::uint64_t reply) {
  cache.keep(op, device, bytes_of(request), bytes_of(reply));
}

// The kept answer, or 0.
std::uint64_t look(const ReplyCache& cache, Op op, int device, std::uint64_t request) {
  std::uint64_t reply = 0;
  return cache.find(op, device, bytes_of(request), std::as_writable_bytes(std::span(&reply, 1))) ? reply : 0;
}

TEST(ReplyCache, KeyIsOpcodeDeviceAndRequest) {
  ReplyCache cache;
  EXPECT_EQ(look(cache, Op::kStreamGetFlags, 0, 5), 0u);
  keep(cache, Op::kStreamGetFlags, 0, 5, 77);
  EXPECT_EQ(look(cache, Op::kStreamGetFlags, 0, 5), 77u);
  EXPECT_EQ(look(cache, Op::kStreamGetPriority, 0, 5), 0u);
  EXPECT_EQ(look(cache, Op::kStreamGetFlags, 1, 5), 0u);
  EXPECT_EQ(look(cache, Op::kStreamGetFlags, 0, 6), 0u);
  keep(cache, Op::kStreamGetFlags, 0, 5, 78);
  EXPECT_EQ(look(cache, Op::kStreamGetFlags, 0, 5), 78u);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(ReplyCache, OtherLengthsAreNotKnown) {
  ReplyCache cache;
  keep(cache, Op::kStreamGetFlags, 0, 5, 77);
  std::uint64_t request = 5;
  std::uint32_t narrow = 0;
  EXPECT_FALSE(
      cache.find(Op::kStreamGetFlags, 0, bytes_of(request), std::as_writable_bytes(std::span(&narrow, 1))));
  std::vector<std::byte> wide(kCachedRequestBytesMax + 1);
  cache.keep(Op::kStreamGetFlags, 0, wide, bytes_of(request));
  EXPECT_EQ(cache.size(), 1u) << "a request too long for a key was kept";
  wide.pop_back();
  cache.keep(Op::kStreamGetFlags, 0, wide, bytes_of(request));
  EXPECT_EQ(cache.size(), 2u);
}

TEST(ReplyCache, TheOldestGoesFirst) {
  ReplyCache cache(3);
  for (std::uint64_t request = 1; request <= 5; ++request)
    keep(cache, Op::kStreamGetFlags, 0, request, request * 10);
  EXPECT_EQ(cache.size(), 3u);
  for (std::uint64_t request = 1; request <= 5; ++request)
    EXPECT_EQ(look(cache, Op::kStreamGetFlags, 0, request), request <= 2 ? 0u : request * 10);
}

TEST(ReplyCache, Threads) {
  constexpr std::size_t kCapacity = 64;
  ReplyCache cache(kCapacity);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache] {
      for (std::uint64_t i = 1; i <= 5000; ++i) {
        std::uint64_t request = i % 200 + 1;
        keep(cache, Op::kStreamGetFlags, 0, request, request + 1000);
        std::uint64_t answer = look(cache, Op::kStreamGetFlags, 0, request);
        EXPECT_TRUE(answer == 0 || answer == request + 1000) << "another request's answer";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.size(), kCapacity);
}

// As generated stubs use it, against a worker that counts.
class CachedCalls : public ::testing::Test {
 protected:
  CachedCalls() {
    constexpr std::uint64_t kMemoryBytes = 64ull << 20;
    auto [client, server] = make_loopback_pair();
    worker_ = std::make_unique<FakeWorker>(std::move(server), kMemoryBytes);
    Connected parts;
    parts.endpoint = std::move(client);
    parts.snapshot = fake_snapshot(kMemoryBytes);
    client_ = std::make_unique<Client>(std::move(parts));
    use_client(client_.get());
  }
  ~CachedCalls() override { use_client(nullptr); }

  static hipError_t flags_of(std::uint64_t stream, std::uint32_t& flags) {
    ApiCall call;
    if (!call.connected()) return call.finish();
    protocol::StreamGetFlagsRequest request;
    if (!call.translate(HandleKind::kStream, to_pointer(protocol::Handle(stream)), request.stream))
      return call.finish();
    protocol::StreamGetFlagsReply reply;
    hipError_t error = call.cached(request, reply);
    flags = reply.flags;
    return error;
  }
  static std::uint64_t default_pool(int device) {
    ApiCall call;
    if (!call.connected()) return 0;
    protocol::DeviceGetDefaultMemPoolRequest request;
    if (!call.ordinal(device, request.device)) return call.finish() == hipSuccess ? 1 : 0;
    void* value = nullptr;
    EXPECT_EQ(call.create_once(HandleKind::kMemPool, request, request.pool, value), hipSuccess);
    EXPECT_EQ(to_raw(value), request.pool);
    return to_raw(value);
  }

  std::unique_ptr<FakeWorker> worker_;
  std::unique_ptr<Client> client_;
};

TEST_F(CachedCalls, TheWorkerIsAskedOnce) {
  worker_->stream_flags = 1;
  std::uint64_t stream = client_->handles().of(HandleKind::kStream).create(0)->raw();
  std::uint32_t flags = 0;
  for (int i = 0; i < 3; ++i) {
    flags = 0;
    ASSERT_EQ(flags_of(stream, flags), hipSuccess);
    EXPECT_EQ(flags, 1u);
  }
  EXPECT_EQ(worker_->calls, 1);
}

TEST_F(CachedCalls, AFailureIsNotKept) {
  std::uint64_t stream = client_->handles().of(HandleKind::kStream).create(0)->raw();
  std::uint32_t flags = 0;
  worker_->stream_flags = -1;
  EXPECT_EQ(flags_of(stream, flags), hipErrorInvalidHandle);
  EXPECT_EQ(thread_state().last_error, hipErrorInvalidHandle) << "not noted as the thread's last error";
  worker_->stream_flags = 1;
  EXPECT_EQ(flags_of(stream, flags), hipSuccess);
  EXPECT_EQ(flags, 1u);
  EXPECT_EQ(thread_state().last_error, hipSuccess);
}

TEST_F(CachedCalls, ADestroyedHandleIsRefusedAndItsSuccessorAsked) {
  HandleTable& streams = client_->handles().of(HandleKind::kStream);
  std::uint64_t first = streams.create(0)->raw();
  std::uint32_t flags = 0;
  worker_->stream_flags = 1;
  ASSERT_EQ(flags_of(first, flags), hipSuccess);
  ASSERT_TRUE(streams.remove(first));
  EXPECT_EQ(flags_of(first, flags), hipErrorContextIsDestroyed);
  std::uint64_t second = streams.create(0)->raw();
  ASSERT_EQ(protocol::Handle(first).index(), protocol::Handle(second).index());
  worker_->stream_flags = 0;
  ASSERT_EQ(flags_of(second, flags), hipSuccess);
  EXPECT_EQ(flags, 0u) << "the answer about the destroyed stream";
}

TEST_F(CachedCalls, OneDefaultPoolForAllThreadsAndItStays) {
  std::array<std::uint64_t, 4> pools{};
  std::vector<std::thread> threads;
  for (std::uint64_t& pool : pools) threads.emplace_back([&pool] { pool = default_pool(0); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set(pools.begin(), pools.end()).size(), 1u);
  EXPECT_EQ(client_->handles().of(HandleKind::kMemPool).all().size(), 1u);
  ApiCall call;
  ASSERT_TRUE(call.connected());
  std::uint64_t handle = 0;
  EXPECT_FALSE(call.consume(HandleKind::kMemPool, to_pointer(protocol::Handle(pools[0])), handle));
  EXPECT_EQ(call.finish(), hipErrorInvalidValue);
  EXPECT_EQ(default_pool(0), pools[0]);
}

TEST_F(CachedCalls, OrdinalsAreChecked) {
  EXPECT_EQ(default_pool(-1), 0u);
  EXPECT_EQ(thread_state().last_error, hipErrorInvalidDevice);
  EXPECT_EQ(default_pool(client_->device_count()), 0u);
}

}  // namespace
}  // namespace tf::proxy
