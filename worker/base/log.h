// SPDX-License-Identifier: Apache-2.0
// Log lines of hip-worker: one write to stderr per line, so that lines of several processes do not mix. Any
// thread.
//
// Lines contain words from clients (names of programs, kernels, unknown transports). So no line holds control
// characters, each is valid UTF-8, and none is longer than one write to a pipe takes.
#pragma once

#include <fmt/format.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tf::worker {

inline constexpr std::size_t kLogLineBytesMax = 4096;  // with its newline: PIPE_BUF, see pipe(7)

// The numbers are syslog(3)'s.
enum class LogLevel : std::uint8_t { kError = 3, kWarning = 4, kInfo = 6 };

enum class LogForm : std::uint8_t {
  kText,  // "hip-worker[PID]: MESSAGE NAME=VALUE"
  kJson,  // one object
  kBare   // of a session process, for its supervisor: the message and the fields
};

// What a line tells besides its message. The name is a word of ours; the value lives as long as the call.
struct LogField {
  using Value = std::variant<std::string_view, std::uint64_t, double>;
  std::string_view name;
  Value value;
};

// For all lines from now on. `priorities`: each begins with "<LEVEL>", as sd-daemon(3) says. REQUIRES: no
// other thread runs.
void set_log_style(LogForm form, bool priorities);

// Whether standard error is the journal's (JOURNAL_STREAM, systemd.exec(5)).
bool goes_to_journal();

// A line without priority and newline.
std::string compose(LogForm form, LogLevel level, pid_t process, std::string_view message,
                    std::span<const LogField> fields);

// A line that another process has to say.
void write_log(LogLevel level, pid_t process, std::string_view message,
               std::span<const LogField> fields = {});
// A line of this process.
void log_line(LogLevel level, std::string_view message, std::span<const LogField> fields = {});

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tf::worker
