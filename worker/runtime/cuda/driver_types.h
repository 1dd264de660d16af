// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver's binary interface that the runtime uses: types, layouts and numbers. We
// declare it ourselves, so that the build needs nothing from CUDA. abi_check.cc compares all of it with
// NVIDIA's cuda.h where there is one.
//
// HIP's handles are the driver's handles, so the types are HIP's: all are opaque pointers of the driver.
// Addresses are pointers here where CUDA uses a 64-bit number; they are passed the same way.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "hipcore/newer/hip_types.h"

namespace tf::cuda::driver {

// CUresult. A newer driver may return any number; results.inc names those we know.
enum class Result : int {
#define TF_CUDA_RESULT(name, number, hip) name = number,
#include "worker/runtime/cuda/results.inc"
#undef TF_CUDA_RESULT
};

using Device = int;  // CUdevice: the ordinal in the driver's order
using Context = hipCtx_t;
using Stream = hipStream_t;
using Event = hipEvent_t;
using Module = hipModule_t;
using LinkState = struct LinkStateOfDriver*;
using Function = hipFunction_t;
using Graph = hipGraph_t;
using GraphNode = hipGraphNode_t;
using GraphExec = hipGraphExec_t;
using MemoryPool = hipMemPool_t;
using MemoryHandle = hipMemGenericAllocationHandle_t;
using Address = void*;
using HostFunction = void (*)(void*);
using StreamCallback = void (*)(Stream, Result, void*);
using SharedBytesOfBlock = std::size_t (*)(int);

struct ByteId {  // CUuuid
  char bytes[16];
};

inline constexpr std::size_t kIpcHandleBytes = 64;
struct IpcMemoryHandle {
  char reserved[kIpcHandleBytes];
};
struct IpcEventHandle {
  char reserved[kIpcHandleBytes];
};

enum MemoryType : unsigned { kMemoryHost = 1, kMemoryDevice = 2, kMemoryArray = 3, kMemoryUnified = 4 };

struct Copy2D {  // CUDA_MEMCPY2D, second version
  std::size_t source_x_bytes, source_y;
  MemoryType source_type;
  const void* source_host;
  Address source_device;
  void* source_array;
  std::size_t source_pitch;
  std::size_t target_x_bytes, target_y;
  MemoryType target_type;
  void* target_host;
  Address target_device;
  void* target_array;
  std::size_t target_pitch;
  std::size_t width_bytes, height;
};

struct Copy3D {  // CUDA_MEMCPY3D, second version
  std::size_t source_x_bytes, source_y, source_z, source_level;
  MemoryType source_type;
  const void* source_host;
  Address source_device;
  void* source_array;
  void* reserved_source;
  std::size_t source_pitch, source_height;
  std::size_t target_x_bytes, target_y, target_z, target_level;
  MemoryType target_type;
  void* target_host;
  Address target_device;
  void* target_array;
  void* reserved_target;
  std::size_t target_pitch, target_height;
  std::size_t width_bytes, height, depth;
};

using Array = void*;           // CUarray
using MipmappedArray = void*;  // CUmipmappedArray

struct ArrayDescription {  // CUDA_ARRAY3D_DESCRIPTOR, second version
  std::size_t width, height, depth;
  int format;  // CUarray_format has the numbers of hipArray_Format
  unsigned channels;
  unsigned flags;  // CUDA_ARRAY3D_*, with the numbers of hipArray*
};

using Texture = hipTextureObject_t;  // CUtexObject, a number there
using Surface = hipSurfaceObject_t;  // CUsurfObject
// HIP has made its driver's structs after these, member for member; abi_check.cc compares them.
using ResourceDescription = HIP_RESOURCE_DESC;   // CUDA_RESOURCE_DESC
using TextureDescription = HIP_TEXTURE_DESC;     // CUDA_TEXTURE_DESC
using ViewDescription = HIP_RESOURCE_VIEW_DESC;  // CUDA_RESOURCE_VIEW_DESC

struct Location {  // CUmemLocation
  int type;
  int id;
};
inline constexpr int kLocationDevice = 1;

struct AllocationProperties {  // CUmemAllocationProp
  int type;
  int handle_types;
  Location location;
  void* win32_metadata;
  struct {
    unsigned char compression;
    unsigned char rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};

// CUdevice_attribute: numbers beyond those that HIP has
inline constexpr int kAttributeHostRegister = 99;       // HOST_REGISTER_SUPPORTED
inline constexpr int kAttributeVirtualMemory = 102;     // VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
inline constexpr int kAttributePoolHandles = 119;       // MEMPOOL_SUPPORTED_HANDLE_TYPES
inline constexpr int kAttributeHostNode = 134;          // HOST_NUMA_ID
inline constexpr int kAttributeRdmaOfMapped = 110;      // GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
inline constexpr int kAttributeRdmaFlushOptions = 117;  // GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS
inline constexpr int kAttributeRdmaOrdering = 118;      // GPU_DIRECT_RDMA_WRITES_ORDERING
inline constexpr int kAttributeDmaBuf = 124;            // DMA_BUF_SUPPORTED
inline constexpr int kRangeDmaBuf = 1;                  // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
inline constexpr int kFlushByHost = 1;                  // CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST
inline constexpr int kFlushCurrentContext = 0;          // CUflushGPUDirectRDMAWritesTarget
// CUGPUDirectRDMAWritesOrdering, and CUflushGPUDirectRDMAWritesScope alike
inline constexpr int kSeenByOwner = 100;
inline constexpr int kSeenByAll = 200;

struct AccessDescription {  // CUmemAccessDesc
  Location location;
  int flags;
};

struct PoolProperties {  // CUmemPoolProps
  int type;
  int handle_types;
  Location location;
  void* win32_security;
  std::size_t size_max;
  unsigned short usage;
  unsigned char reserved[54];
};

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS, first version
  Function function;
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  void** arguments;
  void** extra;
};

struct FillNode {  // CUDA_MEMSET_NODE_PARAMS
  Address target;
  std::size_t pitch;
  unsigned value;
  unsigned element_bytes;
  std::size_t width;  // in elements
  std::size_t height;
};

struct HostNode {  // CUDA_HOST_NODE_PARAMS
  HostFunction function;
  void* data;
};

struct BatchNode {  // CUDA_BATCH_MEM_OP_NODE_PARAMS
  Context context;
  unsigned count;
  const hipStreamBatchMemOpParams* operations;  // CUstreamBatchMemOpParams has the same layout and numbers
  unsigned flags;
};

union NodeAttributeValue {  // CUlaunchAttributeValue
  char whole[64];
  void* aligned;  // others hold addresses
  int cooperative;
};

struct LaunchAttribute {  // CUlaunchAttribute
  int id;
  char reserved[4];
  NodeAttributeValue value;
};

struct LaunchConfig {  // CUlaunchConfig
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// CUlaunchAttributeID
inline constexpr int kNodeAttributeCooperative = 2;

// The markers in the lists that a launch takes in place of argument pointers. HIP's are 1, 2 and 3.
inline constexpr std::uintptr_t kLaunchEnd = 0;
inline constexpr std::uintptr_t kLaunchBufferPointer = 1;
inline constexpr std::uintptr_t kLaunchBufferSize = 2;

inline constexpr unsigned kHostPortable = 1;  // of CU_MEMHOSTALLOC_* and CU_MEMHOSTREGISTER_* alike
inline constexpr unsigned kHostMapped = 2;
inline constexpr unsigned kHostWriteCombined = 4;
inline constexpr unsigned kIpcLazyPeerAccess = 1;
inline constexpr std::uint64_t kProcLegacyStream = 1;  // CU_GET_PROC_ADDRESS_LEGACY_STREAM

// CUfunction_attribute
inline constexpr int kFunctionThreadsMax = 0;
inline constexpr int kFunctionStaticSharedBytes = 1;
inline constexpr int kFunctionConstBytes = 2;
inline constexpr int kFunctionLocalBytes = 3;
inline constexpr int kFunctionRegisters = 4;
inline constexpr int kFunctionPtxVersion = 5;
inline constexpr int kFunctionBinaryVersion = 6;
inline constexpr int kFunctionCacheModeCa = 7;
inline constexpr int kFunctionDynamicSharedBytesMax = 8;
inline constexpr int kFunctionSharedCarveout = 9;

// CUpointer_attribute
inline constexpr int kPointerContext = 1;
inline constexpr int kPointerMemoryType = 2;
inline constexpr int kPointerDevicePointer = 3;
inline constexpr int kPointerHostPointer = 4;
inline constexpr int kPointerSynchronous = 6;  // SYNC_MEMOPS
inline constexpr int kPointerBufferId = 7;
inline constexpr int kPointerIsManaged = 8;
inline constexpr int kPointerDeviceOrdinal = 9;
inline constexpr int kPointerRangeStart = 11;
inline constexpr int kPointerRangeBytes = 12;

// CUlimit
inline constexpr int kLimitStackBytes = 0;
inline constexpr int kLimitPrintfFifoBytes = 1;
inline constexpr int kLimitMallocHeapBytes = 2;

// CUjit_option
inline constexpr int kJitErrorLogBuffer = 5;
inline constexpr int kJitErrorLogBufferBytes = 6;
// CUjitInputType
inline constexpr int kJitInputCubin = 0;
inline constexpr int kJitInputPtx = 1;

}  // namespace tf::cuda::driver
