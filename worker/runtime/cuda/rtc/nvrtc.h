// SPDX-License-Identifier: Apache-2.0
// NVRTC, NVIDIA's compiler as a library, loaded on first use. We declare its interface ourselves;
// abi_check.cc compares it with NVIDIA's nvrtc.h where there is one.
#pragma once

#include <cstddef>
#include <string>

namespace tf::cuda::nvrtc {

using Program = struct ProgramOfNvrtc*;
using Result = int;  // nvrtcResult
inline constexpr Result kSuccess = 0;
inline constexpr Result kCompilationError = 6;
inline constexpr Result kNameNotValid = 10;

// TF_NVRTC_FUNCTION(name without nvrtc, return type, (parameters))
#define TF_NVRTC_FUNCTIONS(TF_NVRTC_FUNCTION)                                                             \
  TF_NVRTC_FUNCTION(Version, Result, (int* major, int* minor))                                            \
  TF_NVRTC_FUNCTION(GetErrorString, const char*, (Result result))                                         \
  TF_NVRTC_FUNCTION(GetNumSupportedArchs, Result, (int* count))                                           \
  TF_NVRTC_FUNCTION(GetSupportedArchs, Result, (int* architectures))                                      \
  TF_NVRTC_FUNCTION(CreateProgram, Result,                                                                \
                    (Program * program, const char* source, const char* name, int count,                  \
                     const char* const* headers, const char* const* include_names))                       \
  TF_NVRTC_FUNCTION(DestroyProgram, Result, (Program * program))                                          \
  TF_NVRTC_FUNCTION(CompileProgram, Result, (Program program, int count, const char* const* options))     \
  TF_NVRTC_FUNCTION(AddNameExpression, Result, (Program program, const char* expression))                 \
  TF_NVRTC_FUNCTION(GetLoweredName, Result, (Program program, const char* expression, const char** name)) \
  TF_NVRTC_FUNCTION(GetProgramLogSize, Result, (Program program, std::size_t * bytes))                    \
  TF_NVRTC_FUNCTION(GetProgramLog, Result, (Program program, char* log))                                  \
  TF_NVRTC_FUNCTION(GetPTXSize, Result, (Program program, std::size_t * bytes))                           \
  TF_NVRTC_FUNCTION(GetPTX, Result, (Program program, char* ptx))                                         \
  TF_NVRTC_FUNCTION(GetCUBINSize, Result, (Program program, std::size_t * bytes))                         \
  TF_NVRTC_FUNCTION(GetCUBIN, Result, (Program program, char* cubin))

struct Nvrtc {
#define TF_NVRTC_FUNCTION(name, answer, parameters) answer(*name) parameters = nullptr;
  TF_NVRTC_FUNCTIONS(TF_NVRTC_FUNCTION)
#undef TF_NVRTC_FUNCTION
  std::string reason;  // why it is missing; empty if every function is there
};

// The file named by HIP_CUDA_NVRTC, else the newest of libnvrtc.so.13, .12 and .11.2 that the loader or
// /usr/local/cuda/lib64 has. Never closed. Any thread.
const Nvrtc& nvrtc();

}  // namespace tf::cuda::nvrtc
