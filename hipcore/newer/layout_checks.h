// SPDX-License-Identifier: Apache-2.0
// Sizes and offsets of the types in hip_types.h. Compiled with the declarations there, and with the vendor's
// where a build finds newer headers (-DTF_HIP_NEWER_INCLUDE=FOLDER), so that one table judges both.
#pragma once

#include <cstddef>

#define TF_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)
#define TF_AT(type, member, bytes) static_assert(offsetof(type, member) == (bytes), #type "." #member)

static_assert(hipDeviceAttributeVirtualMemoryManagementSupported == 89);
static_assert(hipDeviceAttributeWallClockRate == 10017);
#if HIP_VERSION_MAJOR != 6
static_assert(hipDeviceAttributeHostRegisterSupported == 90);
static_assert(hipDeviceAttributeMemoryPoolSupportedHandleTypes == 91);
static_assert(hipDeviceAttributeHostNumaId == 92);
static_assert(hipDeviceAttributeNumberOfXccs == 10018);
#endif

TF_SIZE(hipDeviceProp_tR0600, 1472);
TF_AT(hipDeviceProp_tR0600, uuid, 256);
TF_AT(hipDeviceProp_tR0600, totalGlobalMem, 288);
TF_AT(hipDeviceProp_tR0600, maxThreadsPerBlock, 320);
TF_AT(hipDeviceProp_tR0600, major, 360);
TF_AT(hipDeviceProp_tR0600, multiProcessorCount, 388);
TF_AT(hipDeviceProp_tR0600, surfaceAlignment, 568);
TF_AT(hipDeviceProp_tR0600, maxThreadsPerMultiProcessor, 624);
TF_AT(hipDeviceProp_tR0600, sharedMemPerMultiprocessor, 640);
TF_AT(hipDeviceProp_tR0600, ipcEventSupported, 768);
TF_AT(hipDeviceProp_tR0600, gcnArchName, 1160);
TF_AT(hipDeviceProp_tR0600, asicRevision, 1468);
TF_SIZE(hipFunctionLaunchParams, 56);
TF_AT(hipFunctionLaunchParams, kernelParams, 48);
TF_SIZE(hipStreamBatchMemOpParams, 48);
TF_AT(hipStreamBatchMemOpParams::hipStreamMemOpWaitValueParams_t, flags, 24);
TF_SIZE(hipBatchMemOpNodeParams, 32);
TF_AT(hipBatchMemOpNodeParams, paramArray, 16);
TF_AT(hipBatchMemOpNodeParams, flags, 24);
TF_SIZE(hipMemAllocNodeParams, 120);
TF_AT(hipMemAllocNodeParams, accessDescs, 88);
TF_AT(hipMemAllocNodeParams, dptr, 112);
TF_SIZE(hipExternalSemaphoreSignalNodeParams, 24);
TF_AT(hipExternalSemaphoreSignalNodeParams, numExtSems, 16);
TF_SIZE(hipExternalSemaphoreWaitNodeParams, 24);
TF_AT(hipExternalSemaphoreWaitNodeParams, numExtSems, 16);
TF_SIZE(hipMemcpyNodeParams, 176);
TF_AT(hipMemcpyNodeParams, copyParams, 16);
TF_SIZE(hipGraphNodeParams, 256);
TF_AT(hipGraphNodeParams, kernel, 16);
TF_AT(hipGraphNodeParams, reserved2, 248);
TF_SIZE(hipGraphEdgeData, 8);
TF_SIZE(hipGraphInstantiateParams, 32);
TF_SIZE(hipExternalMemoryMipmappedArrayDesc, 64);

// Since 7.0.
#if !defined(HIP_VERSION_MAJOR) || HIP_VERSION_MAJOR < 6 || HIP_VERSION_MAJOR >= 7
TF_SIZE(hipLaunchAttributeValue, 64);
TF_SIZE(hipLaunchAttribute, 72);
TF_SIZE(hipLaunchConfig_t, 56);
TF_AT(hipLaunchConfig_t, stream, 32);
TF_SIZE(HIP_LAUNCH_CONFIG, 56);
TF_AT(HIP_LAUNCH_CONFIG, hStream, 32);
TF_SIZE(hipMemcpyAttributes, 24);
TF_SIZE(hipMemcpy3DOperand, 40);
TF_SIZE(hipMemcpy3DBatchOp, 112);
TF_AT(hipMemcpy3DBatchOp, extent, 80);
TF_SIZE(hipMemcpy3DPeerParms, 168);
TF_AT(hipMemcpy3DPeerParms, extent, 144);
#endif

// Since 7.14.
#if !defined(HIP_VERSION_MAJOR) || HIP_VERSION_MAJOR < 6 || HIP_VERSION_MAJOR > 7 || \
    (HIP_VERSION_MAJOR == 7 && HIP_VERSION_MINOR >= 14)
TF_SIZE(hipArrayMemoryRequirements, 16);
TF_AT(hipArrayMemoryRequirements, size, 8);
TF_SIZE(hipDevSmResource, 16);
TF_SIZE(hipDevWorkqueueConfigResource, 12);
TF_SIZE(hipDevResource, 144);
TF_AT(hipDevResource, sm, 96);
TF_AT(hipDevResource, nextResource, 136);
TF_SIZE(hipDevSmResourceGroupParams, 64);
static_assert(static_cast<int>(hipErrorInvalidResourceType) == 914);
static_assert(static_cast<int>(hipErrorInvalidResourceConfiguration) == 915);
static_assert(static_cast<int>(hipErrorInvalidClusterSize) == 1054);
static_assert(hipDevResourceTypeWorkqueueConfig == 1000 && hipDevResourceTypeWorkqueue == 10000);
#endif

#undef TF_SIZE
#undef TF_AT
