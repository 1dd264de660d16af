// SPDX-License-Identifier: Apache-2.0
// SessionLog: what a session process writes to its standard error, on its way to the worker's log. The
// process runs what its client makes it run, so it does not have the log itself: it could write lines as the
// supervisor, or without end. Belongs to the supervisor.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "transport/base/status.h"
#include "transport/net/fd.h"
#include "worker/base/log_limit.h"

namespace tf::worker {

inline constexpr unsigned kSessionLogBurst = 1000;                  // lines of one session process at once
inline constexpr std::chrono::milliseconds kSessionLogPeriod{100};  // then one per period
inline constexpr std::size_t kSessionLogBytesPerTurn = 64 << 10;    // read of one at once

class SessionLog {
 public:
  // `end`: what becomes the process's standard error.
  static Result<SessionLog> make(net::OwnedFd& end);

  // To be polled for reading; negative: the process has closed it.
  int descriptor() const { return pipe_.get(); }
  // Writes the lines that have come. Never blocks.
  void relay(pid_t process);
  // The same, and what lies behind the last newline: the process has ended.
  void finish(pid_t process);

 private:
  void take(pid_t process, std::string_view text);
  void write(pid_t process, std::string_view line);

  net::OwnedFd pipe_;
  std::string rest_;     // of a line that is not complete, at most kLogLineBytesMax
  bool is_cut_ = false;  // the rest of that line is thrown away
  LogLimit limit_{"of a session", kSessionLogBurst, kSessionLogPeriod};
};

}  // namespace tf::worker
