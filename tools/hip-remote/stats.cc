// SPDX-License-Identifier: Apache-2.0
// Collects the statistics files of a run.
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
            [](const auto& one, const auto& other) { return one.started < other.started; });
  return run;
}

Status check_written(const std::string& where, bool good) {
  if (good) return Status::ok();
  return {Code::kUnavailable, "--stats=" + where + " cannot be written"};
}

}  // namespace

Result<Stats> Stats::make(const std::string& where) {
  Stats stats;
  stats.where_ = where;
  if (where != "-")
    TF_RETURN_IF_ERROR(check_written(where, static_cast<bool>(std::ofstream(where, std::ios::app))));
  std::string pattern = (std::filesystem::temp_directory_path() / "hip-remote-stats-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return Status::from_errno("mkdtemp " + pattern, errno);
  stats.directory_ = pattern;
  stats.started_ = std::chrono::steady_clock::now();
  return stats;
}

Stats::Stats(Stats&& other) noexcept
    : where_(std::move(other.where_)),
      directory_(std::exchange(other.directory_, {})),
      started_(other.started_) {}

Stats::~Stats() {
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Status Stats::report() const {
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  RunCounts run = collect(directory_);
  run.wall_s = wall_s;
  if (where_ == "-") {
    std::fputs(stats_table(run).c_str(), stderr);
    return Status::ok();
  }
  std::ofstream file(where_);
  file << stats_json(run) << '\n';
  file.close();
  return check_written(where_, static_cast<bool>(file));
}

}  // namespace tf::tools
