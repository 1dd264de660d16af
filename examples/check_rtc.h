// SPDX-License-Identifier: Apache-2.0
// As check.h, for calls of hiprtc.
#pragma once

#include "check.h"

#include <hip/hiprtc.h>

#define CHECK_RTC(call)                                                           \
  do {                                                                            \
    const hiprtcResult check_result = (call);                                     \
    if (check_result != HIPRTC_SUCCESS) {                                         \
      std::printf("FAILED: %s: %s\n", #call, hiprtcGetErrorString(check_result)); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (false)
