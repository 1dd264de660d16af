// SPDX-License-Identifier: Apache-2.0
#include "proxy/log.h"

#include <unistd.h>

#include <string>

namespace tf::proxy {
namespace {

// relaxed everywhere: a switch of its own, no partner
std::atomic<bool> debug_on{false};

}  // namespace

void log_line(std::string_view text) {
  std::string line = "hip-remote: ";
  line.append(text).push_back('\n');
  // A closed standard error is the application's wish.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void log_debug(std::string_view text) {
  if (is_debug()) log_line(text);
}

bool is_debug() { return debug_on.load(std::memory_order_relaxed); }

void set_debug(bool on) { debug_on.store(on, std::memory_order_relaxed); }

}  // namespace tf::proxy
