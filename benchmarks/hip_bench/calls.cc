// SPDX-License-Identifier: Apache-2.0
// Synchronous calls, posted calls, allocation.
#include "benchmarks/hip_bench/bench.h"
#include "benchmarks/raw_limits.h"
#include "benchmarks/raw_tcp.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr int kPostedBatch = 1000;
constexpr std::size_t kMebibyte = 1 << 20;

void sync_calls(Context& context, hipStream_t stream, hipEvent_t event) {
  const bool tcp = context.over_tcp();
  const double limit =
      tcp ? raw_tcp_round_trip_ns(context.budget_s()) : raw_round_trip_ns(context.budget_s());
  const char* limit_name = tcp ? "raw TCP ping-pong" : "cache-line ping-pong";
  TF_CHECK(hipStreamSynchronize(stream));
  Samples queries = repeat(context.budget_s(), 200, 200'000, [&] { (void)hipStreamQuery(stream); });
  context.add("stream_query", 0, "ns", queries.median() * 1e9, queries.quantile(0.99) * 1e9, limit,
              limit_name);
  TF_CHECK(hipEventRecord(event, stream));
  TF_CHECK(hipEventSynchronize(event));
  Samples waits = repeat(context.budget_s(), 200, 200'000, [&] { TF_CHECK(hipStreamSynchronize(stream)); });
  context.add("stream_synchronize_idle", 0, "ns", waits.median() * 1e9, waits.quantile(0.99) * 1e9, limit,
              limit_name);
}

void posted_calls(Context& context, hipStream_t stream, hipEvent_t event) {
  Samples caller;
  Samples rate;
  const std::size_t rounds = context.options().quick ? 20 : 100;
  for (std::size_t round = 0; round < rounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < kPostedBatch; ++call) (void)hipEventRecord(event, stream);
    caller.add(seconds_since(start) / kPostedBatch);
    TF_CHECK(hipStreamSynchronize(stream));
    rate.add(kPostedBatch / seconds_since(start));
  }
  context.add("event_record_caller", 0, "ns", caller.median() * 1e9, caller.quantile(0.99) * 1e9);
  context.add("event_record_drained", 0, "1/s", rate.median(), rate.quantile(0.01));
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
  if (!context.wants("stream") && !context.wants("event") && !context.wants("malloc")) return;
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  TF_CHECK(hipStreamCreate(&stream));
  TF_CHECK(hipEventCreate(&event));
  if (context.wants("stream")) sync_calls(context, stream, event);
  if (context.wants("event")) posted_calls(context, stream, event);
  if (context.wants("malloc")) allocations(context);
  TF_CHECK(hipEventDestroy(event));
  TF_CHECK(hipStreamDestroy(stream));
}

}  // namespace tf::bench
