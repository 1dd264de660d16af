// SPDX-License-Identifier: Apache-2.0
// What the benchmarks read from their command lines, besides tools/command_line.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "tools/command_line/command_line.h"

namespace tf::bench {

// Of an option with a range, which the command line has checked.
inline std::vector<std::uint64_t> numbers(const reference::CommandLine& line,
                                          const reference::Option& option) {
  std::vector<std::uint64_t> found;
  for (const std::string& text : line.list(option)) found.push_back(std::strtoull(text.c_str(), nullptr, 10));
  return found;
}

// "2.5"; none: no number above 0.
inline std::optional<double> positive(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size() && value > 0 && value < 1e9;
  return is_number ? std::optional(value) : std::nullopt;
}

}  // namespace tf::bench
