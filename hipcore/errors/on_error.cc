// SPDX-License-Identifier: Apache-2.0
// Tells the debugger and the log of an error.
#include "hipcore/errors/on_error.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>

#include "hipcore/errors/error_text.h"

// Does nothing: debuggers stop in it. Called through the table of the library's symbols, so another library
// may have one in front. Weak: parts of the client are also linked without the functions that it exports.
extern "C" __attribute__((weak)) void __hipOnError(void* information);

namespace tf::hipdata {
namespace {

constexpr std::size_t kLineMax_bytes = 512;  // more than any name and text have

constinit std::atomic<ErrorLog> error_log{nullptr};  // relaxed: a switch, and it publishes nothing

}  // namespace

void tell_error(hipError_t error) {
  const ErrorText& known = error_text(error);
  ErrorInformation information{error, known.name, known.text};
  if (__hipOnError != nullptr) __hipOnError(&information);
  const ErrorLog log = error_log.load(std::memory_order_relaxed);
  if (log == nullptr) [[likely]]
    return;
  char line[kLineMax_bytes];  // on the stack: the error may be that of a process without memory
  const int length = std::snprintf(line, sizeof line, "returned %s: %s", known.name, known.text);
  if (length > 0) log({line, std::min(static_cast<std::size_t>(length), sizeof line - 1)});
}

void log_errors(ErrorLog log) { error_log.store(log, std::memory_order_relaxed); }

}  // namespace tf::hipdata
