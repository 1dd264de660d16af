// SPDX-License-Identifier: Apache-2.0
// Kernel launches with four arguments: cost on the caller, drained rate, launch and wait.
#include "benchmarks/hip_bench/bench.h"
#include "benchmarks/report/statistics.h"

// The code object of kernels.hip, embedded at build time.
asm(".section .rodata\n.balign 4096\ntf_hip_bench_kernels:\n.incbin \"" KERNEL_FILE "\"\n.previous\n");
extern "C" const unsigned char tf_hip_bench_kernels[];

namespace tf::bench {

EmptyKernel::EmptyKernel(hipStream_t stream) : stream_(stream) {
  TF_CHECK(hipModuleLoadData(&module_, tf_hip_bench_kernels));
  TF_CHECK(hipModuleGetFunction(&function_, module_, "empty_kernel"));
  TF_CHECK(hipMalloc(&memory_, 4096));
}

EmptyKernel::~EmptyKernel() {
  (void)hipFree(memory_);
  (void)hipModuleUnload(module_);
}

void EmptyKernel::launch() {
  float scale = 2.0F;
  int count = 1;
  void* arguments[] = {&memory_, &memory_, &scale, &count};
  TF_CHECK(hipModuleLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr));
}

namespace {

// Kernels of 20 us, one after the other: waited for each, waited for at the end, and as one graph. Time per
// kernel.
constexpr int kKernels = 1000;
constexpr long long kBusyTicks = 2000;

class BusyKernels {
 public:
  explicit BusyKernels(hipStream_t stream) : stream_(stream) {
    TF_CHECK(hipModuleLoadData(&module_, tf_hip_bench_kernels));
    TF_CHECK(hipModuleGetFunction(&function_, module_, "busy_kernel"));
    TF_CHECK(hipStreamBeginCapture(stream_, hipStreamCaptureModeThreadLocal));
    for (int i = 0; i < kKernels; ++i) launch();
    TF_CHECK(hipStreamEndCapture(stream_, &graph_));
    TF_CHECK(hipGraphInstantiate(&exec_, graph_, nullptr, nullptr, 0));
  }
  ~BusyKernels() {
    (void)hipGraphExecDestroy(exec_);
    (void)hipGraphDestroy(graph_);
    (void)hipModuleUnload(module_);
  }
  BusyKernels(const BusyKernels&) = delete;
  BusyKernels& operator=(const BusyKernels&) = delete;

  void wait() { TF_CHECK(hipStreamSynchronize(stream_)); }
  void each() {
    for (int i = 0; i < kKernels; ++i) {
      launch();
      wait();
    }
  }
  void batch() {
    for (int i = 0; i < kKernels; ++i) launch();
    wait();
  }
  void graph() {
    TF_CHECK(hipGraphLaunch(exec_, stream_));
    wait();
  }

 private:
  void launch() {
    long long ticks = kBusyTicks;
    void* arguments[] = {&ticks};
    TF_CHECK(hipModuleLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr));
  }
  hipStream_t stream_;
  hipModule_t module_ = nullptr;
  hipFunction_t function_ = nullptr;
  hipGraph_t graph_ = nullptr;
  hipGraphExec_t exec_ = nullptr;
};

void measure_busy_kernels(Context& context) {
  if (!context.wants("kernels")) return;
  hipStream_t stream = nullptr;
  TF_CHECK(hipStreamCreate(&stream));
  {
    BusyKernels kernels(stream);
    const int rounds = context.options().quick ? 5 : 20;
    const auto measure = [&](const char* name, void (BusyKernels::*run)()) {
      (kernels.*run)();
      Samples samples;
      for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        (kernels.*run)();
        samples.add(seconds_since(start) / kKernels);
      }
      context.add(name, 0, "ns", samples.median() * 1e9, samples.quantile(0.99) * 1e9);
    };
    measure("kernels_20us_each", &BusyKernels::each);
    measure("kernels_20us_batch", &BusyKernels::batch);
    measure("kernels_20us_graph", &BusyKernels::graph);
  }
  TF_CHECK(hipStreamDestroy(stream));
}

}  // namespace

void measure_launches(Context& context) {
  measure_busy_kernels(context);
  if (!context.wants("launch")) return;
  hipStream_t stream = nullptr;
  TF_CHECK(hipStreamCreate(&stream));
  {
    EmptyKernel kernel(stream);
    kernel.launch();
    TF_CHECK(hipStreamSynchronize(stream));
    posted_calls(context, "launch", 0, stream, [&] { kernel.launch(); });
    Samples both = repeat(context.budget_s(), 100, 100'000, [&] {
      kernel.launch();
      TF_CHECK(hipStreamSynchronize(stream));
    });
    context.add("launch_synchronize", 0, "ns", both.median() * 1e9, both.quantile(0.99) * 1e9);
  }
  TF_CHECK(hipStreamDestroy(stream));
}

}  // namespace tf::bench
