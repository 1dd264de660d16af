// SPDX-License-Identifier: Apache-2.0
// Errors: the thread's last one, and every code's name and text.
#include <cstdio>

#include "hipcore/composed/composed.h"
#include "hipcore/errors/error_text.h"
#include "hipcore/errors/on_error.h"
#include "worker/runtime/common/api.h"

hipError_t tf::composed::refuse(hipError_t error) { return tf::runtime::remember(error); }

// Of the errors only.
void tf::composed::log_calls(size_t level, size_t) {
  hipdata::log_errors(level < kLogErrors ? nullptr : +[](std::string_view line) {
    std::fprintf(stderr, "%s: %.*s\n", tf::runtime::Backend::kName, static_cast<int>(line.size()),
                 line.data());
  });
}

using namespace tf::runtime;
using tf::hipdata::error_text;

extern "C" {

hipError_t hipGetLastError() {
  thread().last_result = hipSuccess;
  return std::exchange(thread().last_error, hipSuccess);
}

TF_EXPORT hipError_t hipExtGetLastError() { return std::exchange(thread().last_result, hipSuccess); }

hipError_t hipPeekAtLastError() { return thread().last_error; }

const char* hipGetErrorName(hipError_t code) { return error_text(code).name; }

const char* hipGetErrorString(hipError_t code) { return error_text(code).text; }

// The driver API's forms of the two above.
TF_EXPORT hipError_t hipDrvGetErrorName(hipError_t code, const char** name) {
  if (!name) return hipErrorInvalidValue;
  *name = error_text(code).name;
  return error_text(code).code == code ? hipSuccess : hipErrorInvalidValue;
}

TF_EXPORT hipError_t hipDrvGetErrorString(hipError_t code, const char** text) {
  if (!text) return hipErrorInvalidValue;
  *text = error_text(code).text;
  return error_text(code).code == code ? hipSuccess : hipErrorInvalidValue;
}

}  // extern "C"
