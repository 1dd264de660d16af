// SPDX-License-Identifier: Apache-2.0
// The table of a run, for people.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "benchmarks/report/report.h"
#include "benchmarks/report/words.h"

namespace tf::bench {
namespace {

constexpr double kOutlier = 10;  // times worse than the median: named

using Cells = std::vector<std::string>;

// How many times worse the slowest hundredth is.
double tail_ratio(const Row& row) {
  if (row.value <= 0 || row.p99 <= 0) return 1;
  return more_is_better(row.unit) ? row.value / row.p99 : row.p99 / row.value;
}

Cells cells_of(const Row& row) {
  const Scale scale = scale_for(row.unit, row.metric, row.value);
  const auto shown = [&](double value) { return digits(value / scale.divisor); };
  return {row.transport,
          row.metric,
          bytes_text(row.bytes),
          shown(row.value),
          shown(row.p99) + (tail_ratio(row) >= kOutlier ? " *" : "  "),
          row.limit > 0 ? shown(row.limit) : "-",
          scale.unit,
          row.limit > 0 ? digits(row.value / row.limit) : "-",
          row.limit_name};
}

void print_cells(const Cells& cells, const std::vector<std::size_t>& widths) {
  constexpr std::size_t kLeft[] = {0, 1, 6, 8};  // columns of words
  std::string line;
  for (std::size_t column = 0; column < cells.size(); ++column) {
    const bool left = std::ranges::find(kLeft, column) != std::end(kLeft);
    const std::string blanks(widths[column] - cells[column].size(), ' ');
    line += (left ? cells[column] + blanks : blanks + cells[column]) + "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  std::printf("%s\n", line.c_str());
}

void print_outliers(const std::vector<Row>& rows) {
  bool first = true;
  for (const Row& row : rows) {
    if (tail_ratio(row) < kOutlier) continue;
    if (std::exchange(first, false))
      std::printf("* the slowest hundredth is far from the median; other work on this machine does that:\n");
    const std::string size = row.bytes == 0 ? "" : " of " + bytes_text(row.bytes);
    std::printf("    %s %s%s: %s times\n", row.transport.c_str(), row.metric.c_str(), size.c_str(),
                digits(tail_ratio(row)).c_str());
  }
}

}  // namespace

void print_table(const std::vector<Row>& rows) {
  std::vector<Cells> lines = {
      {"transport", "metric", "size", "median", "slowest 1 %  ", "limit", "unit", "ratio", "limit is"}};
  for (const Row& row : rows) lines.push_back(cells_of(row));
  std::vector<std::size_t> widths(lines.front().size());
  for (const Cells& line : lines)
    for (std::size_t column = 0; column < line.size(); ++column)
      widths[column] = std::max(widths[column], line[column].size());
  for (const Cells& line : lines) print_cells(line, widths);
  std::printf(
      "Better is less of ns, us and ms, and more of bytes, calls, launches and messages a second.\n"
      "ratio = median / limit: 1 is as good as the limit.\n");
  print_outliers(rows);
}

}  // namespace tf::bench
