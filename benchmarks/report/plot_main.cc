// SPDX-License-Identifier: Apache-2.0
// The program that turns JSON lines of results into plots.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "benchmarks/report/plot.h"
#include "benchmarks/report/provenance.h"
#include "reference/gen/programs.h"
#include "tools/command_line/command_line.h"

int main(int argc, char** argv) {
  namespace about = tf::reference::bench_plot;
  tf::reference::CommandLine line(about::kProgram);
  if (const std::optional<int> over = line.parse(argc, argv)) return *over;
  if (line.rest().size() != 1) {
    std::fprintf(stderr, "bench_plot: expected one FILE to write to\nTry 'bench_plot --help'.\n");
    return tf::reference::kExitUsage;
  }
  const std::string& path = line.rest().front();
  const std::string unit = line.text(about::kUnit, "GB/s");
  std::vector<std::string> notes = {tf::bench::provenance()};
  if (line.has(about::kNote)) notes.push_back(line.text(about::kNote));
  std::ifstream input("/dev/stdin");
  const std::vector<tf::bench::Row> rows = tf::bench::read_rows(input);
  if (tf::bench::write_plot(path, {line.text(about::kTitle), notes}, rows, unit)) return 0;
  std::fprintf(stderr, "bench_plot: no rows in %s, or cannot write %s\n", unit.c_str(), path.c_str());
  return 1;
}
