// SPDX-License-Identifier: Apache-2.0
// Names and texts of HIP's error codes, in the words of AMD's runtime. Constant data; any thread.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::hipdata {

struct ErrorText {
  hipError_t code;
  const char* name;
  const char* text;
};

// Unknown codes are hipErrorUnknown, "unknown error".
const ErrorText& error_text(hipError_t code);

}  // namespace tf::hipdata
