// SPDX-License-Identifier: Apache-2.0
// Contexts: one primary context per device, kept by the client alone.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

LOCAL(thread) hipError_t hipCtxCreate(OUT(ctx) hipCtx_t* ctx, unsigned int flags, hipDevice_t device);
LOCAL(thread) hipError_t hipCtxDestroy(CONSUMES(ctx) hipCtx_t ctx);
LOCAL(thread) hipError_t hipCtxPopCurrent(OUT(ctx) OPTIONAL hipCtx_t* ctx);
LOCAL(thread) hipError_t hipCtxPushCurrent(IN(ctx) hipCtx_t ctx);
LOCAL(thread) hipError_t hipCtxSetCurrent(IN(ctx) OPTIONAL hipCtx_t ctx);
ANSWERS(ctx = context_of(current)) hipError_t hipCtxGetCurrent(OUT(ctx) hipCtx_t* ctx);
ANSWERS(device = current) hipError_t hipCtxGetDevice(OUT() hipDevice_t* device);
LOCAL(constant) hipError_t hipCtxGetApiVersion(IN(ctx) hipCtx_t ctx, OUT() int* version);
ALIAS(hipGetDeviceFlags) hipError_t hipCtxGetFlags(OUT() unsigned int* flags);
ALIAS(hipDeviceSynchronize) hipError_t hipCtxSynchronize();
ALIAS(hipDeviceGetCacheConfig) hipError_t hipCtxGetCacheConfig(OUT() hipFuncCache_t* config);
ALIAS(hipDeviceSetCacheConfig) hipError_t hipCtxSetCacheConfig(hipFuncCache_t config);
ALIAS(hipDeviceGetSharedMemConfig) hipError_t hipCtxGetSharedMemConfig(OUT() hipSharedMemConfig* config);
ALIAS(hipDeviceSetSharedMemConfig) hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config);
CUSTOM(thread) ASKS(always) hipError_t hipCtxEnablePeerAccess(IN(ctx) hipCtx_t peer, unsigned int flags);
CUSTOM(thread) ASKS(always) hipError_t hipCtxDisablePeerAccess(IN(ctx) hipCtx_t peer);
LOCAL(convert) hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, OUT() unsigned int* flags,
                                                      OUT() int* active);
ANSWERS(hipSuccess) hipError_t hipDevicePrimaryCtxRelease(ORDINAL hipDevice_t device);
ANSWERS(ctx = context_of(device))
hipError_t hipDevicePrimaryCtxRetain(OUT(ctx) hipCtx_t* ctx, ORDINAL hipDevice_t device);
ANSWERS(hipSuccess) hipError_t hipDevicePrimaryCtxReset(ORDINAL hipDevice_t device);
ANSWERS(hipErrorContextAlreadyInUse)
hipError_t hipDevicePrimaryCtxSetFlags(ORDINAL hipDevice_t device, unsigned int flags);

}  // extern "C"
