// SPDX-License-Identifier: Apache-2.0
// Properties and attributes of the host's cores as a device.
#include "worker/runtime/cpu/properties.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "hipcore/newer/hip_types.h"
#include "worker/runtime/cpu/kernel/processor.h"
#include "worker/runtime/cpu/kernel_api.h"

namespace tf::cpu {
namespace {

constexpr int kWallClock_khz = 100'000;  // device/support.cc, __ockl_steadyctr_u64

std::string cpu_name() {
  const std::string name = processor_fact("model name");
  return name.empty() ? "x86-64 processor" : name;
}

int cache_bytes() {
  const std::string kilobytes = processor_fact("cache size");
  const long value = kilobytes.empty() ? 0 : std::strtol(kilobytes.c_str(), nullptr, 10);
  return value > 0 && value < INT_MAX / 1024 ? static_cast<int>(value * 1024) : 1 << 20;
}

void set_architecture(hipDeviceProp_t& properties) {
  hipDeviceArch_t& arch = properties.arch;
  arch.hasGlobalInt32Atomics = 1;
  arch.hasGlobalFloatAtomicExch = 1;
  arch.hasSharedInt32Atomics = 1;
  arch.hasSharedFloatAtomicExch = 1;
  arch.hasFloatAtomicAdd = 1;
  arch.hasGlobalInt64Atomics = 1;
  arch.hasSharedInt64Atomics = 1;
  arch.hasDoubles = 1;
  arch.hasWarpVote = 1;
  arch.hasWarpBallot = 1;
  arch.hasWarpShuffle = 1;
  arch.hasThreadFenceSystem = 1;
  arch.has3dGrid = 1;
}

void set_textures(hipDeviceProp_t& properties) {
  const auto edge = static_cast<int>(kTextureEdgeMax);
  properties.maxTexture1D = edge;
  properties.maxTexture1DLinear = static_cast<int>(kTextureLinearMax);
  std::fill(std::begin(properties.maxTexture2D), std::end(properties.maxTexture2D), edge);
  std::fill(std::begin(properties.maxTexture3D), std::end(properties.maxTexture3D),
            static_cast<int>(kTextureVolumeEdgeMax));
}

}  // namespace

hipUUID device_uuid(int number) {
  hipUUID uuid{};
  std::snprintf(uuid.bytes, sizeof uuid.bytes, "CPU-%011d", number);
  return uuid;
}

hipDeviceProp_t make_properties(int number, const DeviceShape& shape) {
  hipDeviceProp_t p;
  std::memset(&p, 0, sizeof p);
  std::snprintf(p.name, sizeof p.name, "%s", cpu_name().c_str());
  std::snprintf(p.gcnArchName, sizeof p.gcnArchName, "%s", kTargetName);
  p.totalGlobalMem = shape.total_bytes;
  p.sharedMemPerBlock = kMaxSharedBytes;
  p.maxSharedMemoryPerMultiProcessor = kMaxSharedBytes;
  p.regsPerBlock = 65536;
  p.warpSize = kWarpSize;
  p.maxThreadsPerBlock = kMaxThreadsPerBlock;
  std::fill(std::begin(p.maxThreadsDim), std::end(p.maxThreadsDim), static_cast<int>(kMaxThreadsPerBlock));
  p.maxGridSize[0] = INT_MAX;
  p.maxGridSize[1] = p.maxGridSize[2] = 65536;
  p.clockRate = clock_khz();
  p.clockInstructionRate = p.clockRate;
  p.memoryClockRate = p.clockRate;
  p.memoryBusWidth = 64;
  p.totalConstMem = kMaxSharedBytes;
  p.major = 9;  // what programs for AMD compare with: the capabilities of a GCN 9 device
  p.minor = 0;
  p.multiProcessorCount = shape.multiprocessors;
  p.l2CacheSize = cache_bytes();
  p.maxThreadsPerMultiProcessor = kMaxThreadsPerMultiprocessor;
  p.computeMode = hipComputeModeDefault;
  set_architecture(p);
  p.concurrentKernels = 1;
  p.pciBusID = number + 1;
  p.isMultiGpuBoard = shape.devices > 1;
  p.canMapHostMemory = 1;
  p.integrated = 1;
  p.cooperativeLaunch = 1;
  p.memPitch = INT_MAX;
  set_textures(p);
  p.textureAlignment = kPitchAlignment_bytes;
  p.texturePitchAlignment = kPitchAlignment_bytes;
  p.isLargeBar = shape.behind_bus ? 0 : 1;
  p.managedMemory = 1;
  p.directManagedMemAccessFromHost = 1;
  p.concurrentManagedAccess = 1;
  p.pageableMemoryAccess = 1;
  p.pageableMemoryAccessUsesHostPageTables = 1;
  return p;
}

namespace {

std::optional<int> limits_of(const hipDeviceProp_t& p, hipDeviceAttribute_t attribute) {
  switch (attribute) {
    case hipDeviceAttributeMaxThreadsPerBlock: return p.maxThreadsPerBlock;
    case hipDeviceAttributeMaxThreadsDim:
    case hipDeviceAttributeMaxBlockDimX: return p.maxThreadsDim[0];
    case hipDeviceAttributeMaxBlockDimY: return p.maxThreadsDim[1];
    case hipDeviceAttributeMaxBlockDimZ: return p.maxThreadsDim[2];
    case hipDeviceAttributeMaxGridDimX: return p.maxGridSize[0];
    case hipDeviceAttributeMaxGridDimY: return p.maxGridSize[1];
    case hipDeviceAttributeMaxGridDimZ: return p.maxGridSize[2];
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeSharedMemPerBlockOptin: return static_cast<int>(p.sharedMemPerBlock);
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
    case hipDeviceAttributeSharedMemPerMultiprocessor:
      return static_cast<int>(p.maxSharedMemoryPerMultiProcessor);
    case hipDeviceAttributeReservedSharedMemPerBlock:
    case hipDeviceAttributeAccessPolicyMaxWindowSize: return 0;
    case hipDeviceAttributeMaxRegistersPerBlock:
    case hipDeviceAttributeMaxRegistersPerMultiprocessor: return p.regsPerBlock;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
    case hipDeviceAttributeMaxBlocksPerMultiProcessor: return kMaxBlocksPerMultiprocessor;
    case hipDeviceAttributeMaxPitch: return static_cast<int>(p.memPitch);
    case hipDeviceAttributeTotalConstantMemory: return static_cast<int>(p.totalConstMem);
    case hipDeviceAttributeTotalGlobalMem:
      return static_cast<int>(std::min<std::size_t>(p.totalGlobalMem, INT_MAX));
    case hipDeviceAttributeTextureAlignment: return static_cast<int>(p.textureAlignment);
    case hipDeviceAttributeTexturePitchAlignment: return static_cast<int>(p.texturePitchAlignment);
    default: return std::nullopt;
  }
}

std::optional<int> textures_of(const hipDeviceProp_t& p, hipDeviceAttribute_t attribute) {
  switch (attribute) {
    case hipDeviceAttributeImageSupport: return 1;
    case hipDeviceAttributeMaxTexture1DWidth: return p.maxTexture1D;
    case hipDeviceAttributeMaxTexture1DLinear: return p.maxTexture1DLinear;
    case hipDeviceAttributeMaxTexture2DWidth:
    case hipDeviceAttributeMaxTexture2DGather:
    case hipDeviceAttributeMaxTextureCubemap:
    case hipDeviceAttributeMaxTexture2DLinear: return p.maxTexture2D[0];
    case hipDeviceAttributeMaxTexture2DHeight: return p.maxTexture2D[1];
    case hipDeviceAttributeMaxTexture3DWidth: return p.maxTexture3D[0];
    case hipDeviceAttributeMaxTexture3DHeight: return p.maxTexture3D[1];
    case hipDeviceAttributeMaxTexture3DDepth: return p.maxTexture3D[2];
    default: return std::nullopt;
  }
}

std::optional<int> machine_of(const hipDeviceProp_t& p, hipDeviceAttribute_t attribute) {
  switch (attribute) {
    case hipDeviceAttributeClockRate: return p.clockRate;
    case hipDeviceAttributeClockInstructionRate: return p.clockInstructionRate;
    case hipDeviceAttributeMemoryClockRate: return p.memoryClockRate;
    case hipDeviceAttributeMemoryBusWidth: return p.memoryBusWidth;
    case hipDeviceAttributeComputeCapabilityMajor: return p.major;
    case hipDeviceAttributeComputeCapabilityMinor: return p.minor;
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount: return p.multiProcessorCount;
    case hipDeviceAttributeL2CacheSize: return p.l2CacheSize;
    case hipDeviceAttributePciBusId: return p.pciBusID;
    case hipDeviceAttributePciDeviceId: return p.pciDeviceID;
    case hipDeviceAttributePciDomainID: return p.pciDomainID;
    case hipDeviceAttributeIsMultiGpuBoard: return p.isMultiGpuBoard;
    case hipDeviceAttributeMultiGpuBoardGroupID: return 0;
    case hipDeviceAttributeIntegrated: return p.integrated;
    case hipDeviceAttributeIsLargeBar: return p.isLargeBar;
    case hipDeviceAttributeAsicRevision: return p.asicRevision;
    case hipDeviceAttributeGcnArch: return p.gcnArch;
    case hipDeviceAttributeWarpSize: return p.warpSize;
    case hipDeviceAttributeComputeMode: return p.computeMode;
    case hipDeviceAttributeEccEnabled: return p.ECCEnabled;
    case hipDeviceAttributeTccDriver: return p.tccDriver;
    case hipDeviceAttributeKernelExecTimeout: return p.kernelExecTimeoutEnabled;
    case hipDeviceAttributeAsyncEngineCount: return 1;
    case hipDeviceAttributeSingleToDoublePrecisionPerfRatio: return 2;
    default: return std::nullopt;
  }
}

std::optional<int> features_of(const hipDeviceProp_t& p, hipDeviceAttribute_t attribute) {
  switch (attribute) {
    case hipDeviceAttributeCanMapHostMemory: return p.canMapHostMemory;
    case hipDeviceAttributeConcurrentKernels: return p.concurrentKernels;
    case hipDeviceAttributeCooperativeLaunch: return p.cooperativeLaunch;
    case hipDeviceAttributeManagedMemory: return p.managedMemory;
    case hipDeviceAttributeDirectManagedMemAccessFromHost: return p.directManagedMemAccessFromHost;
    case hipDeviceAttributeConcurrentManagedAccess: return p.concurrentManagedAccess;
    case hipDeviceAttributePageableMemoryAccess: return p.pageableMemoryAccess;
    case hipDeviceAttributePageableMemoryAccessUsesHostPageTables:
      return p.pageableMemoryAccessUsesHostPageTables;
    case hipDeviceAttributeCanUseHostPointerForRegisteredMem:
    case hipDeviceAttributeDeviceOverlap:
    case hipDeviceAttributeHostNativeAtomicSupported:
    case hipDeviceAttributeUnifiedAddressing:
    case hipDeviceAttributeMemoryPoolsSupported:
    case hipDeviceAttributeStreamPrioritiesSupported:
    case hipDeviceAttributeCanUseStreamWaitValue:
    case hipDeviceAttributeFineGrainSupport: return 1;
    case hipDeviceAttributeCooperativeMultiDeviceLaunch:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem:
    case hipDeviceAttributeComputePreemptionSupported:
    case hipDeviceAttributeGlobalL1CacheSupported:
    case hipDeviceAttributeLocalL1CacheSupported: return 0;
    default: return std::nullopt;
  }
}

std::optional<int> newer_of(hipDeviceAttribute_t attribute) {
  if (attribute == hipDeviceAttributeWallClockRate) return kWallClock_khz;
  if (attribute == hipDeviceAttributeVirtualMemoryManagementSupported) return 1;
  if (attribute == hipDeviceAttributeHostRegisterSupported) return 1;
  if (attribute == hipDeviceAttributeMemoryPoolSupportedHandleTypes)
    return hipMemHandleTypePosixFileDescriptor;
  if (attribute == hipDeviceAttributeHostNumaId) return -1;
  if (attribute == hipDeviceAttributeNumberOfXccs) return 1;
  return std::nullopt;
}

}  // namespace

std::optional<int> attribute_of(const hipDeviceProp_t& properties, hipDeviceAttribute_t attribute) {
  if (const auto limit = limits_of(properties, attribute)) return limit;
  if (const auto texture = textures_of(properties, attribute)) return texture;
  if (const auto machine = machine_of(properties, attribute)) return machine;
  if (const auto feature = features_of(properties, attribute)) return feature;
  return newer_of(attribute);
}

}  // namespace tf::cpu
