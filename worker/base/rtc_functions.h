// SPDX-License-Identifier: Apache-2.0
// hiprtc of the runtime library that the worker has loaded. Any thread; each program belongs to one.
#pragma once

#include <hip/hiprtc.h>

#include "hipcore/wire/rtc_program.h"

namespace tf::worker {

struct RtcFunctions {
  decltype(&::hiprtcCreateProgram) create = nullptr;
  decltype(&::hiprtcDestroyProgram) destroy = nullptr;
  decltype(&::hiprtcAddNameExpression) add_name = nullptr;
  decltype(&::hiprtcCompileProgram) compile = nullptr;
  decltype(&::hiprtcGetLoweredName) lowered_name = nullptr;
  decltype(&::hiprtcGetProgramLogSize) log_size = nullptr;
  decltype(&::hiprtcGetProgramLog) log = nullptr;
  decltype(&::hiprtcGetCodeSize) code_size = nullptr;
  decltype(&::hiprtcGetCode) code = nullptr;

  bool complete() const {
    return create && destroy && add_name && compile && lowered_name && log_size && log && code_size && code;
  }
};

// What a program gets that does the same with these functions itself. For the thread's current device.
protocol::RtcResult compile_program(const RtcFunctions& rtc, const protocol::RtcProgram& program);

}  // namespace tf::worker
