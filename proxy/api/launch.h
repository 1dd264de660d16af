// SPDX-License-Identifier: Apache-2.0
// Kernel launches: arguments are laid out according to the code object's metadata, and posted.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CUSTOM(launch) ASKS(code) hipError_t hipLaunchKernel(IN(host_function) const void* function, dim3 grid, dim3 block,
                                                     IN(opaque) void** arguments, size_t shared_bytes,
                                                     IN(stream) hipStream_t stream);
CUSTOM(launch) ASKS(code)
hipError_t hipExtLaunchKernel(IN(host_function) const void* function, dim3 grid, dim3 block,
                              IN(opaque) void** arguments, size_t shared_bytes,
                              IN(stream) hipStream_t stream, IN(event) OPTIONAL hipEvent_t start_event,
                              IN(event) OPTIONAL hipEvent_t stop_event, int flags);
CUSTOM(launch) ASKS(always)
hipError_t hipLaunchCooperativeKernel(IN(host_function) const void* function, dim3 grid, dim3 block,
                                      IN(opaque) void** arguments, unsigned int shared_bytes,
                                      IN(stream) hipStream_t stream);
CUSTOM(launch) hipError_t hipModuleLaunchKernel(IN(function) hipFunction_t function, unsigned int grid_x,
                                                unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
                                                unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                                                IN(stream) hipStream_t stream, IN(opaque) OPTIONAL void** arguments,
                                                IN(opaque) OPTIONAL void** extra);
CUSTOM(launch) ASKS(always)
hipError_t hipModuleLaunchCooperativeKernel(IN(function) hipFunction_t function, unsigned int grid_x,
                                            unsigned int grid_y, unsigned int grid_z,
                                            unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int shared_bytes,
                                            IN(stream) hipStream_t stream,
                                            IN(opaque) OPTIONAL void** arguments);
// One launch after another, each on its own device. A barrier across devices (multi_grid_group::sync) needs memory
// that only a runtime sets up, so kernels that use one are not served.
CUSTOM(launch) ASKS(always)
hipError_t hipLaunchCooperativeKernelMultiDevice(IN() ARRAY(count) hipLaunchParams* launches,
                                                 int count, unsigned int flags);
CUSTOM(launch) ASKS(code)
hipError_t hipExtLaunchMultiKernelMultiDevice(IN() ARRAY(count) hipLaunchParams* launches, int count,
                                              unsigned int flags);
CUSTOM(launch) ASKS(always)
hipError_t hipModuleLaunchCooperativeKernelMultiDevice(IN() ARRAY(count) hipFunctionLaunchParams* launches,
                                                       unsigned int count, unsigned int flags);
// What the compiler generates for <<<>>>: a stack per thread.
LOCAL(thread) hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                                    IN(stream) hipStream_t stream);
LOCAL(thread) hipError_t __hipPopCallConfiguration(OUT() dim3* grid, OUT() dim3* block, OUT() size_t* shared_bytes,
                                                   OUT(stream) hipStream_t* stream);

// The same for compilers before clang 9: the arguments are handed over one by one.
ALIAS(__hipPushCallConfiguration) hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared_bytes,
                                                              IN(stream) hipStream_t stream);
LOCAL(thread) hipError_t hipSetupArgument(IN(opaque) const void* argument, size_t bytes, size_t offset);
CUSTOM(launch) ASKS(code) hipError_t hipLaunchByPtr(IN(host_function) const void* function);

ALIAS(hipLaunchKernel)
hipError_t hipLaunchKernel_spt(IN(host_function) const void* function, dim3 grid, dim3 block,
                               IN(opaque) void** arguments, size_t shared_bytes, IN(stream) hipStream_t stream);
ALIAS(hipLaunchCooperativeKernel)
hipError_t hipLaunchCooperativeKernel_spt(IN(host_function) const void* function, dim3 grid, dim3 block,
                                          IN(opaque) void** arguments, unsigned int shared_bytes,
                                          IN(stream) hipStream_t stream);

}  // extern "C"

// hip_ext.h declares these with C++ linkage; sizes are in work-items, not blocks. HIP 6 and 7 have them as C, too.
CUSTOM(launch) ALSO(hipExtModuleLaunchKernel)
MANGLED(_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j)
hipError_t hipExtModuleLaunchKernel(IN(function) hipFunction_t function, uint32_t global_x, uint32_t global_y,
                                    uint32_t global_z, uint32_t local_x, uint32_t local_y, uint32_t local_z,
                                    size_t shared_bytes, IN(stream) hipStream_t stream,
                                    IN(opaque) OPTIONAL void** arguments, IN(opaque) OPTIONAL void** extra,
                                    IN(event) OPTIONAL hipEvent_t start_event,
                                    IN(event) OPTIONAL hipEvent_t stop_event, uint32_t flags);
CUSTOM(launch) ALSO(hipHccModuleLaunchKernel)
MANGLED(_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_)
hipError_t hipHccModuleLaunchKernel(IN(function) hipFunction_t function, uint32_t global_x, uint32_t global_y,
                                    uint32_t global_z, uint32_t local_x, uint32_t local_y, uint32_t local_z,
                                    size_t shared_bytes, IN(stream) hipStream_t stream,
                                    IN(opaque) OPTIONAL void** arguments, IN(opaque) OPTIONAL void** extra,
                                    IN(event) OPTIONAL hipEvent_t start_event,
                                    IN(event) OPTIONAL hipEvent_t stop_event);
// What functional_grid_launch.hpp calls: hip_impl::hipLaunchKernelGGLImpl. `arguments`: as `extra` above.
CUSTOM(launch) ASKS(code) MANGLED(_ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv)
void hipLaunchKernelGGLImpl(IN(host_function) uintptr_t function, const dim3& grid, const dim3& block,
                            uint32_t shared_bytes, IN(stream) hipStream_t stream, IN(opaque) void** arguments);
