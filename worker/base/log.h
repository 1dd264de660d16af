// SPDX-License-Identifier: Apache-2.0
// Log lines of hip-worker: one write to stderr per line, so that lines of several processes do not mix. Any
// thread.
//
// Lines contain words from clients (names of programs, kernels, unknown transports). So no line holds control
// characters, and none is longer than one write to a pipe takes.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace tf::worker {

inline constexpr std::size_t kLogLineBytesMax = 4096;  // with its newline: PIPE_BUF, see pipe(7)

// `text`, with everything that is not a printable UTF-8 character written as \xNN.
std::string printable(std::string_view text);

void log_line(std::string_view text);

template <typename... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  log_line(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tf::worker
