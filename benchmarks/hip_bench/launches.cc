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

void measure_launches(Context& context) {
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
