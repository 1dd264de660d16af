// SPDX-License-Identifier: Apache-2.0
// As check.h, for calls of hiprtc; and a program compiled when it starts.
#pragma once

#include "check.h"

#include <hip/hiprtc.h>

#include <string>
#include <vector>

#define CHECK_RTC(call)                                                           \
  do {                                                                            \
    const hiprtcResult check_result = (call);                                     \
    if (check_result != HIPRTC_SUCCESS) {                                         \
      std::printf("FAILED: %s: %s\n", #call, hiprtcGetErrorString(check_result)); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (false)

// The code of `source`; whoever reads a message about it sees `name`.
inline std::vector<char> compile(const char* source, const char* name) {
  hiprtcProgram program = nullptr;
  CHECK_RTC(hiprtcCreateProgram(&program, source, name, 0, nullptr, nullptr));
  const hiprtcResult result = hiprtcCompileProgram(program, 0, nullptr);
  if (result != HIPRTC_SUCCESS) {
    std::size_t bytes = 0;
    CHECK_RTC(hiprtcGetProgramLogSize(program, &bytes));
    std::string log(bytes, '\0');
    if (bytes > 1) CHECK_RTC(hiprtcGetProgramLog(program, log.data()));
    std::printf("FAILED: compilation: %s\n%s\n", hiprtcGetErrorString(result), log.c_str());
    std::exit(1);
  }
  std::size_t bytes = 0;
  CHECK_RTC(hiprtcGetCodeSize(program, &bytes));
  std::vector<char> code(bytes);
  CHECK_RTC(hiprtcGetCode(program, code.data()));
  CHECK_RTC(hiprtcDestroyProgram(&program));
  return code;
}
