// SPDX-License-Identifier: Apache-2.0
// hip_bench measures HIP calls as an application sees them. It links nothing but libamdhip64, so the same
// binary runs natively on a runtime library or remotely through the proxy. One thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/report/report.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {

struct Options {
  std::string transport = "native";  // label of the rows
  bool json = false;
  bool quick = false;
  std::uint64_t bytes_max = std::uint64_t{1} << 30;
  std::vector<std::uint64_t> sizes;  // of copies; empty: our own choice
  std::string limits_file;           // JSON lines of a native run: their values become the limits
  std::string plot_file;
  std::vector<std::string> metrics;  // only those whose names start with one of these; empty: all
  bool steps = false;                // the steps of programs, instead of the other groups
  std::vector<std::string> rtts;     // distances to run the steps at: "100us"; empty: none
  std::string rate;                  // of the network between, "10Gbit"; empty: unlimited
};

// Values of another run by (metric, bytes).
using Reference = std::map<std::pair<std::string, std::uint64_t>, double>;
Reference read_reference(const std::string& path);

// What the groups of measurements need: where rows go, which are wanted, and the limits measured so far.
class Context {
 public:
  Context(const Options& options, Report& report);

  const Options& options() const { return options_; }
  // Whether a metric was asked for, or one of those whose names start so.
  bool wants(const std::string& metric) const {
    return takes(metric) || std::ranges::any_of(options_.metrics, [&](const std::string& asked) {
             return asked.starts_with(metric);
           });
  }
  // Whether the rows of a metric were asked for.
  bool takes(const std::string& metric) const {
    return options_.metrics.empty() || std::ranges::any_of(options_.metrics, [&](const std::string& asked) {
             return metric.starts_with(asked);
           });
  }
  double budget_s() const { return options_.quick ? 0.05 : 0.4; }
  // Adds a row, if it was asked for; the limit is `limit` if positive, else the native figure of --limits.
  void add(const std::string& metric, std::uint64_t bytes, const char* unit, double p50, double p99,
           double limit = 0, const char* limit_name = "");
  // From now on rows are points of the plot's curves only.
  void plot_only(bool on) { plot_only_ = on; }
  // Notes what was not measured, and why, on standard error and in the plot.
  void leave_out(const std::string& what);
  const std::vector<std::string>& left_out() const { return left_out_; }
  bool over_tcp() const { return options_.transport == "tcp"; }
  // How many connections carry the payload of a copy: the limit has as many.
  unsigned tcp_lanes() const;

 private:
  const Options& options_;
  Report& report_;
  Reference reference_;
  bool plot_only_ = false;
  std::vector<std::string> left_out_;
};

// Ends the program with a message when `error` is not success. A benchmark has nothing to save.
void check(hipError_t error, const char* what);
#define TF_CHECK(call) ::tf::bench::check((call), #call)

// A call that cannot be answered without the worker.
inline void ask_worker() {
  hipSharedMemConfig config = hipSharedMemBankSizeDefault;
  TF_CHECK(hipDeviceGetSharedMemConfig(&config));
}

// Posts batches with `post` and waits for each: what a call costs the caller ("NAME_caller"), and how fast
// the stream executes them ("NAME_drained").
template <typename Post>
void posted_calls(Context& context, const std::string& name, std::uint64_t bytes, hipStream_t stream,
                  Post&& post) {
  constexpr int kBatch = 1000;
  Samples caller;
  Samples rate;
  const int rounds = context.options().quick ? 20 : 100;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < kBatch; ++call) post();
    caller.add(seconds_since(start) / kBatch);
    TF_CHECK(hipStreamSynchronize(stream));
    rate.add(kBatch / seconds_since(start));
  }
  context.add(name + "_caller", bytes, "ns", caller.median() * 1e9, caller.quantile(0.99) * 1e9);
  context.add(name + "_drained", bytes, "1/s", rate.median(), rate.quantile(0.01));
}

void measure_calls(Context& context);
void measure_launches(Context& context);
void measure_copies(Context& context);
// Typical steps of programs that end with a wait, a few times each, however long a round trip takes. Rows in
// ns.
void measure_steps(Context& context);

// An empty kernel with four arguments.
class EmptyKernel {
 public:
  explicit EmptyKernel(hipStream_t stream);
  EmptyKernel(const EmptyKernel&) = delete;
  EmptyKernel& operator=(const EmptyKernel&) = delete;
  ~EmptyKernel();
  void launch();

 private:
  hipStream_t stream_;
  hipModule_t module_ = nullptr;
  hipFunction_t function_ = nullptr;
  void* memory_ = nullptr;
};

// Runs the steps in a process of its own at each distance (TF_SHAPE), and prints cost against distance.
// Returns the exit code.
int measure_distances(const Options& options);

}  // namespace tf::bench
