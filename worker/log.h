// SPDX-License-Identifier: Apache-2.0
// Log lines of hip-worker: one write to stderr per line, so that lines of several processes do not mix. Any
// thread.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace tf::worker {

inline void log_line(std::string_view text) {
  std::string line = fmt::format("hip-worker[{}]: {}\n", ::getpid(), text);
  // A log that cannot be written is nobody's failure.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

template <typename... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  log_line(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tf::worker
