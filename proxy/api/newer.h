// SPDX-License-Identifier: Apache-2.0
// Functions since HIP 6 that are made of others: hipcore/composed has their bodies, for client and runtimes.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

COMPOSED hipError_t hipMemAdvise_v2(IN(device) const void* pointer, size_t bytes, hipMemoryAdvise advice,
                                    hipMemLocation location);
COMPOSED hipError_t hipMemPrefetchAsync_v2(IN(device) const void* pointer, size_t bytes, hipMemLocation location,
                                           unsigned int flags, IN(stream) hipStream_t stream);
COMPOSED ASKS(copy)
hipError_t hipMemcpyBatchAsync(IN(opaque) ARRAY(count) void** targets, IN(opaque) ARRAY(count) void** sources,
                               IN() ARRAY(count) size_t* sizes, size_t count,
                               IN(opaque) OPTIONAL hipMemcpyAttributes* attributes,
                               IN(opaque) OPTIONAL size_t* first, size_t attribute_count,
                               OUT() OPTIONAL size_t* fail_index, IN(stream) hipStream_t stream);
COMPOSED ASKS(copy)
hipError_t hipMemcpy3DBatchAsync(size_t count, IN(opaque) ARRAY(count) hipMemcpy3DBatchOp* operations,
                                 OUT() OPTIONAL size_t* fail_index, unsigned long long flags,
                                 IN(stream) hipStream_t stream);
COMPOSED ASKS(copy) hipError_t hipMemcpy3DPeer(IN(opaque) hipMemcpy3DPeerParms* copy);
COMPOSED hipError_t hipMemcpy3DPeerAsync(IN(opaque) hipMemcpy3DPeerParms* copy, IN(stream) hipStream_t stream);
COMPOSED ASKS(copy)
hipError_t hipMemcpy2DArrayToArray(IN(opaque) hipArray_t target, size_t target_x, size_t target_y,
                                   IN(opaque) hipArray_const_t source, size_t source_x, size_t source_y,
                                   size_t width, size_t height, hipMemcpyKind kind);
COMPOSED ASKS(copy)
hipError_t hipMemcpyAtoA(IN(opaque) hipArray_t target, size_t target_offset, IN(opaque) hipArray_t source,
                         size_t source_offset, size_t bytes);
COMPOSED ASKS(copy)
hipError_t hipMemcpyAtoD(IN(device) hipDeviceptr_t target, IN(opaque) hipArray_t source, size_t offset,
                         size_t bytes);
COMPOSED ASKS(copy)
hipError_t hipMemcpyDtoA(IN(opaque) hipArray_t target, size_t offset, IN(device) hipDeviceptr_t source,
                         size_t bytes);
COMPOSED ASKS(copy) hipError_t hipMemcpyAtoHAsync(IN(host) void* target, IN(opaque) hipArray_t source, size_t offset,
                                                  size_t bytes, IN(stream) hipStream_t stream);
COMPOSED ASKS(copy)
hipError_t hipMemcpyHtoAAsync(IN(opaque) hipArray_t target, size_t offset, IN(host) const void* source,
                              size_t bytes, IN(stream) hipStream_t stream);
COMPOSED hipError_t hipTexRefGetArray(OUT(opaque) hipArray_t* array, IN(opaque) const textureReference* reference);
COMPOSED hipError_t hipTexRefGetBorderColor(OUT(opaque) float* color, IN(opaque) const textureReference* reference);
COMPOSED hipError_t hipTexRefGetMipMappedArray(OUT(opaque) hipMipmappedArray_t* mipmapped,
                                               IN(opaque) const textureReference* reference);
COMPOSED hipError_t hipTexRefGetMipmappedArray(OUT(opaque) hipMipmappedArray_t* mipmapped,
                                               IN(opaque) const textureReference* reference);
COMPOSED hipError_t hipEventRecordWithFlags(IN(event) hipEvent_t event, IN(stream) hipStream_t stream,
                                            unsigned int flags);
COMPOSED ASKS(code) hipError_t hipLaunchKernelExC(IN(opaque) const hipLaunchConfig_t* config,
                                                  IN(host_function) const void* function, IN(opaque) void** arguments);
COMPOSED hipError_t hipDrvLaunchKernelEx(IN(opaque) const HIP_LAUNCH_CONFIG* config,
                                         IN(function) hipFunction_t function,
                                         IN(opaque) OPTIONAL void** arguments, IN(opaque) OPTIONAL void** extra);
COMPOSED ASKS(always) hipError_t hipModuleLoadFatBinary(OUT(module) hipModule_t* module, IN(opaque) const void* image);
COMPOSED ASKS(first)
hipError_t hipOccupancyAvailableDynamicSMemPerBlock(OUT() size_t* bytes, IN(host_function) const void* function,
                                                    int blocks, int block_size);
COMPOSED hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind);
COMPOSED hipError_t hipDeviceGetTexture1DLinearMaxWidth(OUT() size_t* width, IN() const hipChannelFormatDesc* channels,
                                                        int device);
COMPOSED hipError_t hipStreamBatchMemOp(IN(stream) hipStream_t stream, unsigned int count,
                                        IN(opaque) ARRAY(count) hipStreamBatchMemOpParams* operations,
                                        unsigned int flags);
COMPOSED hipError_t hipStreamSetAttribute(IN(stream) hipStream_t stream, hipLaunchAttributeID attribute,
                                          IN(opaque) const hipLaunchAttributeValue* value);
COMPOSED hipError_t hipStreamGetAttribute(IN(stream) hipStream_t stream, hipLaunchAttributeID attribute,
                                          OUT(opaque) hipLaunchAttributeValue* value);
COMPOSED hipError_t hipStreamCopyAttributes(IN(stream) hipStream_t target, IN(stream) hipStream_t source);
COMPOSED ASKS(always)
hipError_t hipLibraryLoadData(OUT(opaque) hipLibrary_t* library, IN(opaque) const void* code,
                              IN(opaque) OPTIONAL hipJitOption* options, IN(opaque) OPTIONAL void** values,
                              unsigned int option_count, IN(opaque) OPTIONAL hipLibraryOption* library_options,
                              IN(opaque) OPTIONAL void** library_values, unsigned int library_option_count);
COMPOSED ASKS(always)
hipError_t hipLibraryLoadFromFile(OUT(opaque) hipLibrary_t* library, IN() STRING(4096) const char* path,
                                  IN(opaque) OPTIONAL hipJitOption* options,
                                  IN(opaque) OPTIONAL void** values, unsigned int option_count,
                                  IN(opaque) OPTIONAL hipLibraryOption* library_options,
                                  IN(opaque) OPTIONAL void** library_values,
                                  unsigned int library_option_count);
COMPOSED hipError_t hipLibraryUnload(IN(opaque) hipLibrary_t library);
COMPOSED hipError_t hipLibraryGetKernel(OUT(opaque) hipKernel_t* kernel, IN(opaque) hipLibrary_t library,
                                        IN() STRING(4096) const char* name);
COMPOSED hipError_t hipLibraryGetKernelCount(OUT() unsigned int* count, IN(opaque) hipLibrary_t library);
COMPOSED hipError_t hipLibraryEnumerateKernels(OUT(opaque) ARRAY(count) hipKernel_t* kernels, unsigned int count,
                                               IN(opaque) hipLibrary_t library);
COMPOSED hipError_t hipKernelGetLibrary(OUT(opaque) hipLibrary_t* library, IN(opaque) hipKernel_t kernel);
COMPOSED hipError_t hipKernelGetName(OUT(opaque) const char** name, IN(opaque) hipKernel_t kernel);
COMPOSED hipError_t hipKernelGetFunction(OUT(function) hipFunction_t* function, IN(opaque) hipKernel_t kernel);
COMPOSED hipError_t hipKernelGetAttribute(OUT() int* value, hipFunction_attribute attribute,
                                          IN(opaque) hipKernel_t kernel, hipDevice_t device);
COMPOSED hipError_t hipKernelSetAttribute(hipFunction_attribute attribute, int value, IN(opaque) hipKernel_t kernel,
                                          hipDevice_t device);
COMPOSED hipError_t hipKernelGetParamInfo(IN(opaque) hipKernel_t kernel, size_t index, OUT() size_t* offset,
                                          OUT() OPTIONAL size_t* bytes);
COMPOSED ASKS(code) hipError_t hipLibraryGetGlobal(OUT(device) OPTIONAL void** address, OUT() OPTIONAL size_t* bytes,
                                                   IN(opaque) hipLibrary_t library, IN() STRING(4096) const char* name);
COMPOSED ASKS(code)
hipError_t hipLibraryGetManaged(OUT(device) OPTIONAL void** address, OUT() OPTIONAL size_t* bytes,
                                IN(opaque) hipLibrary_t library, IN() STRING(4096) const char* name);
COMPOSED hipError_t hipMemGetMemPool(OUT(pool) hipMemPool_t* pool, IN() hipMemLocation* location,
                                     hipMemAllocationType type);
COMPOSED hipError_t hipMemGetDefaultMemPool(OUT(pool) hipMemPool_t* pool, IN() hipMemLocation* location,
                                            hipMemAllocationType type);
COMPOSED hipError_t hipMemSetMemPool(IN() hipMemLocation* location, hipMemAllocationType type,
                                     IN(pool) hipMemPool_t pool);
COMPOSED hipError_t hipMemPrefetchBatchAsync(IN(opaque) ARRAY(count) void** addresses, IN() ARRAY(count) size_t* bytes,
                                             size_t count, IN(opaque) hipMemLocation* locations,
                                             IN(opaque) size_t* first, size_t location_count, unsigned long long flags,
                                             IN(stream) hipStream_t stream);
COMPOSED hipError_t hipMemDiscardBatchAsync(IN(opaque) ARRAY(count) void** addresses, IN() ARRAY(count) size_t* bytes,
                                            size_t count, unsigned long long flags, IN(stream) hipStream_t stream);
COMPOSED hipError_t hipDrvMemDiscardBatchAsync(IN(opaque) ARRAY(count) hipDeviceptr_t* addresses,
                                               IN() ARRAY(count) size_t* bytes, size_t count, unsigned long long flags,
                                               IN(stream) hipStream_t stream);
COMPOSED hipError_t hipMemDiscardAndPrefetchBatchAsync(IN(opaque) ARRAY(count) void** addresses,
                                                       IN() ARRAY(count) size_t* bytes, size_t count,
                                                       IN(opaque) hipMemLocation* locations, IN(opaque) size_t* first,
                                                       size_t location_count, unsigned long long flags,
                                                       IN(stream) hipStream_t stream);
COMPOSED hipError_t hipDrvMemDiscardAndPrefetchBatchAsync(IN(opaque) ARRAY(count) hipDeviceptr_t* addresses,
                                                          IN() ARRAY(count) size_t* bytes, size_t count,
                                                          IN(opaque) hipMemLocation* locations,
                                                          IN(opaque) size_t* first, size_t location_count,
                                                          unsigned long long flags, IN(stream) hipStream_t stream);
COMPOSED hipError_t hipInitDevice(int device, unsigned int device_flags, unsigned int flags);
COMPOSED hipError_t hipDeviceGetLuid(OUT(opaque) char* luid, OUT() unsigned int* node_mask, hipDevice_t device);
COMPOSED ASKS(first)
hipError_t hipOccupancyMaxActiveClusters(OUT() int* clusters, IN(host_function) const void* function,
                                         IN(opaque) const hipLaunchConfig_t* config);
COMPOSED ASKS(first)
hipError_t hipOccupancyMaxPotentialClusterSize(OUT() int* blocks, IN(host_function) const void* function,
                                               IN(opaque) const hipLaunchConfig_t* config);
COMPOSED hipError_t hipDeviceGetDevResource(hipDevice_t device, OUT(opaque) hipDevResource* resource,
                                            hipDevResourceType type);
COMPOSED hipError_t hipDevSmResourceSplitByCount(OUT(opaque) OPTIONAL hipDevResource* result,
                                                 INOUT() unsigned int* groups, IN(opaque) const hipDevResource* input,
                                                 OUT(opaque) OPTIONAL hipDevResource* rest, unsigned int flags,
                                                 unsigned int least);
COMPOSED hipError_t hipDevSmResourceSplit(OUT(opaque) OPTIONAL hipDevResource* result, unsigned int count,
                                          IN(opaque) const hipDevResource* input,
                                          OUT(opaque) OPTIONAL hipDevResource* rest, unsigned int flags,
                                          IN(opaque) hipDevSmResourceGroupParams* groups);
COMPOSED hipError_t hipDevResourceGenerateDesc(OUT(opaque) hipDevResourceDesc_t* descriptor,
                                               IN(opaque) hipDevResource* resources, unsigned int count);
COMPOSED hipError_t hipGreenCtxCreate(OUT(opaque) hipExecutionCtx_t* context,
                                      IN(opaque) hipDevResourceDesc_t descriptor, int device, unsigned int flags);
COMPOSED hipError_t hipDeviceGetExecutionCtx(OUT(opaque) hipExecutionCtx_t* context, int device);
COMPOSED hipError_t hipExecutionCtxDestroy(IN(opaque) hipExecutionCtx_t context);
COMPOSED ASKS(copied)
hipError_t hipExecutionCtxStreamCreate(OUT(stream) hipStream_t* stream, IN(opaque) hipExecutionCtx_t context,
                                       unsigned int flags, int priority);
COMPOSED hipError_t hipExecutionCtxGetDevResource(IN(opaque) hipExecutionCtx_t context,
                                                  OUT(opaque) hipDevResource* resource, hipDevResourceType type);
COMPOSED hipError_t hipExecutionCtxGetDevice(OUT() int* device, IN(opaque) hipExecutionCtx_t context);
COMPOSED hipError_t hipExecutionCtxGetId(IN(opaque) hipExecutionCtx_t context, OUT() unsigned long long* id);
COMPOSED hipError_t hipStreamGetDevResource(IN(stream) hipStream_t stream, OUT(opaque) hipDevResource* resource,
                                            hipDevResourceType type);
COMPOSED hipError_t hipExecutionCtxRecordEvent(IN(opaque) hipExecutionCtx_t context, IN(event) hipEvent_t event);
COMPOSED hipError_t hipExecutionCtxWaitEvent(IN(opaque) hipExecutionCtx_t context, IN(event) hipEvent_t event);
COMPOSED ASKS(pending) hipError_t hipExecutionCtxSynchronize(IN(opaque) hipExecutionCtx_t context);
COMPOSED hipError_t hipExtSetLoggingParams(size_t level, size_t bytes, size_t mask);
COMPOSED hipError_t hipExtEnableLogging();
COMPOSED hipError_t hipExtDisableLogging();
COMPOSED void __hipOnError(IN(opaque) void* information);

}  // extern "C"
