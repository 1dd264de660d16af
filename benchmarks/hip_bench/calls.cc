// SPDX-License-Identifier: Apache-2.0
// Synchronous calls, posted calls, allocation.
#include <vector>

#include "benchmarks/hip_bench/bench.h"
#include "benchmarks/raw_limits.h"
#include "benchmarks/raw_tcp.h"
#include "benchmarks/report/statistics.h"
#include "transport/base/mutex.h"

namespace tf::bench {
namespace {

constexpr std::size_t kMebibyte = 1 << 20;
constexpr std::size_t kSmallFill = 256;

// Keeps a stream busy without using a processor.
class Hold {
 public:
  explicit Hold(hipStream_t stream) { TF_CHECK(hipLaunchHostFunc(stream, &Hold::wait, this)); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() { release(); }

  void release() {
    const MutexLock lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  static void wait(void* self) {
    auto* const hold = static_cast<Hold*>(self);
    const MutexLock lock(hold->mutex_);
    hold->changed_.wait(hold->mutex_, [hold]() TF_REQUIRES(hold->mutex_) { return hold->released_; });
  }

  Mutex mutex_;
  CondVar changed_;
  bool released_ TF_GUARDED_BY(mutex_) = false;
};

template <typename Call>
void add_call(Context& context, const char* metric, Call&& call) {
  const bool tcp = context.over_tcp();
  const auto limit = [&] {
    return tcp ? raw_tcp_round_trip_ns(context.budget_s()) : raw_round_trip_ns(context.budget_s());
  };
  const auto cost = measure_beside(limit, [&] { return measure_short(context.budget_s(), call); });
  context.add(metric, 0, "ns", cost.found.median_s * 1e9, cost.found.p99_s * 1e9, cost.limit,
              tcp ? "raw TCP ping-pong" : "cache-line ping-pong");
}

// With nothing pending, queries and waits are a matter of the client. While the stream is busy, the worker is
// asked, as it is for what only it knows.
void stream_calls(Context& context, hipStream_t stream) {
  TF_CHECK(hipStreamSynchronize(stream));
  add_call(context, "stream_query", [&] { (void)hipStreamQuery(stream); });
  add_call(context, "stream_synchronize_idle", [&] { TF_CHECK(hipStreamSynchronize(stream)); });
  Hold hold(stream);
  add_call(context, "stream_query_busy", [&] { (void)hipStreamQuery(stream); });
  hold.release();
  TF_CHECK(hipStreamSynchronize(stream));
}

void event_query(Context& context, hipStream_t stream, hipEvent_t event) {
  TF_CHECK(hipEventRecord(event, stream));
  TF_CHECK(hipEventSynchronize(event));
  add_call(context, "event_query", [&] { (void)hipEventQuery(event); });
  Hold hold(stream);
  TF_CHECK(hipEventRecord(event, stream));
  add_call(context, "event_query_pending", [&] { (void)hipEventQuery(event); });
  hold.release();
  TF_CHECK(hipStreamSynchronize(stream));
}

// A fill so small that the call is the cost.
void small_fills(Context& context, hipStream_t stream) {
  void* memory = nullptr;
  TF_CHECK(hipMalloc(&memory, kSmallFill));
  posted_calls(context, "memset", kSmallFill, stream,
               [&] { (void)hipMemsetAsync(memory, 0, kSmallFill, stream); });
  TF_CHECK(hipFree(memory));
}

void allocations(Context& context) {
  Samples pairs = repeat(context.budget_s(), 50, 100'000, [] {
    void* memory = nullptr;
    TF_CHECK(hipMalloc(&memory, kMebibyte));
    TF_CHECK(hipFree(memory));
  });
  TF_CHECK(hipDeviceSynchronize());
  context.add("malloc_free", kMebibyte, "ns", pairs.median() * 1e9, pairs.quantile(0.99) * 1e9);
}

// Streams as some programs use them: made for a few copies and destroyed. The time of one stream.
void stream_lives(Context& context) {
  constexpr int kStreams = 4;
  constexpr int kCopies = 4;
  constexpr std::size_t kCopyBytes = 16 << 10;
  const std::vector<char> host(kCopyBytes, 'x');
  void* device = nullptr;
  TF_CHECK(hipMalloc(&device, kCopies * kCopyBytes));
  TF_CHECK(hipDeviceSynchronize());
  Samples lives = repeat(context.budget_s(), 50, 100'000, [&] {
    hipStream_t streams[kStreams];
    for (hipStream_t& stream : streams) TF_CHECK(hipStreamCreate(&stream));
    for (hipStream_t stream : streams)
      for (int copy = 0; copy < kCopies; ++copy)
        TF_CHECK(hipMemcpyAsync(static_cast<char*>(device) + copy * kCopyBytes, host.data(), kCopyBytes,
                                hipMemcpyHostToDevice, stream));
    for (hipStream_t stream : streams) {
      TF_CHECK(hipStreamSynchronize(stream));
      TF_CHECK(hipStreamDestroy(stream));
    }
  });
  TF_CHECK(hipFree(device));
  TF_CHECK(hipDeviceSynchronize());
  context.add("stream_create_copy_destroy", kCopyBytes, "ns", lives.median() * 1e9 / kStreams,
              lives.quantile(0.99) * 1e9 / kStreams);
}

}  // namespace

void measure_calls(Context& context) {
  if (!context.wants("sync") && !context.wants("stream") && !context.wants("event") &&
      !context.wants("memset") && !context.wants("malloc"))
    return;
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  TF_CHECK(hipStreamCreate(&stream));
  TF_CHECK(hipEventCreate(&event));
  if (context.wants("sync")) add_call(context, "sync_call", [] { ask_worker(); });
  if (context.wants("stream")) {
    stream_calls(context, stream);
    stream_lives(context);
  }
  if (context.wants("event")) {
    event_query(context, stream, event);
    posted_calls(context, "event_record", 0, stream, [&] { (void)hipEventRecord(event, stream); });
  }
  if (context.wants("memset")) small_fills(context, stream);
  if (context.wants("malloc")) allocations(context);
  TF_CHECK(hipEventDestroy(event));
  TF_CHECK(hipStreamDestroy(stream));
}

}  // namespace tf::bench
