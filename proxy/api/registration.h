// SPDX-License-Identifier: Apache-2.0
// What compiled programs call before main(), and symbols that are not part of HIP proper.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CUSTOM(code) void** __hipRegisterFatBinary(IN(opaque) const void* data);
CUSTOM(code) ASKS(pending) void __hipUnregisterFatBinary(IN(opaque) void** modules);
CUSTOM(code) void __hipRegisterFunction(IN(opaque) void** modules, IN(opaque) const void* host_function,
                                        IN() STRING(4096) char* device_function,
                                        IN() STRING(4096) const char* device_name, unsigned int thread_limit,
                                        IN(opaque) OPTIONAL uint3* thread_id, IN(opaque) OPTIONAL uint3* block_id,
                                        IN(opaque) OPTIONAL dim3* block_dim, IN(opaque) OPTIONAL dim3* grid_dim,
                                        IN(opaque) OPTIONAL int* warp_size);
CUSTOM(code) void __hipRegisterVar(IN(opaque) void** modules, IN(opaque) void* variable,
                                   IN() STRING(4096) char* host_name, IN() STRING(4096) char* device_name,
                                   int is_extern, size_t bytes, int is_constant, int is_global);
CUSTOM(code) ASKS(host)
void __hipRegisterManagedVar(IN(opaque) void* modules, IN(opaque) void** pointer, IN(opaque) void* initial,
                             IN() STRING(4096) const char* name, size_t bytes, unsigned int alignment);
CUSTOM(code) void __hipRegisterSurface(IN(opaque) void** modules, IN(opaque) void* variable,
                                       IN() STRING(4096) char* host_name, IN() STRING(4096) char* device_name,
                                       int type, int is_extern);
CUSTOM(code) void __hipRegisterTexture(IN(opaque) void** modules, IN(opaque) void* variable,
                                       IN() STRING(4096) char* host_name, IN() STRING(4096) char* device_name,
                                       int type, int is_normalized, int is_extern);

// Of hiprtc's headers, for an old libhiprtc: none, ours compiles from the sources.
LOCAL(linkage) void __hipGetPCH(OUT(opaque) const char** header, OUT() unsigned int* bytes);
// Half precision conversions that old compilers expect from the runtime.
COMPOSED float __gnu_h2f_ieee(unsigned short half);
COMPOSED unsigned short __gnu_f2h_ieee(float value);

}  // extern "C"
