// SPDX-License-Identifier: Apache-2.0
// hip_bench: measures HIP calls, natively or remotely. It links only libamdhip64.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "benchmarks/hip_bench/bench.h"
#include "benchmarks/report/plot.h"
#include "benchmarks/report/provenance.h"
#include "benchmarks/usage.h"

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
  Row row{"hip_bench", options_.transport, metric, bytes, p50, unit, p50, p99, limit, limit_name, plot_only_};
  if (auto native = reference_.find({metric, bytes}); limit <= 0 && native != reference_.end()) {
    row.limit = native->second;
    row.limit_name = "native";
  }
  report_.add(std::move(row));
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
  CLI::App app{
      "hip_bench: cost of HIP calls, launches and copies as the application sees them.\n"
      "Runs on whatever libamdhip64 it finds: the CPU runtime, a vendor's, or the hip-remote proxy."};
  app.add_option("--label", options.transport,
                 "Name of this run in the rows (default: TF_TRANSPORT, else native)");
  app.add_flag("--json", options.json, "One JSON object a line");
  app.add_flag("--quick", options.quick, "Fewer sizes, shorter samples");
  app.add_option("--max-bytes", options.bytes_max, "Largest copy (default 1 GiB)");
  app.add_option("--sizes", options.sizes, "Bytes of the copies, as 4096,1048576 (default: 64 B to 1 GiB)")
      ->delimiter(',');
  app.add_option("--limits", options.limits_file, "JSON lines of a native run: its values become the limits");
  app.add_option("--plot", options.plot_file, "Write bandwidth over size as an SVG file");
  app.add_option("--metric", options.metric, "Only metrics whose name starts with this");
  app.add_flag("--steps", options.steps, "What programs do and then wait for, instead of the other rows");
  CLI::Option* rtt =
      app.add_option("--rtt", options.rtts,
                     "The steps as if the worker were as far away: 5us,100us,1ms,30ms. Prints cost "
                     "against distance, and how many round trips each step has")
          ->delimiter(',');
  app.add_option("--rate", options.rate, "With --rtt: of the network, as 10Gbit (default: without limit)")
      ->needs(rtt);
  if (const std::optional<int> over = tf::bench::parse_command_line(app, argc, argv)) return *over;
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
  if (!options.plot_file.empty() && !tf::bench::write_copies(options, report, context)) {
    std::fprintf(stderr, "hip_bench: cannot write %s\n", options.plot_file.c_str());
    return 1;
  }
  return 0;
}
