// SPDX-License-Identifier: Apache-2.0
// Fills hipDeviceProp_tR0600 field by field.
#include "hipcore/abi/properties.h"

#include <algorithm>
#include <cstring>

namespace tf::abi {
namespace {

// What is in both forms, under the same names.
void copy_common(const hipDeviceProp_t& from, hipDeviceProp_tR0600& to) {
  std::memcpy(to.name, from.name, sizeof to.name);
  std::memcpy(to.gcnArchName, from.gcnArchName, sizeof to.gcnArchName);
  to.totalGlobalMem = from.totalGlobalMem;
  to.sharedMemPerBlock = from.sharedMemPerBlock;
  to.regsPerBlock = from.regsPerBlock;
  to.warpSize = from.warpSize;
  to.memPitch = from.memPitch;
  to.maxThreadsPerBlock = from.maxThreadsPerBlock;
  std::ranges::copy(from.maxThreadsDim, to.maxThreadsDim);
  std::ranges::copy(from.maxGridSize, to.maxGridSize);
  to.clockRate = from.clockRate;
  to.totalConstMem = from.totalConstMem;
  to.major = from.major;
  to.minor = from.minor;
  to.multiProcessorCount = from.multiProcessorCount;
  to.kernelExecTimeoutEnabled = from.kernelExecTimeoutEnabled;
  to.integrated = from.integrated;
  to.canMapHostMemory = from.canMapHostMemory;
  to.computeMode = from.computeMode;
  to.concurrentKernels = from.concurrentKernels;
  to.ECCEnabled = from.ECCEnabled;
  to.pciBusID = from.pciBusID;
  to.pciDeviceID = from.pciDeviceID;
  to.pciDomainID = from.pciDomainID;
  to.tccDriver = from.tccDriver;
  to.memoryClockRate = from.memoryClockRate;
  to.memoryBusWidth = from.memoryBusWidth;
  to.l2CacheSize = from.l2CacheSize;
  to.maxThreadsPerMultiProcessor = from.maxThreadsPerMultiProcessor;
  to.isMultiGpuBoard = from.isMultiGpuBoard;
  to.maxSharedMemoryPerMultiProcessor = from.maxSharedMemoryPerMultiProcessor;
  to.clockInstructionRate = from.clockInstructionRate;
  to.arch = from.arch;
  to.isLargeBar = from.isLargeBar;
  to.asicRevision = from.asicRevision;
}

void copy_memory(const hipDeviceProp_t& from, hipDeviceProp_tR0600& to) {
  to.managedMemory = from.managedMemory;
  to.directManagedMemAccessFromHost = from.directManagedMemAccessFromHost;
  to.concurrentManagedAccess = from.concurrentManagedAccess;
  to.pageableMemoryAccess = from.pageableMemoryAccess;
  to.pageableMemoryAccessUsesHostPageTables = from.pageableMemoryAccessUsesHostPageTables;
  to.textureAlignment = from.textureAlignment;
  to.texturePitchAlignment = from.texturePitchAlignment;
  to.maxTexture1D = from.maxTexture1D;
  to.maxTexture1DLinear = from.maxTexture1DLinear;
  std::ranges::copy(from.maxTexture2D, to.maxTexture2D);
  std::ranges::copy(from.maxTexture3D, to.maxTexture3D);
}

void copy_cooperation(const hipDeviceProp_t& from, hipDeviceProp_tR0600& to) {
  to.cooperativeLaunch = from.cooperativeLaunch;
  to.cooperativeMultiDeviceLaunch = from.cooperativeMultiDeviceLaunch;
  to.cooperativeMultiDeviceUnmatchedFunc = from.cooperativeMultiDeviceUnmatchedFunc;
  to.cooperativeMultiDeviceUnmatchedGridDim = from.cooperativeMultiDeviceUnmatchedGridDim;
  to.cooperativeMultiDeviceUnmatchedBlockDim = from.cooperativeMultiDeviceUnmatchedBlockDim;
  to.cooperativeMultiDeviceUnmatchedSharedMem = from.cooperativeMultiDeviceUnmatchedSharedMem;
}

// Attributes of one number each. Those of more (layered textures, ...) stay zero: HIP gives only their first.
void copy_attributes(const AttributeOf& attribute, hipDeviceProp_tR0600& to) {
  to.deviceOverlap = attribute(hipDeviceAttributeDeviceOverlap);
  to.asyncEngineCount = attribute(hipDeviceAttributeAsyncEngineCount);
  to.unifiedAddressing = attribute(hipDeviceAttributeUnifiedAddressing);
  to.maxTexture1DMipmap = attribute(hipDeviceAttributeMaxTexture1DMipmap);
  to.maxTextureCubemap = attribute(hipDeviceAttributeMaxTextureCubemap);
  to.maxSurface1D = attribute(hipDeviceAttributeMaxSurface1D);
  to.maxSurfaceCubemap = attribute(hipDeviceAttributeMaxSurfaceCubemap);
  to.surfaceAlignment = static_cast<std::size_t>(attribute(hipDeviceAttributeSurfaceAlignment));
  to.persistingL2CacheMaxSize = attribute(hipDeviceAttributePersistingL2CacheMaxSize);
  to.streamPrioritiesSupported = attribute(hipDeviceAttributeStreamPrioritiesSupported);
  to.globalL1CacheSupported = attribute(hipDeviceAttributeGlobalL1CacheSupported);
  to.localL1CacheSupported = attribute(hipDeviceAttributeLocalL1CacheSupported);
  to.sharedMemPerMultiprocessor =
      static_cast<std::size_t>(attribute(hipDeviceAttributeSharedMemPerMultiprocessor));
  to.regsPerMultiprocessor = attribute(hipDeviceAttributeMaxRegistersPerMultiprocessor);
  to.multiGpuBoardGroupID = attribute(hipDeviceAttributeMultiGpuBoardGroupID);
  to.hostNativeAtomicSupported = attribute(hipDeviceAttributeHostNativeAtomicSupported);
  to.singleToDoublePrecisionPerfRatio = attribute(hipDeviceAttributeSingleToDoublePrecisionPerfRatio);
  to.computePreemptionSupported = attribute(hipDeviceAttributeComputePreemptionSupported);
  to.canUseHostPointerForRegisteredMem = attribute(hipDeviceAttributeCanUseHostPointerForRegisteredMem);
  to.sharedMemPerBlockOptin = static_cast<std::size_t>(attribute(hipDeviceAttributeSharedMemPerBlockOptin));
  to.maxBlocksPerMultiProcessor = attribute(hipDeviceAttributeMaxBlocksPerMultiProcessor);
  to.accessPolicyMaxWindowSize = attribute(hipDeviceAttributeAccessPolicyMaxWindowSize);
  to.reservedSharedMemPerBlock =
      static_cast<std::size_t>(attribute(hipDeviceAttributeReservedSharedMemPerBlock));
  to.memoryPoolsSupported = attribute(hipDeviceAttributeMemoryPoolsSupported);
}

}  // namespace

void to_r0600(const hipDeviceProp_t& from, const AttributeOf& attribute, hipDeviceProp_tR0600& to) {
  std::memset(&to, 0, sizeof to);
  copy_common(from, to);
  copy_memory(from, to);
  copy_cooperation(from, to);
  copy_attributes(attribute, to);
  to.hostRegisterSupported = from.canMapHostMemory;
}

}  // namespace tf::abi
