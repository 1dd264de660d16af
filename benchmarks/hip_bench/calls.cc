// SPDX-License-Identifier: Apache-2.0
// Synchronous calls, posted calls, allocation.
#include "benchmarks/hip_bench/bench.h"
#include "benchmarks/raw_limits.h"
#include "benchmarks/raw_tcp.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr std::size_t kMebibyte = 1 << 20;
constexpr std::size_t kSmallFill = 256;

void sync_calls(Context& context, hipStream_t stream) {
  const bool tcp = context.over_tcp();
  const double limit =
      tcp ? raw_tcp_round_trip_ns(context.budget_s()) : raw_round_trip_ns(context.budget_s());
  const char* limit_name = tcp ? "raw TCP ping-pong" : "cache-line ping-pong";
  TF_CHECK(hipStreamSynchronize(stream));
  const ShortOperation query = measure_short(context.budget_s(), [&] { (void)hipStreamQuery(stream); });
  context.add("stream_query", 0, "ns", query.median_s * 1e9, query.p99_s * 1e9, limit, limit_name);
  const ShortOperation wait =
      measure_short(context.budget_s(), [&] { TF_CHECK(hipStreamSynchronize(stream)); });
  context.add("stream_synchronize_idle", 0, "ns", wait.median_s * 1e9, wait.p99_s * 1e9, limit, limit_name);
}

void event_query(Context& context, hipStream_t stream, hipEvent_t event) {
  const bool tcp = context.over_tcp();
  const double limit =
      tcp ? raw_tcp_round_trip_ns(context.budget_s()) : raw_round_trip_ns(context.budget_s());
  TF_CHECK(hipEventRecord(event, stream));
  TF_CHECK(hipEventSynchronize(event));
  const ShortOperation query = measure_short(context.budget_s(), [&] { (void)hipEventQuery(event); });
  context.add("event_query", 0, "ns", query.median_s * 1e9, query.p99_s * 1e9, limit,
              tcp ? "raw TCP ping-pong" : "cache-line ping-pong");
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

}  // namespace

void measure_calls(Context& context) {
  if (!context.wants("stream") && !context.wants("event") && !context.wants("memset") &&
      !context.wants("malloc"))
    return;
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  TF_CHECK(hipStreamCreate(&stream));
  TF_CHECK(hipEventCreate(&event));
  if (context.wants("stream")) sync_calls(context, stream);
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
