// SPDX-License-Identifier: Apache-2.0
// Profiling and tracing: what programs switch on and off, and what tools (roctracer, rocprofiler, rocgdb) look for.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

// The runtime's own answer: AMD's has no profiler to switch and says hipErrorNotSupported.
CALL(0x0116) hipError_t hipProfilerStart();
CALL(0x0117) hipError_t hipProfilerStop();

// Names for the numbers that a tracer is called with.
LOCAL(constant) const char* hipApiName(uint32_t id);
LOCAL(constant) const char* hipGetCmdName(unsigned int op);
// rocgdb recognises AMD's runtime by these, and would then attach to a device of this machine.
LOCAL(linkage) const char* amd_dbgapi_get_build_name();
LOCAL(linkage) const char* amd_dbgapi_get_git_hash();
LOCAL(linkage) size_t amd_dbgapi_get_build_id();

REFUSED(the records of a tracer come from the queues of a device that this process does not have)
void hipRegisterTracerCallback(IN(opaque) void* function);
REFUSED(the records of a tracer come from the queues of a device that this process does not have)
void hipInitActivityCallback(IN(opaque) void* id_callback, IN(opaque) void* op_callback, IN(opaque) void* arg);
REFUSED(the records of a tracer come from the queues of a device that this process does not have)
bool hipEnableActivityCallback(unsigned int op, bool enable);
REFUSED(the records of a tracer come from the queues of a device that this process does not have)
hipError_t hipRegisterActivityCallback(uint32_t id, IN(opaque) void* function, IN(opaque) void* arg);
REFUSED(the records of a tracer come from the queues of a device that this process does not have)
hipError_t hipRemoveActivityCallback(uint32_t id);
REFUSED(roctracer reads the arguments of calls in the layout of one HIP release)
hipError_t hipRegisterApiCallback(uint32_t id, IN(opaque) void* function, IN(opaque) void* arg);
REFUSED(roctracer reads the arguments of calls in the layout of one HIP release)
hipError_t hipRemoveApiCallback(uint32_t id);

// The built-in profiler of HIP 7.14, a beta of AMD's.
REFUSED(the records of the profiler have times of the clock of a device that this process does not have)
hipError_t hipProfilerEnableExt(OUT() OPTIONAL uint64_t* first, uint64_t state);
REFUSED(the records of the profiler have times of the clock of a device that this process does not have)
hipError_t hipProfilerDisableExt(OUT() OPTIONAL uint64_t* last);
REFUSED(the records of the profiler have times of the clock of a device that this process does not have)
hipError_t hipProfilerGetRecordsExt(OUT(opaque) const void* const** chunks, OUT() size_t* chunk_count,
                                    OUT() size_t* chunk_size, OUT() size_t* record_count);
REFUSED(the records of the profiler have times of the clock of a device that this process does not have)
hipError_t hipProfilerRegisterChunkCallbackExt(IN(opaque) OPTIONAL void* callback, IN(opaque) OPTIONAL void* argument);

}  // extern "C"
