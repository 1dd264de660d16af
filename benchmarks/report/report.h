// SPDX-License-Identifier: Apache-2.0
// A benchmark's output: one JSON object per line for machines, a table for people, a plot of bandwidth.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace tf::bench {

// One measured figure. `limit` is the physical limit or the native runtime, measured in the same run, in the
// same unit; 0 if there is none. ratio = value / limit.
struct Row {
  std::string bench;
  std::string transport;
  std::string metric;
  std::uint64_t bytes = 0;
  double value = 0;  // the median
  std::string unit;  // ns, us, 1/s, GB/s (1e9 bytes)
  double p50 = 0;
  double p99 = 0;
  double limit = 0;
  std::string limit_name;  // "memcpy", "cache-line ping-pong", "native", ...
  bool plot_only = false;  // a point of a curve, not shown in the table
};

std::string to_json(const Row& row);
// "4 KiB", "1 GiB"
std::string bytes_text(std::uint64_t bytes);

class Report {
 public:
  explicit Report(bool json) : json_(json) {}
  // Prints the row at once (JSON) or keeps it for the table; long runs say on stderr what is measured.
  void add(Row row);
  void finish();
  const std::vector<Row>& rows() const { return rows_; }

 private:
  bool json_;
  std::vector<Row> rows_;
};

// Says whether more or less is better, and names rows whose tail is far off.
void print_table(const std::vector<Row>& rows);

// Reads rows written by to_json(), one per line; ignores other lines.
std::vector<Row> read_rows(std::istream& in);

}  // namespace tf::bench
