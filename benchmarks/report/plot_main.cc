// SPDX-License-Identifier: Apache-2.0
// The program that turns JSON lines of results into plots.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/report/plot.h"
#include "benchmarks/report/provenance.h"
#include "benchmarks/usage.h"

int main(int argc, char** argv) {
  std::string title;
  std::string unit = "GB/s";
  std::string path;
  std::vector<std::string> notes;
  CLI::App app{"bench_plot: draws rows of the benchmarks (JSON lines on standard input) over their size"};
  app.add_option("--title", title, "Written above the plot");
  app.add_option("--unit", unit, "Which rows: GB/s (default) or ns")->check(CLI::IsMember({"GB/s", "ns"}));
  app.add_option("--note", notes, "A line below the title, as what is left out and why (may be repeated)");
  app.add_option("output", path, "SVG file")->required();
  app.footer("Example: transport_bench --json | bench_plot --title shm bandwidth.svg");
  if (const std::optional<int> over = tf::bench::parse_command_line(app, argc, argv)) return *over;
  notes.insert(notes.begin(), tf::bench::provenance());
  if (tf::bench::write_plot(path, {title, notes}, tf::bench::read_rows(std::cin), unit)) return 0;
  std::fprintf(stderr, "bench_plot: no rows in %s, or cannot write %s\n", unit.c_str(), path.c_str());
  return 1;
}
