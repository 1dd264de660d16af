// SPDX-License-Identifier: Apache-2.0
// Error names, strings, and the thread's last error with the meaning of HIP 5: every call sets it.
#include "hipcore/errors/error_text.h"
#include "proxy/base/thread_state.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {

const char* hipGetErrorName(hipError_t error) { return hipdata::error_text(error).name; }

const char* hipGetErrorString(hipError_t error) { return hipdata::error_text(error).text; }

hipError_t hipGetLastError() {
  hipError_t last = thread_state().last_error;
  thread_state().last_error = hipSuccess;
  return last;
}

hipError_t hipPeekAtLastError() { return thread_state().last_error; }

}  // namespace tf::proxy::local
