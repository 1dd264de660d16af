// SPDX-License-Identifier: Apache-2.0
// Execution contexts and the resources that they are made of (HIP 7.14), and error codes since HIP 5.3.
#pragma once

#include <hip/hip_runtime_api.h>

inline constexpr auto hipErrorInvalidChannelDescriptor = static_cast<hipError_t>(911);
inline constexpr auto hipErrorInvalidTexture = static_cast<hipError_t>(912);
inline constexpr auto hipErrorInvalidResourceType = static_cast<hipError_t>(914);
inline constexpr auto hipErrorInvalidResourceConfiguration = static_cast<hipError_t>(915);
inline constexpr auto hipErrorInvalidClusterSize = static_cast<hipError_t>(1054);

// Of hipInitDevice: its device flags count.
inline constexpr unsigned hipInitDeviceFlagsAreValid = 1;

using hipExecutionCtx_t = struct ihipExecutionCtx_t*;
using hipDevResourceDesc_t = struct ihipDevResourceDesc_t*;

enum hipDevResourceType {
  hipDevResourceTypeInvalid = 0,
  hipDevResourceTypeSm = 1,
  hipDevResourceTypeWorkqueueConfig = 1000,
  hipDevResourceTypeWorkqueue = 10000
};

enum hipDevSmResourceGroup_flags { hipDevSmResourceGroupDefault = 0, hipDevSmResourceGroupBackfill = 1 };

enum hipDevSmResourceSplitByCount_flags {
  hipDevSmResourceSplitIgnoreSmCoscheduling = 1,
  hipDevSmResourceSplitMaxPotentialClusterSize = 2
};

enum hipDevWorkqueueConfigScope {
  hipDevWorkqueueConfigScopeDeviceCtx = 0,
  hipDevWorkqueueConfigScopeGreenCtxBalanced = 1
};

struct hipDevSmResource {
  unsigned int smCount;
  unsigned int minSmPartitionSize;
  unsigned int smCoscheduledAlignment;
  unsigned int flags;
};

struct hipDevWorkqueueConfigResource {
  int device;
  unsigned int wqConcurrencyLimit;
  hipDevWorkqueueConfigScope sharingScope;
};

struct hipDevWorkqueueResource {
  unsigned char reserved[40];
};

struct hipDevResource {
  hipDevResourceType type;
  unsigned char _internal_padding[92];  // the runtime's own
  union {
    hipDevSmResource sm;
    hipDevWorkqueueConfigResource wqConfig;
    hipDevWorkqueueResource wq;
    unsigned char _oversize[40];
  };
  hipDevResource* nextResource;
};

struct hipDevSmResourceGroupParams {
  unsigned int smCount;  // 0: as many as are left
  unsigned int coscheduledSmCount;
  unsigned int preferredCoscheduledSmCount;
  unsigned int flags;
  unsigned int reserved[12];
};
