/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that our runtime libraries export for hip-worker, beyond the HIP of our headers. A library
 * may lack any of them: look them up with dlsym. Thread-safe. Of those that begin with hipRemote only the
 * launch sets the thread's last error. */
#pragma once

#include <hip/hip_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Offset and size, in bytes, of the kernel's explicit argument number `index` in the packed block that
 * HIP_LAUNCH_PARAM_BUFFER_POINTER names. `function` belongs to a loaded module. hipErrorInvalidValue: there
 * are fewer arguments, or a pointer is null. hipErrorNotSupported: the driver does not say. */
hipError_t hipRemoteKernelParameter(hipFunction_t function, size_t index, size_t* offset, size_t* bytes);

/* Like hipModuleLaunchCooperativeKernel, but with packed arguments: `extra` is as for hipModuleLaunchKernel;
 * null: the kernel has no arguments. The grid is in blocks. hipErrorNotSupported: the driver cannot. */
hipError_t hipRemoteLaunchCooperative(hipFunction_t function, dim3 grid, dim3 block, unsigned shared_bytes,
                                      hipStream_t stream, void** extra);

/* hipExtStreamCreateWithCUMask and hipStreamCreateWithPriority in one. */
hipError_t hipRemoteCreateMaskedStream(hipStream_t* stream, unsigned flags, int priority, uint32_t words,
                                       const uint32_t* mask);

/* What the null stream of the stream's device has so far is done before the stream counts as done. Nothing
 * changes for the null stream, and for streams that are not ordered with it. */
hipError_t hipRemoteFollowNull(hipStream_t stream);

/* Part of HIP 7 (hip_runtime_api.h of ROCm 7.0, where `type` is a hipMemRangeHandleType), so AMD's libraries
 * have it from then on. Puts into `handle` a descriptor, which the caller must close, by which other devices
 * reach the `bytes` of device memory at `pointer`. Whole pages of the host; memory of hipMalloc, or mapped
 * memory. `flags`: 0. hipErrorNotSupported: the device or its driver cannot. */
enum { kHipMemRangeHandleTypeDmaBufFd = 1 }; /* of type: an int */
hipError_t hipMemGetHandleForAddressRange(void* handle, hipDeviceptr_t pointer, size_t bytes, int type,
                                          unsigned long long flags);

/* Part of HIP 7 too. hipErrorInvalidHandle: there is no such module. hipErrorNotSupported: the driver does
 * not say. */
hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t module);

/* Afterwards every device sees what a third device (a network device, by the descriptor above) has written to
 * memory of `device` and reported as done. *always: whether work submitted later sees it even without this
 * call. hipErrorNotSupported: this cannot be ensured. Not from a callback. */
hipError_t hipRemoteFlushWrites(int device, int* always);

/* From now on `tell` is called when a kernel has failed, and the device with it: from any thread, once for
 * each device. `what` names the kernel and lives as long as the call. Without a listener, or with a null one,
 * a line goes to stderr. */
typedef void (*hipRemoteFailureListener)(void* argument, int device, hipError_t error, const char* what);
void hipRemoteTellFailures(hipRemoteFailureListener tell, void* argument);

/* Not 0: whatever is written to memory, by kernels, copies or otherwise, is written by threads of this
 * process, so the system's page tables show it. */
int hipRemoteRunsOnHost(void);

/* From now on the nanoseconds for which devices are busy with work of this process are added to *nanoseconds,
 * atomically, from any thread, while that goes on. Work of several streams at the same time counts for each.
 * The number lives as long as the process. Call it once. */
void hipRemoteShowBusyTime(uint64_t* nanoseconds);

/* Where the host's processors are the device: from now on kernels take turns with those of the other
 * processes that were given the same file, which holds a TurnPage (worker/runtime/common/turn_page.h). `slot`
 * is this process's own; `weight`, 1 to 100: its part, in proportion to theirs. The caller closes
 * `descriptor`. Call it once, before the first kernel. hipErrorInvalidValue: there is no such page, or no
 * such slot. */
hipError_t hipRemoteShareProcessors(int descriptor, uint32_t slot, uint32_t weight);

/* hipIpcGetEventHandle and hipIpcOpenEventHandle for processes that may not look into each other: what they
 * share is a file, which the caller passes on. The one who asked closes `*descriptor`; the one who opens
 * keeps `descriptor`. */
hipError_t hipRemoteShareEvent(hipIpcEventHandle_t* handle, int* descriptor, hipEvent_t event);
hipError_t hipRemoteOpenSharedEvent(hipEvent_t* event, hipIpcEventHandle_t handle, int descriptor);

/* Kernels of the module find its managed variable of this name in `memory`, which they and the host reach and
 * the caller owns, and no longer in the module's own. hipErrorInvalidHandle: there is no such module.
 * hipErrorNotFound: it has no such variable. No kernel of the module runs. */
hipError_t hipRemoteBindManaged(hipModule_t module, const char* name, void* memory);

/* Frees what kernels have allocated on the device by malloc() and new, as hipDeviceReset does. Does not wait:
 * a kernel that still runs loses what it has. */
hipError_t hipRemoteEmptyHeap(int device);

/* Why there is no device, in words; null if there is one. The text lives as long as the library. */
const char* hipRemoteUnavailableReason(void);

#ifdef __cplusplus
}
#endif
