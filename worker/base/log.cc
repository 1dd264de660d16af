// SPDX-License-Identifier: Apache-2.0
// Writes log lines in one of the forms.
#include "worker/base/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "worker/base/printable.h"

namespace tf::worker {
namespace {

constexpr std::size_t kTextBytesMax = kLogLineBytesMax - 4;  // without the priority and the newline
constexpr std::size_t kFieldBytesMax = 512;                  // of one value, escaped
constexpr std::size_t kFieldsBytesMax = kTextBytesMax / 2;   // of all of them; the others are left out

// Of the process's standard error. Set before there is a second thread.
std::atomic<LogForm> form_of_lines{LogForm::kText};
std::atomic<bool> has_priorities{false};

const char* name(LogLevel level) {
  switch (level) {
    case LogLevel::kError: return "error";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kInfo: return "info";
  }
  return "info";
}

// RFC 3339, in UTC.
std::string now() {
  using namespace std::chrono;
  const auto since = duration_cast<microseconds>(system_clock::now().time_since_epoch());
  const std::time_t seconds = static_cast<std::time_t>(since.count() / 1'000'000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, since.count() % 1'000'000);
}

// Needs no quotation marks in a line of text.
bool is_plain(std::string_view text) {
  return !text.empty() && text.size() < kFieldBytesMax && std::ranges::all_of(text, [](unsigned char letter) {
    return std::isalnum(letter) != 0 ||
           std::string_view("-_.:,/+@%[]=").find(letter) != std::string_view::npos;
  });
}

std::string show(const LogField::Value& value, LogForm form) {
  if (const auto* const count = std::get_if<std::uint64_t>(&value)) return fmt::format("{}", *count);
  if (const auto* const amount = std::get_if<double>(&value)) return fmt::format("{:.6f}", *amount);
  const std::string_view text = std::get<std::string_view>(value);
  return form != LogForm::kJson && is_plain(text) ? std::string(text) : quoted(text, kFieldBytesMax);
}

std::string show(std::span<const LogField> fields, LogForm form) {
  std::string shown;
  for (const LogField& field : fields) {
    const std::string value = show(field.value, form);
    std::string one = form == LogForm::kJson ? fmt::format(",\"{}\":{}", field.name, value)
                                             : fmt::format(" {}={}", field.name, value);
    if (shown.size() + one.size() <= kFieldsBytesMax) shown += one;
  }
  return shown;
}

}  // namespace

void set_log_style(LogForm form, bool priorities) {
  form_of_lines.store(form, std::memory_order_relaxed);
  has_priorities.store(priorities, std::memory_order_relaxed);
}

bool goes_to_journal() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat status = {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

std::string compose(LogForm form, LogLevel level, pid_t process, std::string_view message,
                    std::span<const LogField> fields) {
  const std::string shown = show(fields, form);
  if (form == LogForm::kJson) {
    std::string line =
        fmt::format(R"({{"time":"{}","level":"{}","process":{},"message":)", now(), name(level), process);
    return line + quoted(message, kTextBytesMax - line.size() - shown.size() - 1) + shown + "}";
  }
  std::string line = form == LogForm::kText ? fmt::format("hip-worker[{}]: ", process) : "";
  line += printable(message);
  fit(line, kTextBytesMax - shown.size());
  return line + shown;
}

void write_log(LogLevel level, pid_t process, std::string_view message, std::span<const LogField> fields) {
  const LogForm form = form_of_lines.load(std::memory_order_relaxed);
  std::string line;
  if (has_priorities.load(std::memory_order_relaxed)) line = fmt::format("<{}>", static_cast<int>(level));
  line += compose(form, level, process, message, fields);
  line += '\n';
  // A log that cannot be written is not a failure.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void log_line(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  write_log(level, ::getpid(), message, fields);
}

}  // namespace tf::worker
