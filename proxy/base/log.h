// SPDX-License-Identifier: Apache-2.0
// What the library tells its user: single lines on standard error, each written with one write(2).
// Any thread; nothing else of the application's streams is touched.
#pragma once

#include <atomic>
#include <string_view>

namespace tf::proxy {

// "hip-remote: <text>"
void log_line(std::string_view text);

// The same, if TF_DEBUG asked for it.
void log_debug(std::string_view text);
// For texts that cost something to make.
bool is_debug();
void set_debug(bool on);

// Prints only the first time, however many threads come here.
class LogOnce {
 public:
  void line(std::string_view text) {
    // relaxed: only decides who prints; no other data hangs on it
    if (!done_.exchange(true, std::memory_order_relaxed)) log_line(text);
  }
  // Nothing is to be told any more.
  void silence() { done_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> done_{false};
};

}  // namespace tf::proxy
