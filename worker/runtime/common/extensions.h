/* SPDX-License-Identifier: Apache-2.0 */
/* What runtime libraries of ours export beyond the HIP of our headers, for hip-worker. A library may lack any
 * of it: look with dlsym. Thread-safe; of what begins with hipRemote no error is kept as the thread's last
 * one, but for that of the launch. */
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

/* As hipModuleLaunchCooperativeKernel, but with the arguments packed: `extra` as hipModuleLaunchKernel takes
 * it, null for a kernel without arguments. Sizes of the grid in blocks. hipErrorNotSupported: the driver
 * cannot. */
hipError_t hipRemoteLaunchCooperative(hipFunction_t function, dim3 grid, dim3 block, unsigned shared_bytes,
                                      hipStream_t stream, void** extra);

/* HIP 7 (hip_runtime_api.h of ROCm 7.0, where `type` is a hipMemRangeHandleType), so AMD's libraries from
 * then on have it, too: a descriptor in `handle`, the caller's to close, by which other devices reach the
 * `bytes` of device memory at `pointer`. Whole pages of the host; memory of hipMalloc, or that is mapped.
 * `flags`: 0. hipErrorNotSupported: the device or its driver cannot. */
enum { kHipMemRangeHandleTypeDmaBufFd = 1 }; /* of type: an int */
hipError_t hipMemGetHandleForAddressRange(void* handle, hipDeviceptr_t pointer, size_t bytes, int type,
                                          unsigned long long flags);

/* Afterwards every device sees what others than the host and the GPUs (a network device, by the descriptor
 * above) have written to memory of `device` and reported as done. *always: whether work that is submitted
 * later sees it also without this call. hipErrorNotSupported: it cannot be made sure of. Not from a callback.
 */
hipError_t hipRemoteFlushWrites(int device, int* always);

/* From now on `tell` is called, by any thread and once for each device, when a kernel has failed and the
 * device with it: `what`, which names the kernel, lives as long as the call. Without a listener, or with a
 * null one, a line goes to stderr. */
typedef void (*hipRemoteFailureListener)(void* argument, int device, hipError_t error, const char* what);
void hipRemoteTellFailures(hipRemoteFailureListener tell, void* argument);

/* Why there is no device, in words; null where there is one. The text lives as long as the library. */
const char* hipRemoteUnavailableReason(void);

#ifdef __cplusplus
}
#endif
