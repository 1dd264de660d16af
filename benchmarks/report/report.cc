// SPDX-License-Identifier: Apache-2.0
// Prints results as JSON lines and tables.
#include "benchmarks/report/report.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>

namespace tf::bench {

std::string bytes_text(std::uint64_t bytes) {
  if (bytes == 0) return "-";
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit < 3) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + " " + kUnits[unit];
}

std::string to_json(const Row& row) {
  char text[640];
  char limit[96];
  if (row.limit > 0) {
    std::snprintf(limit, sizeof limit, "%.6g,\"ratio\":%.4g", row.limit, row.value / row.limit);
  } else {
    std::snprintf(limit, sizeof limit, "null,\"ratio\":null");
  }
  std::snprintf(
      text, sizeof text,
      "{\"bench\":\"%s\",\"transport\":\"%s\",\"metric\":\"%s\",\"bytes\":%" PRIu64
      ",\"value\":%.6g,\"unit\":\"%s\",\"p50\":%.6g,\"p99\":%.6g,\"limit\":%s,\"limit_name\":\"%s\"}",
      row.bench.c_str(), row.transport.c_str(), row.metric.c_str(), row.bytes, row.value, row.unit.c_str(),
      row.p50, row.p99, limit, row.limit_name.c_str());
  return text;
}

void Report::add(Row row) {
  if (json_) {
    std::printf("%s\n", to_json(row).c_str());
    std::fflush(stdout);
  } else if (::isatty(STDERR_FILENO) != 0) {
    std::fprintf(stderr, "\r  measured %-28s %-10s      ", row.metric.c_str(), bytes_text(row.bytes).c_str());
  }
  rows_.push_back(std::move(row));
}

void Report::finish() {
  if (json_) return;
  if (::isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r%60s\r", "");
  std::vector<Row> shown;
  for (const Row& row : rows_)
    if (!row.plot_only) shown.push_back(row);
  print_table(shown);
}

}  // namespace tf::bench
