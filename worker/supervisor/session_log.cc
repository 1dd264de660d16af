// SPDX-License-Identifier: Apache-2.0
// Reads lines of session processes, and writes them with the process's number.
#include "worker/supervisor/session_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace tf::worker {
namespace {

// "<N>" before a line, as log_line() puts it there. Other lines (of a runtime, of the C library) are
// warnings.
LogLevel take_level(std::string_view& line) {
  if (line.size() < 3 || line[0] != '<' || line[2] != '>') return LogLevel::kWarning;
  const char digit = line[1];
  for (const LogLevel level : {LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo}) {
    if (digit != '0' + static_cast<int>(level)) continue;
    line.remove_prefix(3);
    return level;
  }
  return LogLevel::kWarning;
}

}  // namespace

Result<SessionLog> SessionLog::make(net::OwnedFd& end) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return Status::from_errno("pipe", errno);
  SessionLog log;
  log.pipe_ = net::OwnedFd(ends[0]);
  end = net::OwnedFd(ends[1]);
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return Status::from_errno("fcntl", errno);
  return log;
}

void SessionLog::relay(pid_t process) {
  std::array<char, 4096> bytes;
  for (std::size_t read = 0; pipe_ && read < kSessionLogBytesPerTurn;) {
    const ssize_t got = ::read(pipe_.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return pipe_.reset();
    read += static_cast<std::size_t>(got);
    take(process, {bytes.data(), static_cast<std::size_t>(got)});
  }
}

void SessionLog::finish(pid_t process) {
  relay(process);
  if (!rest_.empty()) write(process, std::exchange(rest_, {}));
  limit_.tell_left_out();
  pipe_.reset();
}

void SessionLog::take(pid_t process, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view part = text.substr(0, end);
    if (!is_cut_) rest_ += part.substr(0, kLogLineBytesMax - rest_.size());
    is_cut_ = is_cut_ || rest_.size() == kLogLineBytesMax;
    if (end == std::string_view::npos) return;
    if (!rest_.empty()) write(process, rest_);
    rest_.clear();
    is_cut_ = false;
    text.remove_prefix(end + 1);
  }
}

void SessionLog::write(pid_t process, std::string_view line) {
  if (!limit_.allow(LogLimit::Clock::now())) return;
  limit_.tell_left_out();
  const LogLevel level = take_level(line);
  const LogField from[] = {{"from", "session"}};
  write_log(level, process, line, from);
}

}  // namespace tf::worker
