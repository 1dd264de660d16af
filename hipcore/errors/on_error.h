// SPDX-License-Identifier: Apache-2.0
// What happens when a function of HIP answers an error: a debugger may stop there (__hipOnError, HIP 7.14),
// and a log may have been asked for (hipExtEnableLogging). Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string_view>

namespace tf::hipdata {

// What __hipOnError() gets; the texts are constants.
struct ErrorInformation {
  hipError_t code;
  const char* name;
  const char* text;
};

// Of every result but hipSuccess, in the thread that gets it.
void tell_error(hipError_t error);

// Gets a line for each error; null: none does.
using ErrorLog = void (*)(std::string_view line);
void log_errors(ErrorLog log);

}  // namespace tf::hipdata
