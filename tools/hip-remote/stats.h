// SPDX-License-Identifier: Apache-2.0
// Stats: what the processes of one run counted (TF_STATS, proxy/stats), combined into one report.
#pragma once

#include <chrono>
#include <string>

#include "transport/base/status.h"

namespace tf::tools {

inline constexpr std::size_t kRecordsMax = 1024;  // processes that one report covers

class Stats {
 public:
  // Makes the directory for the records, and notes the time: the run begins. `where`: the report's
  // destination, "-" for a table on standard error, else a file for JSON. A file that cannot be written is
  // reported now, not after the run.
  static Result<Stats> make(const std::string& where);
  Stats(Stats&& other) noexcept;
  Stats& operator=(Stats&&) = delete;
  ~Stats();  // removes the directory; a running process keeps its unlinked file

  const std::string& directory() const { return directory_; }
  // The run has ended.
  Status report() const;

 private:
  Stats() = default;

  std::string where_;
  std::string directory_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace tf::tools
