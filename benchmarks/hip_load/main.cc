// SPDX-License-Identifier: Apache-2.0
// hip_load: runs one load, and prints its rate and processor time.
#include <sys/resource.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "benchmarks/hip_load/loads.h"
#include "benchmarks/usage.h"
#include "reference/gen/programs.h"

namespace tf::bench {
namespace {

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void wait_for_line() {
  int character = 0;
  while ((character = std::getchar()) != '\n' && character != EOF) {
  }
}

void print(const LoadOptions& options, const LoadFigures& figures, double cpu) {
  std::printf("{\"bench\":\"hip_load\",\"load\":\"%s\",\"operations\":%" PRIu64 ",\"bytes\":%" PRIu64
              ",\"seconds\":%.6g,\"cpu_seconds\":%.6g,\"p50_ns\":%.6g,\"p99_ns\":%.6g}\n",
              options.load.c_str(), figures.operations, figures.bytes, figures.seconds, cpu, figures.p50_ns,
              figures.p99_ns);
  std::fflush(stdout);
}

std::unique_ptr<Load> create(const LoadOptions& options) {
  for (const LoadKind& kind : load_kinds()) {
    if (options.load == kind.name) return std::unique_ptr<Load>(kind.create(options));
  }
  return nullptr;
}

int run(const LoadOptions& options) {
  const std::unique_ptr<Load> load = create(options);
  if (load == nullptr) {
    std::fprintf(stderr, "hip_load: this build has no kernels for %s\n", options.load.c_str());
    return reference::kExitUsage;
  }
  if (options.gate) {
    std::printf("ready\n");
    std::fflush(stdout);
    wait_for_line();
  }
  const double before = cpu_seconds();
  const LoadFigures figures = load->run();
  print(options, figures, cpu_seconds() - before);
  if (options.gate) wait_for_line();
  return 0;
}

// The commands are the loads. An option has one name and one meaning in all that have it. False: it was
// reported what is wrong.
bool take(const reference::CommandLine& line, LoadOptions& options) {
  namespace about = reference::hip_load;
  options.load = line.command().name;
  options.count =
      static_cast<std::uint64_t>(line.number(about::h2d::kCount, static_cast<long>(options.count)));
  options.bytes =
      static_cast<std::uint64_t>(line.number(about::h2d::kBytes, static_cast<long>(options.bytes)));
  options.threads = static_cast<int>(line.number(about::threads::kThreads, options.threads));
  options.pageable = line.has(about::h2d::kPageable);
  options.gate = line.has(about::h2d::kGate);
  if (!line.has(about::steps::kSeconds)) return true;
  const std::string text = line.text(about::steps::kSeconds);
  const std::optional<double> seconds = positive(text);
  if (seconds)
    options.seconds = *seconds;
  else
    std::fprintf(stderr, "hip_load: --seconds %s: expected a number above 0\n", text.c_str());
  return seconds.has_value();
}

}  // namespace

void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "hip_load: %s failed: %s (%d)\n", what, hipGetErrorString(error),
               static_cast<int>(error));
  std::_Exit(1);
}

}  // namespace tf::bench

int main(int argc, char** argv) {
  tf::reference::CommandLine line(tf::reference::hip_load::kProgram);
  if (const std::optional<int> over = line.parse(argc, argv)) return *over;
  tf::bench::LoadOptions options;
  if (!tf::bench::take(line, options)) return tf::reference::kExitUsage;
  return tf::bench::run(options);
}
