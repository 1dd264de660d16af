// SPDX-License-Identifier: Apache-2.0
// Steps of programs: what they do and then wait for. Few repetitions, since a step may take a round trip of
// tens of milliseconds; what a step costs more at a distance, divided by the distance, is how often it waits.
#include <cstdlib>
#include <memory>
#include <vector>

#include "benchmarks/hip_bench/bench.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr std::size_t kKibibyte = 1 << 10;
constexpr std::size_t kMebibyte = 1 << 20;
constexpr std::size_t kRepetitionsMin = 5;
constexpr std::size_t kRepetitionsMax = 2000;
constexpr int kBatch = 100;
constexpr int kPipelineDepth = 10;

// The median of a few executions, after one that warms up.
template <typename Body>
void step(Context& context, const char* metric, std::uint64_t bytes, Body&& body) {
  if (!context.wants(metric)) return;
  body();
  const Samples samples = repeat(context.budget_s(), kRepetitionsMin, kRepetitionsMax, body);
  context.add(metric, bytes, "ns", samples.median() * 1e9, samples.quantile(0.99) * 1e9);
}

class Steps {
 public:
  explicit Steps(Context& context) : context_(context), pageable_(kMebibyte, 'x') {
    TF_CHECK(hipStreamCreate(&stream_));
    TF_CHECK(hipEventCreate(&event_));
    TF_CHECK(hipMalloc(&device_, kMebibyte));
    TF_CHECK(hipHostMalloc(&pinned_, kMebibyte, hipHostMallocDefault));
    kernel_ = std::make_unique<EmptyKernel>(stream_);
  }
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  ~Steps() {
    kernel_.reset();
    (void)hipHostFree(pinned_);
    (void)hipFree(device_);
    (void)hipEventDestroy(event_);
    (void)hipStreamDestroy(stream_);
  }

  void calls() {
    step(context_, "sync_call", 0, [] { ask_worker(); });
    step(context_, "event_record_synchronize", 0, [&] {
      TF_CHECK(hipEventRecord(event_, stream_));
      TF_CHECK(hipEventSynchronize(event_));
    });
    step(context_, "malloc_free", kMebibyte, [&] {
      void* memory = nullptr;
      TF_CHECK(hipMalloc(&memory, kMebibyte));
      TF_CHECK(hipFree(memory));
    });
    step(context_, "memset_synchronize", kMebibyte, [&] {
      TF_CHECK(hipMemsetAsync(device_, 0, kMebibyte, stream_));
      synchronize();
    });
  }

  void launches() {
    step(context_, "launch_synchronize", 0, [&] {
      kernel_->launch();
      synchronize();
    });
    step(context_, "100_launches_synchronize", 0, [&] {
      for (int launch = 0; launch < kBatch; ++launch) kernel_->launch();
      synchronize();
    });
  }

  void copies() {
    for (const std::size_t bytes : {4 * kKibibyte, kMebibyte}) {
      step(context_, "h2d_pageable", bytes,
           [&] { copy(device_, pageable_.data(), bytes, hipMemcpyHostToDevice); });
      step(context_, "d2h_pageable", bytes,
           [&] { copy(pageable_.data(), device_, bytes, hipMemcpyDeviceToHost); });
      step(context_, "h2d_pinned", bytes, [&] { copy(device_, pinned_, bytes, hipMemcpyHostToDevice); });
      step(context_, "d2h_pinned", bytes, [&] { copy(pinned_, device_, bytes, hipMemcpyDeviceToHost); });
    }
    // A program that never waits in between.
    step(context_, "pipeline_of_10", kMebibyte, [&] {
      for (int part = 0; part < kPipelineDepth; ++part) {
        TF_CHECK(hipMemcpyAsync(device_, pinned_, kMebibyte, hipMemcpyHostToDevice, stream_));
        kernel_->launch();
        TF_CHECK(hipMemcpyAsync(pinned_, device_, kMebibyte, hipMemcpyDeviceToHost, stream_));
      }
      synchronize();
    });
  }

 private:
  void synchronize() { TF_CHECK(hipStreamSynchronize(stream_)); }
  static void copy(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind) {
    TF_CHECK(hipMemcpy(target, source, bytes, kind));
  }

  Context& context_;
  std::vector<char> pageable_;
  hipStream_t stream_ = nullptr;
  hipEvent_t event_ = nullptr;
  void* device_ = nullptr;
  void* pinned_ = nullptr;
  std::unique_ptr<EmptyKernel> kernel_;
};

}  // namespace

void measure_steps(Context& context) {
  Steps steps(context);
  steps.calls();
  steps.launches();
  steps.copies();
}

}  // namespace tf::bench
