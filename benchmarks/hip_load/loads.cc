// SPDX-License-Identifier: Apache-2.0
// The loads of hip_load: calls, posts, copies, threads, steps.
#include "benchmarks/hip_load/loads.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr std::uint64_t kPostsPerWait = 1000;
constexpr int kPostsPerStep = 10;

// A stream and an event to record on it: the smallest thing that can be posted.
class Lane {
 public:
  Lane() {
    TF_CHECK(hipStreamCreate(&stream_));
    TF_CHECK(hipEventCreate(&event_));
    TF_CHECK(hipStreamSynchronize(stream_));
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    (void)hipEventDestroy(event_);
    (void)hipStreamDestroy(stream_);
  }

  void post() { (void)hipEventRecord(event_, stream_); }
  void wait() { TF_CHECK(hipStreamSynchronize(stream_)); }
  // What only the worker can answer.
  void ask() {
    hipSharedMemConfig config = hipSharedMemBankSizeDefault;
    TF_CHECK(hipDeviceGetSharedMemConfig(&config));
  }

 private:
  hipStream_t stream_ = nullptr;
  hipEvent_t event_ = nullptr;
};

class Idle final : public Load {
 public:
  explicit Idle(const LoadOptions& options) : seconds_(options.seconds) {
    for (std::uint64_t call = 0; call < kPostsPerWait; ++call)
      lane_.post();  // idle after work, not since birth
    lane_.wait();
  }
  LoadFigures run() override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_));
    return {.seconds = seconds_};
  }

 private:
  Lane lane_;
  double seconds_;
};

class Calls final : public Load {
 public:
  explicit Calls(const LoadOptions& options) : count_(options.count) {}
  LoadFigures run() override {
    const double seconds = timed([&] {
      for (std::uint64_t call = 0; call < count_; ++call) lane_.ask();
    });
    return {.operations = count_, .seconds = seconds};
  }

 private:
  Lane lane_;
  std::uint64_t count_;
};

class Posts final : public Load {
 public:
  explicit Posts(const LoadOptions& options) : count_(options.count) {}
  LoadFigures run() override {
    const double seconds = timed([&] {
      for (std::uint64_t call = 1; call <= count_; ++call) {
        lane_.post();
        if (call % kPostsPerWait == 0) lane_.wait();
      }
      lane_.wait();
    });
    return {.operations = count_, .seconds = seconds};
  }

 private:
  Lane lane_;
  std::uint64_t count_;
};

class Copies final : public Load {
 public:
  Copies(const LoadOptions& options, hipMemcpyKind kind)
      : kind_(kind), count_(options.count), bytes_(options.bytes), pageable_(options.pageable) {
    if (pageable_) {
      host_ = std::aligned_alloc(4096, (bytes_ + 4095) / 4096 * 4096);
      check(host_ != nullptr ? hipSuccess : hipErrorOutOfMemory, "aligned_alloc");
    } else {
      TF_CHECK(hipHostMalloc(&host_, bytes_, hipHostMallocDefault));
    }
    std::memset(host_, 1, bytes_);
    TF_CHECK(hipMalloc(&device_, bytes_));
    copy();
  }
  ~Copies() override {
    (void)hipFree(device_);
    if (pageable_) {
      std::free(host_);
    } else {
      (void)hipHostFree(host_);
    }
  }
  LoadFigures run() override {
    const double seconds = timed([&] {
      for (std::uint64_t done = 0; done < count_; ++done) copy();
    });
    return {.operations = count_, .bytes = count_ * bytes_, .seconds = seconds};
  }

 private:
  void copy() {
    const bool up = kind_ == hipMemcpyHostToDevice;
    TF_CHECK(hipMemcpy(up ? device_ : host_, up ? host_ : device_, bytes_, kind_));
    if (up) TF_CHECK(hipDeviceSynchronize());
  }

  hipMemcpyKind kind_;
  std::uint64_t count_;
  std::uint64_t bytes_;
  bool pageable_;
  void* host_ = nullptr;
  void* device_ = nullptr;
};

// Threads that post at the same time, each on a stream of its own.
class Threads final : public Load {
 public:
  explicit Threads(const LoadOptions& options) : seconds_(options.seconds), lanes_(options.threads) {}
  LoadFigures run() override {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> posted{0};
    std::vector<std::thread> threads;
    const auto start = std::chrono::steady_clock::now();
    for (Lane& lane : lanes_) threads.emplace_back([&] { posted += post_until(lane, stop); });
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_));
    stop.store(true, std::memory_order_relaxed);
    for (std::thread& thread : threads) thread.join();
    return {.operations = posted.load(), .seconds = seconds_since(start)};
  }

 private:
  static std::uint64_t post_until(Lane& lane, const std::atomic<bool>& stop) {
    std::uint64_t posted = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      for (std::uint64_t call = 0; call < kPostsPerWait; ++call) lane.post();
      lane.wait();
      posted += kPostsPerWait;
    }
    return posted;
  }

  double seconds_;
  std::vector<Lane> lanes_;
};

// What a program does all day: post some work, wait for it.
class Steps final : public Load {
 public:
  explicit Steps(const LoadOptions& options) : seconds_(options.seconds) {}
  LoadFigures run() override {
    Samples steps = repeat(seconds_, 1, SIZE_MAX, [&] {
      for (int call = 0; call < kPostsPerStep; ++call) lane_.post();
      lane_.wait();
    });
    return {.operations = steps.count(),
            .seconds = seconds_,
            .p50_ns = steps.median() * 1e9,
            .p99_ns = steps.quantile(0.99) * 1e9};
  }

 private:
  Lane lane_;
  double seconds_;
};

}  // namespace

const std::vector<LoadKind>& load_kinds() {
  static const std::vector<LoadKind> kinds = [] {
    std::vector<LoadKind> found{
        {"idle", [](const LoadOptions& options) -> Load* { return new Idle(options); }},
        {"calls", [](const LoadOptions& options) -> Load* { return new Calls(options); }},
        {"posts", [](const LoadOptions& options) -> Load* { return new Posts(options); }},
        {"h2d",
         [](const LoadOptions& options) -> Load* { return new Copies(options, hipMemcpyHostToDevice); }},
        {"d2h",
         [](const LoadOptions& options) -> Load* { return new Copies(options, hipMemcpyDeviceToHost); }},
        {"threads", [](const LoadOptions& options) -> Load* { return new Threads(options); }},
        {"steps", [](const LoadOptions& options) -> Load* { return new Steps(options); }},
        {"compute", make_compute},
        {"turns", make_turns},
    };
    for (const LoadKind& kind : grid_loads()) found.push_back(kind);
    return found;
  }();
  return kinds;
}

}  // namespace tf::bench
