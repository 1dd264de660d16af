// SPDX-License-Identifier: Apache-2.0
// Loads of kernels: a client that fills the device, and one that wants little of it.
#include <chrono>
#include <thread>

#include "benchmarks/hip_load/loads.h"
#include "benchmarks/report/statistics.h"

asm(".section .rodata\n.balign 4096\ntf_hip_load_kernels:\n.incbin \"" KERNEL_FILE "\"\n.previous\n");
extern "C" const unsigned char tf_hip_load_kernels[];

namespace tf::bench {
namespace {

constexpr long long kTicksPerUs = 100;  // of wall_clock64()

// A block of it runs for as long as it is told.
class BusyKernel {
 public:
  BusyKernel() {
    TF_CHECK(hipModuleLoadData(&module_, tf_hip_load_kernels));
    TF_CHECK(hipModuleGetFunction(&function_, module_, "busy_kernel"));
    TF_CHECK(hipStreamCreate(&stream_));
  }
  BusyKernel(const BusyKernel&) = delete;
  BusyKernel& operator=(const BusyKernel&) = delete;
  ~BusyKernel() {
    (void)hipStreamDestroy(stream_);
    (void)hipModuleUnload(module_);
  }

  void launch(unsigned blocks, long long microseconds) {
    long long ticks = microseconds * kTicksPerUs;
    void* arguments[] = {&ticks};
    TF_CHECK(hipModuleLaunchKernel(function_, blocks, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr));
  }
  void wait() { TF_CHECK(hipStreamSynchronize(stream_)); }

 private:
  hipModule_t module_ = nullptr;
  hipFunction_t function_ = nullptr;
  hipStream_t stream_ = nullptr;
};

class Hog final : public Load {
 public:
  explicit Hog(const LoadOptions& options) : seconds_(options.seconds) {
    kernel_.launch(1, 1);
    kernel_.wait();
  }
  LoadFigures run() override {
    const Samples batches = repeat(seconds_, 1, SIZE_MAX, [this] {
      for (int grid = 0; grid < kGridsPerWait; ++grid) kernel_.launch(kBlocks, kBlockUs);
      kernel_.wait();
    });
    return {.operations = batches.count() * kGridsPerWait, .seconds = seconds_};
  }

 private:
  static constexpr int kGridsPerWait = 8;
  static constexpr unsigned kBlocks = 64;
  static constexpr long long kBlockUs = 1000;

  BusyKernel kernel_;
  double seconds_;
};

class Small final : public Load {
 public:
  explicit Small(const LoadOptions& options) : seconds_(options.seconds) { one(); }
  LoadFigures run() override {
    Samples waits;
    const auto start = std::chrono::steady_clock::now();
    while (waits.count() == 0 || seconds_since(start) < seconds_) {
      waits.add(timed([this] { one(); }));
      std::this_thread::sleep_for(kBetween);
    }
    return {.operations = waits.count(),
            .seconds = seconds_,
            .p50_ns = waits.median() * 1e9,
            .p99_ns = waits.quantile(0.99) * 1e9};
  }

 private:
  static constexpr std::chrono::microseconds kBetween{500};
  void one() {
    kernel_.launch(1, 1);
    kernel_.wait();
  }

  BusyKernel kernel_;
  double seconds_;
};

}  // namespace

std::vector<LoadKind> grid_loads() {
  return {{"hog", [](const LoadOptions& options) -> Load* { return new Hog(options); }},
          {"small", [](const LoadOptions& options) -> Load* { return new Small(options); }}};
}

}  // namespace tf::bench
