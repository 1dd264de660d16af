// SPDX-License-Identifier: Apache-2.0
#include "tools/hip-remote/stats.h"

#include <fmt/core.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "tools/hip-remote/stats_report.h"

namespace tf::tools {
namespace {

RunCounts collect(const std::string& directory) {
  RunCounts run;
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    Result<proxy::stats::Record> record = proxy::stats::read_record(path);
    if (record && run.records.size() < kRecordsMax)
      run.records.push_back(*record);
    else
      ++run.left_out;
  }
  std::sort(run.records.begin(), run.records.end(),
            [](const auto& one, const auto& other) { return one.started_ns < other.started_ns; });
  return run;
}

}  // namespace

Result<Stats> Stats::make() {
  Stats stats;
  std::string pattern = (std::filesystem::temp_directory_path() / "hip-remote-stats-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return Status::from_errno("mkdtemp " + pattern, errno);
  stats.directory_ = pattern;
  stats.started_ = std::chrono::steady_clock::now();
  return stats;
}

Stats::Stats(Stats&& other) noexcept
    : directory_(std::exchange(other.directory_, {})), started_(other.started_) {}

Stats::~Stats() {
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Status Stats::report(const std::string& where) const {
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  RunCounts run = collect(directory_);
  run.wall_s = wall_s;
  if (where == "-") {
    std::fputs(stats_table(run).c_str(), stderr);
    return Status::ok();
  }
  std::ofstream file(where);
  file << stats_json(run) << '\n';
  file.close();
  if (!file) return {Code::kUnavailable, "--stats=" + where + " cannot be written"};
  return Status::ok();
}

}  // namespace tf::tools
