/* SPDX-License-Identifier: Apache-2.0 */
/* What runtime libraries of ours export beyond HIP, for hip-worker. A library may lack any of it: look with
 * dlsym. Thread-safe; no error is kept as the thread's
 * last one, but for that of the launch. */
#pragma once

#include <hip/hip_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the explicit argument number `index` of a kernel lies in the packed block that
 * HIP_LAUNCH_PARAM_BUFFER_POINTER names: offset and size in bytes. `function` belongs to a module that is
 * loaded. hipErrorInvalidValue: there are not so many arguments, or a pointer is null. hipErrorNotSupported:
 * the driver does not tell. */
hipError_t hipRemoteKernelParameter(hipFunction_t function, size_t index, size_t* offset, size_t* bytes);

/* As hipModuleLaunchCooperativeKernel, but with the arguments packed: `extra` as hipModuleLaunchKernel takes it, null
 * for a kernel without arguments. Sizes of the grid in blocks. hipErrorNotSupported: the driver cannot. */
hipError_t hipRemoteLaunchCooperative(hipFunction_t function, dim3 grid, dim3 block, unsigned shared_bytes,
                                      hipStream_t stream, void** extra);

/* Why there is no device, in words; null where there is one. The text lives as long as the library. */
const char* hipRemoteUnavailableReason(void);

#ifdef __cplusplus
}
#endif
