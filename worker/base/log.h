// SPDX-License-Identifier: Apache-2.0
// Log lines of hip-worker: one write to stderr per line, so that lines of several processes do not mix. Any
// thread.
//
// Words of strangers come into lines (names of programs, of kernels, of transports that there are not), so no
// line holds control characters, and none is longer than a pipe takes at once.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace tf::worker {

inline constexpr std::size_t kLogLineBytesMax = 4096;  // with its newline: PIPE_BUF, see pipe(7)

// `text` with what is no printable character of UTF-8 written as \xNN.
std::string printable(std::string_view text);

void log_line(std::string_view text);

template <typename... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  log_line(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tf::worker
