// SPDX-License-Identifier: Apache-2.0
// Reads the environment, and forgets it.
#include "worker/supervisor/taken_variables.h"

#include <charconv>
#include <cstdlib>

namespace tf::worker {

std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string text = value != nullptr ? value : "";
  ::unsetenv(name);
  return text;
}

std::optional<std::int64_t> positive_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

}  // namespace tf::worker
