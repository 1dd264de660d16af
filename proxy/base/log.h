// SPDX-License-Identifier: Apache-2.0
// The library's messages to its user: single lines on standard error, each written with one writev(2). Any
// thread. Allocates nothing, and does not touch the application's streams.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

#include "transport/base/mutex.h"

namespace tf::proxy {

// "hip-remote: <text>"
void log_line(std::string_view text);

// The same, if TF_DEBUG is on.
void log_debug(std::string_view text);
// For texts that are expensive to build.
bool is_debug();
void set_debug(bool on);

// Prints only the first time, in whichever thread.
class LogOnce {
 public:
  void line(std::string_view text) {
    // relaxed: only decides who prints; publishes nothing else
    if (!done_.exchange(true, std::memory_order_relaxed)) log_line(text);
  }
  // Prints nothing from now on.
  void silence() { done_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> done_{false};
};

// Prints each text only the first time, in whichever thread, and at most kTextsMax of them.
class LogEachOnce {
 public:
  static constexpr std::size_t kTextsMax = 8;
  void line(std::string_view text);

 private:
  Mutex mutex_;
  std::array<std::size_t, kTextsMax> told_ TF_GUARDED_BY(mutex_){};  // hashes
  std::size_t count_ TF_GUARDED_BY(mutex_) = 0;
};

}  // namespace tf::proxy
