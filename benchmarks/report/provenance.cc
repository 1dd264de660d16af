// SPDX-License-Identifier: Apache-2.0
// Describes machine, memory, date and commit, for beside the figures.
#include "benchmarks/report/provenance.h"

#include <sched.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace tf::bench {
namespace {

// The rest of the first line of a file of /proc that starts so; empty: there is none.
std::string proc_field(const char* path, std::string_view start) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(start)) continue;
    const std::size_t colon = line.find(':');
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    if (colon != std::string::npos && value != std::string::npos) return line.substr(value);
  }
  return {};
}

std::uint64_t memory_field(std::string_view start) {
  std::istringstream field(proc_field("/proc/meminfo", start));
  std::uint64_t kib = 0;
  field >> kib;
  return kib * 1024;
}

int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  char text[16] = "?";
  if (::gmtime_r(&now, &day) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%d", &day);
  return text;
}

// What the build has noted beside the programs (benchmarks/CMakeLists.txt).
std::string commit() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::ifstream file(self.parent_path().parent_path() / "share" / "hip-remote" / "commit");
  std::string text;
  std::getline(file, text);
  return text.empty() ? "unknown" : text;
}

}  // namespace

std::string provenance() {
  char machine[64];
  const double gib = static_cast<double>(memory_field("MemTotal")) / (1 << 30);
  std::snprintf(machine, sizeof machine, ", %d processors, %.1f GiB of memory; ", processors(), gib);
  return proc_field("/proc/cpuinfo", "model name") + machine + today() + "; hip-remote commit " + commit();
}

std::uint64_t available_memory() { return memory_field("MemAvailable"); }

}  // namespace tf::bench
