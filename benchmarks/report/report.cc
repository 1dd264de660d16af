// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/report/report.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>

namespace tf::bench {
namespace {

std::string number(double value) {
  char text[32];
  if (value >= 1e6) {
    std::snprintf(text, sizeof text, "%.2fM", value / 1e6);
  } else if (value >= 1000) {
    std::snprintf(text, sizeof text, "%.0f", value);
  } else {
    std::snprintf(text, sizeof text, "%.3g", value);
  }
  return text;
}

}  // namespace

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
  print_table();
}

void Report::print_table() const {
  std::printf("%-10s %-26s %9s %10s %-5s %10s %10s %7s  %s\n", "transport", "metric", "size", "median",
              "unit", "p99", "limit", "ratio", "limit is");
  for (const Row& row : rows_) {
    std::string limit = row.limit > 0 ? number(row.limit) : "-";
    std::string ratio = row.limit > 0 ? number(row.value / row.limit) : "-";
    std::printf("%-10s %-26s %9s %10s %-5s %10s %10s %7s  %s\n", row.transport.c_str(), row.metric.c_str(),
                bytes_text(row.bytes).c_str(), number(row.value).c_str(), row.unit.c_str(),
                number(row.p99).c_str(), limit.c_str(), ratio.c_str(), row.limit_name.c_str());
  }
}

}  // namespace tf::bench
