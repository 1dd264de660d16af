// SPDX-License-Identifier: Apache-2.0
// Graphs since HIP 5.3: nodes of memory, of external semaphores and of stream operations; user objects; the
// one struct for every kind of node.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/newer/launch.h"

typedef struct hipUserObject* hipUserObject_t;

enum hipUserObjectFlags { hipUserObjectNoDestructorSync = 1 };
enum hipUserObjectRetainFlags { hipGraphUserObjectMove = 1 };

enum hipGraphMemAttributeType {
  hipGraphMemAttrUsedMemCurrent = 0,  // bytes, uint64_t, as are all
  hipGraphMemAttrUsedMemHigh,
  hipGraphMemAttrReservedMemCurrent,
  hipGraphMemAttrReservedMemHigh
};

struct hipMemAllocNodeParams {
  hipMemPoolProps poolProps;
  const hipMemAccessDesc* accessDescs;
  size_t accessDescCount;
  size_t bytesize;
  void* dptr;  // out
};

struct hipExternalSemaphoreSignalNodeParams {
  hipExternalSemaphore_t* extSemArray;
  const hipExternalSemaphoreSignalParams* paramsArray;
  unsigned int numExtSems;
};

struct hipExternalSemaphoreWaitNodeParams {
  hipExternalSemaphore_t* extSemArray;
  const hipExternalSemaphoreWaitParams* paramsArray;
  unsigned int numExtSems;
};

struct hipBatchMemOpNodeParams {
  hipCtx_t ctx;
  unsigned int count;
  hipStreamBatchMemOpParams* paramArray;
  unsigned int flags;
};

struct hipMemcpyNodeParams {
  int flags;
  int reserved[3];
  hipMemcpy3DParms copyParams;
};

struct hipChildGraphNodeParams {
  hipGraph_t graph;
};

struct hipEventWaitNodeParams {
  hipEvent_t event;
};

struct hipEventRecordNodeParams {
  hipEvent_t event;
};

struct hipMemFreeNodeParams {
  void* dptr;
};

struct hipGraphNodeParams {
  int type;  // hipGraphNodeType, as the program's major numbers it
  int reserved0[3];
  union {
    long long reserved1[29];
    hipKernelNodeParams kernel;
    hipMemcpyNodeParams memcpy;
    hipMemsetParams memset;
    hipHostNodeParams host;
    hipChildGraphNodeParams graph;
    hipEventWaitNodeParams eventWait;
    hipEventRecordNodeParams eventRecord;
    hipExternalSemaphoreSignalNodeParams extSemSignal;
    hipExternalSemaphoreWaitNodeParams extSemWait;
    hipMemAllocNodeParams alloc;
    hipMemFreeNodeParams free;
  };
  long long reserved2;
};

enum hipGraphDependencyType { hipGraphDependencyTypeDefault = 0, hipGraphDependencyTypeProgrammatic = 1 };

struct hipGraphEdgeData {
  unsigned char from_port;
  unsigned char reserved[5];
  unsigned char to_port;
  unsigned char type;  // hipGraphDependencyType
};

// Of hipGraphInstantiateFlags since 5.5.
inline constexpr unsigned long long kHipGraphInstantiateFlagUpload = 2;
inline constexpr unsigned long long kHipGraphInstantiateFlagDeviceLaunch = 4;
inline constexpr unsigned long long kHipGraphInstantiateFlagUseNodePriority = 8;

enum hipGraphInstantiateResult {
  hipGraphInstantiateSuccess = 0,
  hipGraphInstantiateError = 1,
  hipGraphInstantiateInvalidStructure = 2,
  hipGraphInstantiateNodeOperationNotSupported = 3,
  hipGraphInstantiateMultipleDevicesNotSupported = 4
};

struct hipGraphInstantiateParams {
  hipGraphNode_t errNode_out;
  unsigned long long flags;
  hipGraphInstantiateResult result_out;
  hipStream_t uploadStream;
};
