// SPDX-License-Identifier: Apache-2.0
// Code objects and the functions and variables inside them.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CUSTOM(code) ASKS(always) hipError_t hipModuleLoad(OUT(module) hipModule_t* module, IN() STRING(4096) const char* path);
CUSTOM(code) ASKS(always) hipError_t hipModuleLoadData(OUT(module) hipModule_t* module, IN(opaque) const void* image);
CUSTOM(code) ASKS(always) hipError_t hipModuleLoadDataEx(OUT(module) hipModule_t* module, IN(opaque) const void* image,
                                                         unsigned int count, IN() ARRAY(count) hipJitOption* options,
                                                         IN(opaque) ARRAY(count) void** values);
CUSTOM(code) ASKS(pending) hipError_t hipModuleUnload(CONSUMES(module) hipModule_t module);
CUSTOM(code) hipError_t hipModuleGetFunction(OUT(function) hipFunction_t* function, IN(module) hipModule_t module,
                                             IN() STRING(4096) const char* name);
CUSTOM(code) ASKS(code)
hipError_t hipModuleGetGlobal(OUT(device) OPTIONAL hipDeviceptr_t* pointer, OUT() OPTIONAL size_t* bytes,
                              IN(module) hipModule_t module, IN() STRING(4096) const char* name);
CUSTOM(code) hipError_t hipModuleGetFunctionCount(OUT() unsigned int* count, IN(module) hipModule_t module);
CUSTOM(code) ASKS(code) hipError_t hipGetFuncBySymbol(OUT(function) hipFunction_t* function,
                                                      IN(host_function) const void* host);
LOCAL(code) ASKS(first) hipError_t hipFuncGetAttributes(OUT() struct hipFuncAttributes* attributes,
                                                        IN(host_function) const void* function);
CACHED(0x0520) hipError_t hipFuncGetAttribute(OUT() int* value, hipFunction_attribute attribute,
                                              IN(function) hipFunction_t function);
// AMD's runtime treats these three as hints: the client checks the function, keeps what can be asked, and sends
// nothing.
LOCAL(code) hipError_t hipFuncSetAttribute(IN(host_function) const void* function, hipFuncAttribute attribute,
                                           int value);
LOCAL(code) hipError_t hipFuncSetCacheConfig(IN(host_function) const void* function, hipFuncCache_t config);
LOCAL(code) hipError_t hipFuncSetSharedMemConfig(IN(host_function) const void* function, hipSharedMemConfig config);
LOCAL(code) const char* hipKernelNameRef(IN(function) const hipFunction_t function);
LOCAL(code) const char* hipKernelNameRefByPtr(IN(host_function) const void* function, IN(stream) hipStream_t stream);

}  // extern "C"
