// SPDX-License-Identifier: Apache-2.0
// Error names, strings, and the thread's last error (note_error() keeps it by the rules of the program's
// major).
#include <utility>

#include "hipcore/composed/composed.h"
#include "hipcore/errors/error_text.h"
#include "hipcore/errors/on_error.h"
#include "proxy/base/log.h"
#include "proxy/base/thread_state.h"
#include "proxy/gen/local.h"
#include "proxy/stats/counting.h"

hipError_t tf::composed::refuse(hipError_t error) { return tf::proxy::note_error(error); }

void tf::composed::log_calls(size_t level, size_t mask) {
  hipdata::log_errors(level >= kLogErrors ? &proxy::log_line : nullptr);
  proxy::stats::log_calls(level >= kLogCalls && (mask & kLogCallsBit) != 0);
}

namespace tf::proxy::local {

const char* hipGetErrorName(hipError_t error) { return hipdata::error_text(error).name; }

const char* hipGetErrorString(hipError_t error) { return hipdata::error_text(error).text; }

// The driver API's forms of the two. Like AMD's, they leave the last error alone.
hipError_t hipDrvGetErrorName(hipError_t error, const char** name) {
  if (name == nullptr) return hipErrorInvalidValue;
  *name = hipdata::error_text(error).name;
  return hipdata::error_text(error).code == error ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipDrvGetErrorString(hipError_t error, const char** text) {
  if (text == nullptr) return hipErrorInvalidValue;
  *text = hipdata::error_text(error).text;
  return hipdata::error_text(error).code == error ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipGetLastError() {
  ThreadState& thread = thread_state();
  thread.last_result = hipSuccess;
  return std::exchange(thread.last_error, hipSuccess);
}

hipError_t hipExtGetLastError() { return std::exchange(thread_state().last_result, hipSuccess); }

hipError_t hipPeekAtLastError() { return thread_state().last_error; }

}  // namespace tf::proxy::local
