// SPDX-License-Identifier: Apache-2.0
// Writes log lines to standard error.
#include "proxy/base/log.h"

#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>

namespace tf::proxy {
namespace {

// relaxed everywhere: an independent switch
std::atomic<bool> debug_on{false};

// The program wrote nothing, so it must not get our SIGPIPE: blocked while we write, and consumed if we
// raised it.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    ::sigemptyset(&only_);
    ::sigaddset(&only_, SIGPIPE);
    sigset_t pending;
    was_pending_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGPIPE) == 1;
    blocked_ = ::pthread_sigmask(SIG_BLOCK, &only_, &before_) == 0;
  }
  ~WithoutSigpipe() {
    if (!blocked_) return;
    constexpr timespec kNow{};
    while (!was_pending_ && ::sigtimedwait(&only_, nullptr, &kNow) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t only_{};
  sigset_t before_{};
  bool was_pending_ = false;
  bool blocked_ = false;
};

}  // namespace

// None of our descriptors is below 3 (transport/net/fd.h), so descriptor 2 is what the program made it: its
// standard error, or nothing.
void log_line(std::string_view text) {
  char name[] = "hip-remote: ";
  char end[] = "\n";
  const iovec parts[] = {
      {name, sizeof name - 1}, {const_cast<char*>(text.data()), text.size()}, {end, sizeof end - 1}};
  const int error = errno;
  {
    const WithoutSigpipe held;
    // If standard error is closed, the application wants it so.
    [[maybe_unused]] ssize_t written = ::writev(STDERR_FILENO, parts, std::size(parts));
  }
  errno = error;
}

void log_debug(std::string_view text) {
  if (is_debug()) log_line(text);
}

bool is_debug() { return debug_on.load(std::memory_order_relaxed); }

void set_debug(bool on) { debug_on.store(on, std::memory_order_relaxed); }

void LogEachOnce::line(std::string_view text) {
  const std::size_t hash = std::hash<std::string_view>{}(text);
  {
    const MutexLock lock(mutex_);
    const auto end = told_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (count_ == told_.size() || std::find(told_.begin(), end, hash) != end) return;
    told_[count_++] = hash;
  }
  log_line(text);
}

}  // namespace tf::proxy
