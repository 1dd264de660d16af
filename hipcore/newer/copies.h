// SPDX-License-Identifier: Apache-2.0
// Copies and memory since HIP 5.3: batches, copies between peers, shareable ranges, arrays of external
// memory.
#pragma once

#include <hip/hip_runtime_api.h>

struct hipArrayMemoryRequirements {
  size_t alignment;
  size_t size;  // bytes
};

// Of hipMemcpyKind since 6.0: within devices, by their copy engines.
inline constexpr int kHipMemcpyDeviceToDeviceNoCU = 1024;

// Of hipMemLocationType since 7.0.
inline constexpr int kHipMemLocationTypeHost = 2;
inline constexpr int kHipMemLocationTypeHostNuma = 3;
inline constexpr int kHipMemLocationTypeHostNumaCurrent = 4;

enum hipMemcpyFlags { hipMemcpyFlagDefault = 0, hipMemcpyFlagPreferOverlapWithCompute = 1 };

enum hipMemcpySrcAccessOrder {
  hipMemcpySrcAccessOrderInvalid = 0,
  hipMemcpySrcAccessOrderStream = 1,
  hipMemcpySrcAccessOrderDuringApiCall = 2,
  hipMemcpySrcAccessOrderAny = 3,
  hipMemcpySrcAccessOrderMax = 0x7FFFFFFF
};

struct hipMemcpyAttributes {
  hipMemcpySrcAccessOrder srcAccessOrder;
  hipMemLocation srcLocHint;
  hipMemLocation dstLocHint;
  unsigned int flags;
};

enum hipMemcpy3DOperandType {
  hipMemcpyOperandTypePointer = 1,
  hipMemcpyOperandTypeArray = 2,
  hipMemcpyOperandTypeMax = 0x7FFFFFFF
};

struct hipOffset3D {
  size_t x, y, z;
};

struct hipMemcpy3DOperand {
  hipMemcpy3DOperandType type;
  union {
    struct {
      void* ptr;
      size_t rowLength;    // elements; 0: packed
      size_t layerHeight;  // rows; 0: packed
      hipMemLocation locHint;
    } ptr;
    struct {
      hipArray_t array;
      hipOffset3D offset;
    } array;
  } op;
};

struct hipMemcpy3DBatchOp {
  hipMemcpy3DOperand src;
  hipMemcpy3DOperand dst;
  hipExtent extent;
  hipMemcpySrcAccessOrder srcAccessOrder;
  unsigned int flags;
};

struct hipMemcpy3DPeerParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  int srcDevice;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  int dstDevice;
  hipExtent extent;
};

enum hipMemRangeHandleType { hipMemRangeHandleTypeDmaBufFd = 1, hipMemRangeHandleTypeMax = 0x7FFFFFFF };

struct hipExternalMemoryMipmappedArrayDesc {
  unsigned long long offset;
  hipChannelFormatDesc formatDesc;
  hipExtent extent;
  unsigned int flags;
  unsigned int numLevels;
};
