// SPDX-License-Identifier: Apache-2.0
// Reads /proc/cpuinfo, and turns time into ticks.
#include "worker/runtime/cpu/kernel/processor.h"

#include <cstdlib>
#include <fstream>
#include <string_view>

namespace tf::cpu {
namespace {

constexpr int kUnknownClock_khz = 1'000'000;
constexpr std::uint64_t kNsPerMs = 1'000'000;

int read_clock_khz() {
  const double megahertz = std::strtod(processor_fact("cpu MHz").c_str(), nullptr);
  return megahertz > 0.0 && megahertz < 1e6 ? static_cast<int>(megahertz * 1000.0) : kUnknownClock_khz;
}

}  // namespace

std::string processor_fact(const char* key) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(std::string_view(key)) || colon == std::string::npos) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

int clock_khz() {
  static const int khz = read_clock_khz();
  return khz;
}

std::uint64_t clock_ticks(std::uint64_t steady_ns) {
  const auto khz = static_cast<std::uint64_t>(clock_khz());
  return steady_ns / kNsPerMs * khz + steady_ns % kNsPerMs * khz / kNsPerMs;  // in two parts: no overflow
}

}  // namespace tf::cpu
