// SPDX-License-Identifier: Apache-2.0
// The hiprtc functions of the loaded runtime library. Any thread; each program belongs to one.
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

// Compiles for the thread's current device. The result is what a program would get from these functions
// directly.
protocol::RtcResult compile_program(const RtcFunctions& rtc, const protocol::RtcProgram& program);

}  // namespace tf::worker
