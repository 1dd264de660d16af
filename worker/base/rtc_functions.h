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
  // Of HIP 5.3 and later; enums are ints. All or none.
  decltype(&::hiprtcGetCodeSize) bitcode_size = nullptr;
  decltype(&::hiprtcGetCode) bitcode = nullptr;
  hiprtcResult (*link_create)(unsigned count, int* options, void** values, void** state) = nullptr;
  hiprtcResult (*link_add)(void* state, int type, void* image, std::size_t bytes, const char* name,
                           unsigned count, int* options, void** values) = nullptr;
  int (*link_complete)(void* state, void** image, std::size_t* bytes) = nullptr;
  hiprtcResult (*link_destroy)(void* state) = nullptr;

  // It asks the runtime for the current device's target. Else programs that name none need an option.
  bool knows_target = true;

  bool links() const {
    return bitcode_size && bitcode && link_create && link_add && link_complete && link_destroy;
  }
  bool complete() const {
    return create && destroy && add_name && compile && lowered_name && log_size && log && code_size && code;
  }
};

// Compiles or links for the thread's current device. The result is what a program would get from these
// functions directly.
protocol::RtcResult compile_program(const RtcFunctions& rtc, const protocol::RtcProgram& program);

}  // namespace tf::worker
