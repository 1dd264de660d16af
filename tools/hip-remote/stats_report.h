// SPDX-License-Identifier: Apache-2.0
// Reports the counts of a run: a table for people, JSON for machines. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/stats/record.h"

namespace tf::tools {

struct RunCounts {
  std::vector<proxy::stats::Record> records;  // one for each process that called HIP
  std::size_t left_out = 0;                   // records beyond kRecordsMax, or unreadable ones
  double wall_s = 0;
};

std::string stats_table(const RunCounts& run);
std::string stats_json(const RunCounts& run);

}  // namespace tf::tools
