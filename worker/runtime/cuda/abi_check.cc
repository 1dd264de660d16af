// SPDX-License-Identifier: Apache-2.0
// Compares driver_types.h and the lists with NVIDIA's cuda.h, at compile time. Built where there is a cuda.h
// with cudaTypedefs.h; no part of any library. Headers before CUDA 13 lack some of the names and are passed
// over.
#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#include <nvrtc.h>

#include <cstddef>
#include <type_traits>

#include "worker/runtime/cuda/driver.h"
#include "worker/runtime/cuda/rtc/nvrtc.h"

#if CUDA_VERSION >= 13000

namespace tf::cuda::driver {
namespace {

// --- numbers -----------------------------------------------------------------------------------------------

#define CUDA_ERROR_SUCCESS CUDA_SUCCESS
#define TF_CUDA_RESULT(name, number, hip) static_assert(CUDA_ERROR_##name == number);
#include "worker/runtime/cuda/results.inc"
#undef TF_CUDA_RESULT

#define TF_CUDA_ATTRIBUTE(hip, cuda, number) static_assert(CU_DEVICE_ATTRIBUTE_##cuda == number);
#include "worker/runtime/cuda/device_attributes.inc"
#undef TF_CUDA_ATTRIBUTE

template <auto kOurs, auto kTheirs>
constexpr bool same() {
  return static_cast<unsigned long long>(kOurs) == static_cast<unsigned long long>(kTheirs);
}

static_assert(same<kMemoryHost, CU_MEMORYTYPE_HOST>());
static_assert(same<kMemoryDevice, CU_MEMORYTYPE_DEVICE>());
static_assert(same<kMemoryArray, CU_MEMORYTYPE_ARRAY>());
static_assert(same<kMemoryUnified, CU_MEMORYTYPE_UNIFIED>());
static_assert(same<kLocationDevice, CU_MEM_LOCATION_TYPE_DEVICE>());
static_assert(same<kNodeAttributeCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE>());
static_assert(same<kAttributeHostRegister, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED>());
static_assert(same<kAttributeVirtualMemory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED>());
static_assert(same<kAttributePoolHandles, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES>());
static_assert(same<kAttributeHostNode, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID>());
static_assert(same<kAttributeRdmaOfMapped, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED>());
static_assert(same<kAttributeRdmaFlushOptions, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS>());
static_assert(same<kAttributeRdmaOrdering, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING>());
static_assert(same<kAttributeDmaBuf, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED>());
static_assert(same<kRangeDmaBuf, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD>());
static_assert(same<kFlushByHost, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST>());
static_assert(same<kFlushCurrentContext, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX>());
static_assert(same<kSeenByOwner, CU_GPU_DIRECT_RDMA_WRITES_ORDERING_OWNER>());
static_assert(same<kSeenByOwner, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER>());
static_assert(same<kSeenByAll, CU_GPU_DIRECT_RDMA_WRITES_ORDERING_ALL_DEVICES>());
static_assert(same<kSeenByAll, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES>());
static_assert(same<kHostPortable, CU_MEMHOSTALLOC_PORTABLE>());
static_assert(same<kHostMapped, CU_MEMHOSTALLOC_DEVICEMAP>());
static_assert(same<kHostWriteCombined, CU_MEMHOSTALLOC_WRITECOMBINED>());
static_assert(same<kIpcLazyPeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS>());
static_assert(same<kProcLegacyStream, CU_GET_PROC_ADDRESS_LEGACY_STREAM>());
static_assert(same<kFunctionThreadsMax, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK>());
static_assert(same<kFunctionStaticSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES>());
static_assert(same<kFunctionConstBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES>());
static_assert(same<kFunctionLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES>());
static_assert(same<kFunctionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS>());
static_assert(same<kFunctionPtxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION>());
static_assert(same<kFunctionBinaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION>());
static_assert(same<kFunctionCacheModeCa, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA>());
static_assert(same<kFunctionDynamicSharedBytesMax, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES>());
static_assert(same<kFunctionSharedCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT>());
static_assert(same<kPointerContext, CU_POINTER_ATTRIBUTE_CONTEXT>());
static_assert(same<kPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE>());
static_assert(same<kPointerDevicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER>());
static_assert(same<kPointerHostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER>());
static_assert(same<kPointerSynchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS>());
static_assert(same<kPointerBufferId, CU_POINTER_ATTRIBUTE_BUFFER_ID>());
static_assert(same<kPointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED>());
static_assert(same<kPointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL>());
static_assert(same<kPointerRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR>());
static_assert(same<kPointerRangeBytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE>());
static_assert(same<kLimitStackBytes, CU_LIMIT_STACK_SIZE>());
static_assert(same<kLimitPrintfFifoBytes, CU_LIMIT_PRINTF_FIFO_SIZE>());
static_assert(same<kLimitMallocHeapBytes, CU_LIMIT_MALLOC_HEAP_SIZE>());
static_assert(same<kJitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER>());
static_assert(same<kJitErrorLogBufferBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES>());
static_assert(same<kJitInputCubin, CU_JIT_INPUT_CUBIN>());
static_assert(same<kJitInputPtx, CU_JIT_INPUT_PTX>());
static_assert(same<hipStreamNonBlocking, CU_STREAM_NON_BLOCKING>());
static_assert(same<hipEventBlockingSync, CU_EVENT_BLOCKING_SYNC>());
static_assert(same<hipEventDisableTiming, CU_EVENT_DISABLE_TIMING>());
static_assert(same<hipEventInterprocess, CU_EVENT_INTERPROCESS>());
// HIP's numbers that are passed on unchanged.
static_assert(same<hipMemAttachGlobal, CU_MEM_ATTACH_GLOBAL>());
static_assert(same<hipMemAttachHost, CU_MEM_ATTACH_HOST>());
static_assert(same<hipHostRegisterIoMemory, CU_MEMHOSTREGISTER_IOMEMORY>());
static_assert(same<hipDeviceScheduleSpin, CU_CTX_SCHED_SPIN>());
static_assert(same<hipDeviceScheduleYield, CU_CTX_SCHED_YIELD>());
static_assert(same<hipDeviceScheduleBlockingSync, CU_CTX_SCHED_BLOCKING_SYNC>());
static_assert(same<hipDeviceMapHost, CU_CTX_MAP_HOST>());
static_assert(same<hipStreamWaitValueGte, CU_STREAM_WAIT_VALUE_GEQ>());
static_assert(same<hipStreamWaitValueEq, CU_STREAM_WAIT_VALUE_EQ>());
static_assert(same<hipStreamWaitValueAnd, CU_STREAM_WAIT_VALUE_AND>());
static_assert(same<hipStreamWaitValueNor, CU_STREAM_WAIT_VALUE_NOR>());
static_assert(same<hipMemAllocationTypePinned, CU_MEM_ALLOCATION_TYPE_PINNED>());
static_assert(same<hipMemHandleTypePosixFileDescriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR>());
static_assert(same<hipMemLocationTypeDevice, CU_MEM_LOCATION_TYPE_DEVICE>());
static_assert(same<hipMemAccessFlagsProtReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE>());
static_assert(same<hipMemAccessFlagsProtRead, CU_MEM_ACCESS_FLAGS_PROT_READ>());
static_assert(same<hipMemAllocationGranularityRecommended, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED>());
static_assert(
    same<hipMemPoolReuseFollowEventDependencies, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES>());
static_assert(same<hipMemPoolAttrReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD>());
static_assert(same<hipMemPoolAttrUsedMemHigh, CU_MEMPOOL_ATTR_USED_MEM_HIGH>());
static_assert(same<hipMemAdviseSetReadMostly, CU_MEM_ADVISE_SET_READ_MOSTLY>());
static_assert(same<hipMemAdviseUnsetAccessedBy, CU_MEM_ADVISE_UNSET_ACCESSED_BY>());
static_assert(same<hipMemRangeAttributeReadMostly, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY>());
static_assert(
    same<hipMemRangeAttributeLastPrefetchLocation, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION>());
static_assert(same<hipCpuDeviceId, CU_DEVICE_CPU>());
static_assert(same<hipInvalidDeviceId, CU_DEVICE_INVALID>());
static_assert(same<hipFuncCachePreferShared, CU_FUNC_CACHE_PREFER_SHARED>());
static_assert(same<hipFuncCachePreferL1, CU_FUNC_CACHE_PREFER_L1>());
static_assert(same<hipFuncCachePreferEqual, CU_FUNC_CACHE_PREFER_EQUAL>());
static_assert(same<HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK>());
static_assert(same<HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                   CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT>());
static_assert(same<HIP_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_CONTEXT>());
static_assert(same<HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE>());
static_assert(same<hipJitOptionFastCompile, CU_JIT_FAST_COMPILE>());
static_assert(same<hipJitOptionErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER>());
static_assert(same<hipComputeModeProhibited, CU_COMPUTEMODE_PROHIBITED>());

// The sentinels of a launch are pointers, which constant expressions cannot convert to numbers: compares
// their text.
#define TF_TEXT_OF(...) #__VA_ARGS__
#define TF_TEXT(...) TF_TEXT_OF(__VA_ARGS__)
constexpr bool equal(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}
static_assert(equal(TF_TEXT(CU_LAUNCH_PARAM_END), "((void*)0x00)") && kLaunchEnd == 0);
static_assert(equal(TF_TEXT(CU_LAUNCH_PARAM_BUFFER_POINTER), "((void*)0x01)") && kLaunchBufferPointer == 1);
static_assert(equal(TF_TEXT(CU_LAUNCH_PARAM_BUFFER_SIZE), "((void*)0x02)") && kLaunchBufferSize == 2);

// --- layouts -----------------------------------------------------------------------------------------------

#define TF_FIELD(ours, our_field, theirs, their_field)                        \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && \
                sizeof(ours::our_field) == sizeof(theirs::their_field))

static_assert(sizeof(ByteId) == sizeof(CUuuid) && alignof(ByteId) == alignof(CUuuid));
TF_FIELD(ByteId, bytes, CUuuid, bytes);

static_assert(sizeof(IpcMemoryHandle) == sizeof(CUipcMemHandle) &&
              alignof(IpcMemoryHandle) == alignof(CUipcMemHandle));
TF_FIELD(IpcMemoryHandle, reserved, CUipcMemHandle, reserved);

static_assert(sizeof(IpcEventHandle) == sizeof(CUipcEventHandle) &&
              alignof(IpcEventHandle) == alignof(CUipcEventHandle));
TF_FIELD(IpcEventHandle, reserved, CUipcEventHandle, reserved);

static_assert(sizeof(Copy2D) == sizeof(CUDA_MEMCPY2D) && alignof(Copy2D) == alignof(CUDA_MEMCPY2D));
TF_FIELD(Copy2D, source_x_bytes, CUDA_MEMCPY2D, srcXInBytes);
TF_FIELD(Copy2D, source_y, CUDA_MEMCPY2D, srcY);
TF_FIELD(Copy2D, source_type, CUDA_MEMCPY2D, srcMemoryType);
TF_FIELD(Copy2D, source_host, CUDA_MEMCPY2D, srcHost);
TF_FIELD(Copy2D, source_device, CUDA_MEMCPY2D, srcDevice);
TF_FIELD(Copy2D, source_array, CUDA_MEMCPY2D, srcArray);
TF_FIELD(Copy2D, source_pitch, CUDA_MEMCPY2D, srcPitch);
TF_FIELD(Copy2D, target_x_bytes, CUDA_MEMCPY2D, dstXInBytes);
TF_FIELD(Copy2D, target_y, CUDA_MEMCPY2D, dstY);
TF_FIELD(Copy2D, target_type, CUDA_MEMCPY2D, dstMemoryType);
TF_FIELD(Copy2D, target_host, CUDA_MEMCPY2D, dstHost);
TF_FIELD(Copy2D, target_device, CUDA_MEMCPY2D, dstDevice);
TF_FIELD(Copy2D, target_array, CUDA_MEMCPY2D, dstArray);
TF_FIELD(Copy2D, target_pitch, CUDA_MEMCPY2D, dstPitch);
TF_FIELD(Copy2D, width_bytes, CUDA_MEMCPY2D, WidthInBytes);
TF_FIELD(Copy2D, height, CUDA_MEMCPY2D, Height);

static_assert(sizeof(ArrayDescription) == sizeof(CUDA_ARRAY3D_DESCRIPTOR));
TF_FIELD(ArrayDescription, width, CUDA_ARRAY3D_DESCRIPTOR, Width);
TF_FIELD(ArrayDescription, height, CUDA_ARRAY3D_DESCRIPTOR, Height);
TF_FIELD(ArrayDescription, depth, CUDA_ARRAY3D_DESCRIPTOR, Depth);
TF_FIELD(ArrayDescription, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
TF_FIELD(ArrayDescription, channels, CUDA_ARRAY3D_DESCRIPTOR, NumChannels);
TF_FIELD(ArrayDescription, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
static_assert(same<HIP_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_UNSIGNED_INT32>());
static_assert(same<HIP_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8>());
static_assert(same<HIP_AD_FORMAT_HALF, CU_AD_FORMAT_HALF>());
static_assert(same<HIP_AD_FORMAT_FLOAT, CU_AD_FORMAT_FLOAT>());
static_assert(same<hipArrayLayered, CUDA_ARRAY3D_LAYERED>());
static_assert(same<hipArraySurfaceLoadStore, CUDA_ARRAY3D_SURFACE_LDST>());
static_assert(same<hipArrayCubemap, CUDA_ARRAY3D_CUBEMAP>());
static_assert(same<hipArrayTextureGather, CUDA_ARRAY3D_TEXTURE_GATHER>());

static_assert(sizeof(ResourceDescription) == sizeof(CUDA_RESOURCE_DESC));
TF_FIELD(ResourceDescription, resType, CUDA_RESOURCE_DESC, resType);
TF_FIELD(ResourceDescription, res, CUDA_RESOURCE_DESC, res);
TF_FIELD(ResourceDescription, flags, CUDA_RESOURCE_DESC, flags);
static_assert(sizeof(TextureDescription) == sizeof(CUDA_TEXTURE_DESC));
TF_FIELD(TextureDescription, filterMode, CUDA_TEXTURE_DESC, filterMode);
TF_FIELD(TextureDescription, flags, CUDA_TEXTURE_DESC, flags);
TF_FIELD(TextureDescription, mipmapLevelBias, CUDA_TEXTURE_DESC, mipmapLevelBias);
TF_FIELD(TextureDescription, borderColor, CUDA_TEXTURE_DESC, borderColor);
static_assert(same<HIP_TRSF_READ_AS_INTEGER, CU_TRSF_READ_AS_INTEGER>());
static_assert(same<HIP_TRSF_NORMALIZED_COORDINATES, CU_TRSF_NORMALIZED_COORDINATES>());
static_assert(same<HIP_TRSF_SRGB, CU_TRSF_SRGB>());
static_assert(sizeof(ViewDescription) == sizeof(CUDA_RESOURCE_VIEW_DESC));
TF_FIELD(ViewDescription, format, CUDA_RESOURCE_VIEW_DESC, format);
TF_FIELD(ViewDescription, firstLayer, CUDA_RESOURCE_VIEW_DESC, firstLayer);
static_assert(same<HIP_RES_VIEW_FORMAT_FLOAT_4X32, CU_RES_VIEW_FORMAT_FLOAT_4X32>());

static_assert(sizeof(Copy3D) == sizeof(CUDA_MEMCPY3D) && alignof(Copy3D) == alignof(CUDA_MEMCPY3D));
TF_FIELD(Copy3D, source_x_bytes, CUDA_MEMCPY3D, srcXInBytes);
TF_FIELD(Copy3D, source_y, CUDA_MEMCPY3D, srcY);
TF_FIELD(Copy3D, source_z, CUDA_MEMCPY3D, srcZ);
TF_FIELD(Copy3D, source_level, CUDA_MEMCPY3D, srcLOD);
TF_FIELD(Copy3D, source_type, CUDA_MEMCPY3D, srcMemoryType);
TF_FIELD(Copy3D, source_host, CUDA_MEMCPY3D, srcHost);
TF_FIELD(Copy3D, source_device, CUDA_MEMCPY3D, srcDevice);
TF_FIELD(Copy3D, source_array, CUDA_MEMCPY3D, srcArray);
TF_FIELD(Copy3D, source_pitch, CUDA_MEMCPY3D, srcPitch);
TF_FIELD(Copy3D, source_height, CUDA_MEMCPY3D, srcHeight);
TF_FIELD(Copy3D, target_x_bytes, CUDA_MEMCPY3D, dstXInBytes);
TF_FIELD(Copy3D, target_y, CUDA_MEMCPY3D, dstY);
TF_FIELD(Copy3D, target_z, CUDA_MEMCPY3D, dstZ);
TF_FIELD(Copy3D, target_level, CUDA_MEMCPY3D, dstLOD);
TF_FIELD(Copy3D, target_type, CUDA_MEMCPY3D, dstMemoryType);
TF_FIELD(Copy3D, target_host, CUDA_MEMCPY3D, dstHost);
TF_FIELD(Copy3D, target_device, CUDA_MEMCPY3D, dstDevice);
TF_FIELD(Copy3D, target_array, CUDA_MEMCPY3D, dstArray);
TF_FIELD(Copy3D, target_pitch, CUDA_MEMCPY3D, dstPitch);
TF_FIELD(Copy3D, target_height, CUDA_MEMCPY3D, dstHeight);
TF_FIELD(Copy3D, width_bytes, CUDA_MEMCPY3D, WidthInBytes);
TF_FIELD(Copy3D, height, CUDA_MEMCPY3D, Height);
TF_FIELD(Copy3D, depth, CUDA_MEMCPY3D, Depth);

static_assert(sizeof(Location) == sizeof(CUmemLocation) && alignof(Location) == alignof(CUmemLocation));
TF_FIELD(Location, type, CUmemLocation, type);
TF_FIELD(Location, id, CUmemLocation, id);

static_assert(sizeof(AllocationProperties) == sizeof(CUmemAllocationProp) &&
              alignof(AllocationProperties) == alignof(CUmemAllocationProp));
TF_FIELD(AllocationProperties, type, CUmemAllocationProp, type);
TF_FIELD(AllocationProperties, handle_types, CUmemAllocationProp, requestedHandleTypes);
TF_FIELD(AllocationProperties, location, CUmemAllocationProp, location);
TF_FIELD(AllocationProperties, win32_metadata, CUmemAllocationProp, win32HandleMetaData);
static_assert(offsetof(AllocationProperties, flags.compression) ==
              offsetof(CUmemAllocationProp, allocFlags.compressionType));
static_assert(offsetof(AllocationProperties, flags.rdma_capable) ==
              offsetof(CUmemAllocationProp, allocFlags.gpuDirectRDMACapable));
static_assert(offsetof(AllocationProperties, flags.usage) == offsetof(CUmemAllocationProp, allocFlags.usage));

static_assert(sizeof(AccessDescription) == sizeof(CUmemAccessDesc) &&
              alignof(AccessDescription) == alignof(CUmemAccessDesc));
TF_FIELD(AccessDescription, location, CUmemAccessDesc, location);
TF_FIELD(AccessDescription, flags, CUmemAccessDesc, flags);

static_assert(sizeof(PoolProperties) == sizeof(CUmemPoolProps) &&
              alignof(PoolProperties) == alignof(CUmemPoolProps));
TF_FIELD(PoolProperties, type, CUmemPoolProps, allocType);
TF_FIELD(PoolProperties, handle_types, CUmemPoolProps, handleTypes);
TF_FIELD(PoolProperties, location, CUmemPoolProps, location);
TF_FIELD(PoolProperties, size_max, CUmemPoolProps, maxSize);
TF_FIELD(PoolProperties, usage, CUmemPoolProps, usage);
TF_FIELD(PoolProperties, reserved, CUmemPoolProps, reserved);

static_assert(sizeof(KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1) &&
              alignof(KernelNode) == alignof(CUDA_KERNEL_NODE_PARAMS_v1));
TF_FIELD(KernelNode, function, CUDA_KERNEL_NODE_PARAMS_v1, func);
TF_FIELD(KernelNode, grid_x, CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
TF_FIELD(KernelNode, grid_z, CUDA_KERNEL_NODE_PARAMS_v1, gridDimZ);
TF_FIELD(KernelNode, block_x, CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
TF_FIELD(KernelNode, block_z, CUDA_KERNEL_NODE_PARAMS_v1, blockDimZ);
TF_FIELD(KernelNode, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes);
TF_FIELD(KernelNode, arguments, CUDA_KERNEL_NODE_PARAMS_v1, kernelParams);
TF_FIELD(KernelNode, extra, CUDA_KERNEL_NODE_PARAMS_v1, extra);

static_assert(sizeof(FillNode) == sizeof(CUDA_MEMSET_NODE_PARAMS) &&
              alignof(FillNode) == alignof(CUDA_MEMSET_NODE_PARAMS));
TF_FIELD(FillNode, target, CUDA_MEMSET_NODE_PARAMS, dst);
TF_FIELD(FillNode, pitch, CUDA_MEMSET_NODE_PARAMS, pitch);
TF_FIELD(FillNode, value, CUDA_MEMSET_NODE_PARAMS, value);
TF_FIELD(FillNode, element_bytes, CUDA_MEMSET_NODE_PARAMS, elementSize);
TF_FIELD(FillNode, width, CUDA_MEMSET_NODE_PARAMS, width);
TF_FIELD(FillNode, height, CUDA_MEMSET_NODE_PARAMS, height);

static_assert(sizeof(HostNode) == sizeof(CUDA_HOST_NODE_PARAMS) &&
              alignof(HostNode) == alignof(CUDA_HOST_NODE_PARAMS));
TF_FIELD(HostNode, function, CUDA_HOST_NODE_PARAMS, fn);
TF_FIELD(HostNode, data, CUDA_HOST_NODE_PARAMS, userData);

static_assert(sizeof(BatchNode) == sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS) &&
              alignof(BatchNode) == alignof(CUDA_BATCH_MEM_OP_NODE_PARAMS));
TF_FIELD(BatchNode, context, CUDA_BATCH_MEM_OP_NODE_PARAMS, ctx);
TF_FIELD(BatchNode, count, CUDA_BATCH_MEM_OP_NODE_PARAMS, count);
TF_FIELD(BatchNode, operations, CUDA_BATCH_MEM_OP_NODE_PARAMS, paramArray);
TF_FIELD(BatchNode, flags, CUDA_BATCH_MEM_OP_NODE_PARAMS, flags);

static_assert(sizeof(hipStreamBatchMemOpParams) == sizeof(CUstreamBatchMemOpParams) &&
              alignof(hipStreamBatchMemOpParams) == alignof(CUstreamBatchMemOpParams));
TF_FIELD(hipStreamBatchMemOpParams, waitValue.address, CUstreamBatchMemOpParams, waitValue.address);
TF_FIELD(hipStreamBatchMemOpParams, waitValue.value64, CUstreamBatchMemOpParams, waitValue.value64);
TF_FIELD(hipStreamBatchMemOpParams, waitValue.flags, CUstreamBatchMemOpParams, waitValue.flags);
TF_FIELD(hipStreamBatchMemOpParams, writeValue.address, CUstreamBatchMemOpParams, writeValue.address);
TF_FIELD(hipStreamBatchMemOpParams, writeValue.value64, CUstreamBatchMemOpParams, writeValue.value64);
TF_FIELD(hipStreamBatchMemOpParams, writeValue.flags, CUstreamBatchMemOpParams, writeValue.flags);
static_assert(same<hipStreamMemOpWaitValue32, CU_STREAM_MEM_OP_WAIT_VALUE_32>());
static_assert(same<hipStreamMemOpWaitValue64, CU_STREAM_MEM_OP_WAIT_VALUE_64>());
static_assert(same<hipStreamMemOpWriteValue32, CU_STREAM_MEM_OP_WRITE_VALUE_32>());
static_assert(same<hipStreamMemOpWriteValue64, CU_STREAM_MEM_OP_WRITE_VALUE_64>());

static_assert(sizeof(NodeAttributeValue) == sizeof(CUlaunchAttributeValue) &&
              alignof(NodeAttributeValue) == alignof(CUlaunchAttributeValue));
TF_FIELD(NodeAttributeValue, cooperative, CUlaunchAttributeValue, cooperative);

static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
TF_FIELD(LaunchAttribute, id, CUlaunchAttribute, id);
TF_FIELD(LaunchAttribute, value, CUlaunchAttribute, value);

static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
TF_FIELD(LaunchConfig, grid_x, CUlaunchConfig, gridDimX);
TF_FIELD(LaunchConfig, block_z, CUlaunchConfig, blockDimZ);
TF_FIELD(LaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
TF_FIELD(LaunchConfig, stream, CUlaunchConfig, hStream);
TF_FIELD(LaunchConfig, attributes, CUlaunchConfig, attrs);
TF_FIELD(LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);

// --- functions ---------------------------------------------------------------------------------------------

template <typename T>
concept Complete = requires {
  sizeof(T);
};

template <typename T>
constexpr bool is_word = std::is_pointer_v<T> || std::is_integral_v<T> || std::is_enum_v<T>;

// Passed in the same way: words of one size, or structs of one size.
template <typename Ours, typename Theirs>
constexpr bool passed_alike() {
  if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using OursBehind = std::remove_cv_t<std::remove_pointer_t<Ours>>;
    using TheirsBehind = std::remove_cv_t<std::remove_pointer_t<Theirs>>;
    if constexpr (Complete<OursBehind> && Complete<TheirsBehind> && !std::is_void_v<OursBehind> &&
                  !std::is_void_v<TheirsBehind> && !std::is_function_v<OursBehind>)
      return sizeof(OursBehind) == sizeof(TheirsBehind);
    return true;
  } else if constexpr (is_word<Ours> && is_word<Theirs>) {
    return sizeof(Ours) == sizeof(Theirs);
  } else {
    return std::is_class_v<Ours> == std::is_class_v<Theirs> &&
           std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs> &&
           sizeof(Ours) == sizeof(Theirs);
  }
}

template <typename Answer, typename... Ours, typename Given, typename... Theirs>
constexpr bool called_alike(Answer (*)(Ours...), Given (*)(Theirs...)) {
  if constexpr (sizeof...(Ours) != sizeof...(Theirs))
    return false;
  else
    return (passed_alike<Ours, Theirs>() && ...);
}

#define TF_CUDA_FUNCTION(name, version, parameters)                            \
  static_assert(called_alike(static_cast<decltype(Driver::name)>(nullptr),     \
                             static_cast<PFN_cu##name##_v##version>(nullptr)), \
                "cu" #name);
#include "worker/runtime/cuda/driver_functions.inc"
#undef TF_CUDA_FUNCTION

#define TF_NVRTC_FUNCTION(name, answer, parameters)                              \
  static_assert(called_alike(static_cast<decltype(nvrtc::Nvrtc::name)>(nullptr), \
                             static_cast<decltype(&::nvrtc##name)>(nullptr)),    \
                "nvrtc" #name);
TF_NVRTC_FUNCTIONS(TF_NVRTC_FUNCTION)
#undef TF_NVRTC_FUNCTION
static_assert(nvrtc::kSuccess == NVRTC_SUCCESS);
static_assert(nvrtc::kCompilationError == NVRTC_ERROR_COMPILATION);
static_assert(nvrtc::kNameNotValid == NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);

}  // namespace
}  // namespace tf::cuda::driver

#endif
