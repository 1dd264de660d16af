// SPDX-License-Identifier: Apache-2.0
// hip_bench: measures HIP calls, natively or remotely. It links only libamdhip64.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "benchmarks/hip_bench/bench.h"
#include "benchmarks/report/plot.h"
#include "benchmarks/report/provenance.h"
#include "benchmarks/usage.h"
#include "reference/gen/programs.h"
#include "tcp/options.h"

namespace tf::bench {
Reference read_reference(const std::string& path) {
  Reference reference;
  std::ifstream file(path);
  for (const Row& row : read_rows(file)) reference[{row.metric, row.bytes}] = row.value;
  return reference;
}

Context::Context(const Options& options, Report& report) : options_(options), report_(report) {
  if (!options.limits_file.empty()) reference_ = read_reference(options.limits_file);
}

void Context::add(const std::string& metric, std::uint64_t bytes, const char* unit, double p50, double p99,
                  double limit, const char* limit_name) {
  if (!takes(metric)) return;  // its group was measured for another one
  Row row{"hip_bench", options_.transport, metric, bytes, p50, unit, p50, p99, limit, limit_name, plot_only_};
  if (auto native = reference_.find({metric, bytes}); limit <= 0 && native != reference_.end()) {
    row.limit = native->second;
    row.limit_name = "native";
  }
  report_.add(std::move(row));
}

unsigned Context::tcp_lanes() const {
  const char* const text = std::getenv("TF_TCP_LANES");
  const Result<unsigned> lanes = tcp::parse_payload_lanes(text == nullptr ? "" : text);
  return lanes ? lanes.value() : 1;
}

void Context::leave_out(const std::string& what) {
  std::fprintf(stderr, "hip_bench: %s\n", what.c_str());
  left_out_.push_back(what);
}

namespace {

bool write_copies(const Options& options, const Report& report, const Context& context) {
  PlotText text{"Copies between host and device over " + options.transport, {provenance()}};
  if (options.transport == "native") text.title = "Copies between host and device, natively";
  text.notes.insert(text.notes.end(), context.left_out().begin(), context.left_out().end());
  return write_plot(options.plot_file, text, report.rows());
}

void take(const reference::CommandLine& line, Options& options) {
  namespace about = reference::hip_bench;
  options.transport = line.text(about::kLabel, options.transport);
  options.json = line.has(about::kJson);
  options.quick = line.has(about::kQuick);
  options.bytes_max =
      static_cast<std::uint64_t>(line.number(about::kMaxBytes, static_cast<long>(options.bytes_max)));
  options.sizes = numbers(line, about::kSizes);
  options.limits_file = line.text(about::kLimits);
  options.plot_file = line.text(about::kPlot);
  options.metrics = line.list(about::kMetric);
  options.steps = line.has(about::kSteps);
  options.rtts = line.list(about::kRtt);
  options.rate = line.text(about::kRate);
}

void say_nothing_measured(const Options& options) {
  std::string asked;
  for (const std::string& metric : options.metrics) asked += (asked.empty() ? "'" : ", '") + metric + "'";
  std::fprintf(stderr, "hip_bench: no metric that was measured starts with %s; without --metric all are\n",
               asked.c_str());
}

}  // namespace

void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "hip_bench: %s failed: %s (%d)\n", what, hipGetErrorString(error),
               static_cast<int>(error));
  std::exit(1);
}

}  // namespace tf::bench

int main(int argc, char** argv) {
  tf::bench::Options options;
  if (const char* transport = std::getenv("TF_TRANSPORT"); transport != nullptr)
    options.transport = transport;
  tf::reference::CommandLine line(tf::reference::hip_bench::kProgram);
  if (const std::optional<int> over = line.parse(argc, argv)) return *over;
  tf::bench::take(line, options);
  if (!options.rtts.empty()) return tf::bench::measure_distances(options);

  int devices = 0;
  tf::bench::check(hipGetDeviceCount(&devices), "hipGetDeviceCount");
  tf::bench::Report report(options.json);
  tf::bench::Context context(options, report);
  if (options.steps) {
    tf::bench::measure_steps(context);
  } else {
    tf::bench::measure_calls(context);
    tf::bench::measure_launches(context);
    tf::bench::measure_copies(context);
  }
  report.finish();
  if (report.rows().empty()) {
    tf::bench::say_nothing_measured(options);
    return 2;
  }
  if (!options.plot_file.empty() && !tf::bench::write_copies(options, report, context)) {
    std::fprintf(stderr, "hip_bench: cannot write %s\n", options.plot_file.c_str());
    return 1;
  }
  return 0;
}
