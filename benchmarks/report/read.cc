// SPDX-License-Identifier: Apache-2.0
// Reads what to_json() writes: flat objects, no escapes, one a line.
#include <cstdlib>
#include <istream>

#include "benchmarks/report/report.h"

namespace tf::bench {
namespace {

std::string field(const std::string& line, const std::string& key) {
  std::size_t at = line.find("\"" + key + "\":");
  if (at == std::string::npos) return {};
  at += key.size() + 3;
  if (at < line.size() && line[at] == '"') return line.substr(at + 1, line.find('"', at + 1) - at - 1);
  return line.substr(at, line.find_first_of(",}", at) - at);
}

double number(const std::string& line, const std::string& key) {
  return std::strtod(field(line, key).c_str(), nullptr);  // null reads as 0: none
}

}  // namespace

std::vector<Row> read_rows(std::istream& in) {
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('{')) continue;
    rows.push_back({field(line, "bench"), field(line, "transport"), field(line, "metric"),
                    std::strtoull(field(line, "bytes").c_str(), nullptr, 10), number(line, "value"),
                    field(line, "unit"), number(line, "p50"), number(line, "p99"), number(line, "limit"),
                    field(line, "limit_name")});
  }
  return rows;
}

}  // namespace tf::bench
