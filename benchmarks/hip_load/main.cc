// SPDX-License-Identifier: Apache-2.0
// hip_load: runs one load, and prints its rate and processor time.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "benchmarks/hip_load/loads.h"
#include "benchmarks/usage.h"

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
  if (load == nullptr) return 2;
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

}  // namespace

void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "hip_load: %s failed: %s (%d)\n", what, hipGetErrorString(error),
               static_cast<int>(error));
  std::_Exit(1);
}

}  // namespace tf::bench

int main(int argc, char** argv) {
  tf::bench::LoadOptions options;
  CLI::App app{
      "hip_load: puts one kind of load on whatever libamdhip64 it finds and prints what it cost this "
      "process,\n"
      "as one JSON object"};
  std::vector<std::string> names;
  std::string footer = "Loads:\n";
  for (const tf::bench::LoadKind& kind : tf::bench::load_kinds()) {
    names.emplace_back(kind.name);
    footer += "  " + names.back() + std::string(10 - names.back().size(), ' ') + kind.help + "\n";
  }
  app.footer(footer);
  app.add_option("load", options.load, "What to do; see below")->required()->check(CLI::IsMember(names));
  app.add_option("--count", options.count, "Calls, posts or copies (default 100000)");
  app.add_option("--bytes", options.bytes, "Bytes of one copy (default 1 MiB)")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "How long, where there is no count (default 2)");
  app.add_option("--threads", options.threads, "Threads that post (default 1)")->check(CLI::Range(1, 64));
  app.add_flag("--pageable", options.pageable, "Copy from and to malloc'ed memory, not hipHostMalloc");
  app.add_flag("--gate", options.gate,
               "Print \"ready\", run after a line on standard input, end after another");
  if (const std::optional<int> over = tf::bench::parse_command_line(app, argc, argv)) return *over;
  return tf::bench::run(options);
}
