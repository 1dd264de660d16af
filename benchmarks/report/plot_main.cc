// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "benchmarks/report/report.h"

int main(int argc, char** argv) {
  std::string title;
  std::string unit = "GB/s";
  std::string path;
  CLI::App app{"bench_plot: draws rows of the benchmarks (JSON lines on standard input) over their size"};
  app.add_option("--title", title, "Written above the plot");
  app.add_option("--unit", unit, "Which rows: GB/s (default) or ns");
  app.add_option("output", path, "SVG file")->required();
  app.footer("Example: transport_bench --json | bench_plot --title shm bandwidth.svg");
  CLI11_PARSE(app, argc, argv);
  if (tf::bench::write_plot(path, title, tf::bench::read_rows(std::cin), unit)) return 0;
  std::fprintf(stderr, "bench_plot: no rows in %s, or cannot write %s\n", unit.c_str(), path.c_str());
  return 1;
}
