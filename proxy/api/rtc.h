// SPDX-License-Identifier: Apache-2.0
// hiprtc. libhiprtc answers, and compiles here or on the worker (hipcore/wire/remote_rtc.h); in HIP 5.2 these
// live in libamdhip64 as well as in libhiprtc.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

#include <hip/hiprtc.h>

extern "C" {

LOCAL(linkage) const char* hiprtcGetErrorString(hiprtcResult result);
FORWARDS hiprtcResult hiprtcVersion(OUT() int* major, OUT() int* minor);
FORWARDS hiprtcResult hiprtcCreateProgram(OUT(opaque) hiprtcProgram* program, IN() STRING(0) const char* source,
                                          IN() OPTIONAL STRING(4096) const char* name, int count,
                                          IN(opaque) OPTIONAL ARRAY(count) const char** headers,
                                          IN(opaque) OPTIONAL ARRAY(count) const char** include_names);
FORWARDS hiprtcResult hiprtcDestroyProgram(INOUT(opaque) hiprtcProgram* program);
FORWARDS hiprtcResult hiprtcAddNameExpression(IN(opaque) hiprtcProgram program, IN() STRING(4096) const char* name);
FORWARDS hiprtcResult hiprtcCompileProgram(IN(opaque) hiprtcProgram program, int count,
                                           IN(opaque) OPTIONAL ARRAY(count) const char** options);
FORWARDS hiprtcResult hiprtcGetLoweredName(IN(opaque) hiprtcProgram program, IN() STRING(4096) const char* name,
                                           OUT(opaque) const char** lowered_name);
FORWARDS hiprtcResult hiprtcGetProgramLog(IN(opaque) hiprtcProgram program, OUT(opaque) char* log);
FORWARDS hiprtcResult hiprtcGetProgramLogSize(IN(opaque) hiprtcProgram program, OUT() size_t* bytes);
FORWARDS hiprtcResult hiprtcGetCode(IN(opaque) hiprtcProgram program, OUT(opaque) char* code);
FORWARDS hiprtcResult hiprtcGetCodeSize(IN(opaque) hiprtcProgram program, OUT() size_t* bytes);
// Of HIP 5.3; enums as ints (hiprtcJIT_option, hiprtcJITInputType), a link state as what it is.
FORWARDS hiprtcResult hiprtcGetBitcode(IN(opaque) hiprtcProgram program, OUT(opaque) char* bitcode);
FORWARDS hiprtcResult hiprtcGetBitcodeSize(IN(opaque) hiprtcProgram program, OUT() size_t* bytes);
FORWARDS hiprtcResult hiprtcLinkCreate(unsigned int count, IN(opaque) OPTIONAL ARRAY(count) int* options,
                                       IN(opaque) OPTIONAL ARRAY(count) void** values, OUT(opaque) void** state);
FORWARDS hiprtcResult hiprtcLinkAddData(IN(opaque) void* state, int type, IN(opaque) void* image, size_t bytes,
                                        IN() OPTIONAL STRING(4096) const char* name, unsigned int count,
                                        IN(opaque) OPTIONAL ARRAY(count) int* options,
                                        IN(opaque) OPTIONAL ARRAY(count) void** values);
FORWARDS hiprtcResult hiprtcLinkAddFile(IN(opaque) void* state, int type, IN() STRING(4096) const char* path,
                                        unsigned int count, IN(opaque) OPTIONAL ARRAY(count) int* options,
                                        IN(opaque) OPTIONAL ARRAY(count) void** values);
FORWARDS hiprtcResult hiprtcLinkComplete(IN(opaque) void* state, OUT(opaque) void** image, OUT() size_t* bytes);
FORWARDS hiprtcResult hiprtcLinkDestroy(IN(opaque) void* state);

}  // extern "C"
