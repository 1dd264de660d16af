// SPDX-License-Identifier: Apache-2.0
// Properties and attributes of NVIDIA GPUs, as HIP has them.
#include "worker/runtime/cuda/properties.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>

#include "hipcore/newer/hip_types.h"

namespace tf::cuda {
namespace {

// The device's attributes under HIP's names; 0 if the driver does not answer.
class Attributes {
 public:
  Attributes(const driver::Driver& driver, driver::Device device) : driver_(driver), device_(device) {}

  int operator[](hipDeviceAttribute_t attribute) const {
    const auto number = driver_attribute(attribute);
    int value = 0;
    if (number && driver_.DeviceGetAttribute(&value, *number, device_) != driver::Result::SUCCESS) return 0;
    return value;
  }
  std::size_t bytes(hipDeviceAttribute_t attribute) const {
    return static_cast<std::size_t>(std::max(0, (*this)[attribute]));
  }

 private:
  const driver::Driver& driver_;
  driver::Device device_;
};

// Every device that CUDA 11 knows has all of them.
void set_architecture(hipDeviceProp_t& p) { std::memset(&p.arch, 0xff, sizeof p.arch); }

void set_limits(hipDeviceProp_t& p, const Attributes& of) {
  p.sharedMemPerBlock = of.bytes(hipDeviceAttributeMaxSharedMemoryPerBlock);
  p.maxSharedMemoryPerMultiProcessor = of.bytes(hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
  p.regsPerBlock = of[hipDeviceAttributeMaxRegistersPerBlock];
  p.warpSize = of[hipDeviceAttributeWarpSize];
  p.maxThreadsPerBlock = of[hipDeviceAttributeMaxThreadsPerBlock];
  p.maxThreadsDim[0] = of[hipDeviceAttributeMaxBlockDimX];
  p.maxThreadsDim[1] = of[hipDeviceAttributeMaxBlockDimY];
  p.maxThreadsDim[2] = of[hipDeviceAttributeMaxBlockDimZ];
  p.maxGridSize[0] = of[hipDeviceAttributeMaxGridDimX];
  p.maxGridSize[1] = of[hipDeviceAttributeMaxGridDimY];
  p.maxGridSize[2] = of[hipDeviceAttributeMaxGridDimZ];
  p.maxThreadsPerMultiProcessor = of[hipDeviceAttributeMaxThreadsPerMultiProcessor];
  p.totalConstMem = of.bytes(hipDeviceAttributeTotalConstantMemory);
  p.maxTexture1DLinear = of[hipDeviceAttributeMaxTexture1DLinear];
  p.maxTexture1D = of[hipDeviceAttributeMaxTexture1DWidth];
  p.maxTexture2D[0] = of[hipDeviceAttributeMaxTexture2DWidth];
  p.maxTexture2D[1] = of[hipDeviceAttributeMaxTexture2DHeight];
  p.maxTexture3D[0] = of[hipDeviceAttributeMaxTexture3DWidth];
  p.maxTexture3D[1] = of[hipDeviceAttributeMaxTexture3DHeight];
  p.maxTexture3D[2] = of[hipDeviceAttributeMaxTexture3DDepth];
  p.memPitch = of.bytes(hipDeviceAttributeMaxPitch);
  p.textureAlignment = of.bytes(hipDeviceAttributeTextureAlignment);
  p.texturePitchAlignment = of.bytes(hipDeviceAttributeTexturePitchAlignment);
}

void set_machine(hipDeviceProp_t& p, const Attributes& of) {
  p.clockRate = of[hipDeviceAttributeClockRate];
  p.clockInstructionRate = of[hipDeviceAttributeClockInstructionRate];
  p.memoryClockRate = of[hipDeviceAttributeMemoryClockRate];
  p.memoryBusWidth = of[hipDeviceAttributeMemoryBusWidth];
  p.multiProcessorCount = of[hipDeviceAttributeMultiprocessorCount];
  p.l2CacheSize = of[hipDeviceAttributeL2CacheSize];
  p.major = of[hipDeviceAttributeComputeCapabilityMajor];
  p.minor = of[hipDeviceAttributeComputeCapabilityMinor];
  p.computeMode = of[hipDeviceAttributeComputeMode];
  p.pciDomainID = of[hipDeviceAttributePciDomainID];
  p.pciBusID = of[hipDeviceAttributePciBusId];
  p.pciDeviceID = of[hipDeviceAttributePciDeviceId];
  p.isMultiGpuBoard = of[hipDeviceAttributeIsMultiGpuBoard];
  p.kernelExecTimeoutEnabled = of[hipDeviceAttributeKernelExecTimeout];
  p.ECCEnabled = of[hipDeviceAttributeEccEnabled];
  p.tccDriver = of[hipDeviceAttributeTccDriver];
  p.integrated = of[hipDeviceAttributeIntegrated];
  // Large or not, the host cannot use device addresses: that is what HIP programs take the bit for.
  p.isLargeBar = 0;
}

void set_features(hipDeviceProp_t& p, const Attributes& of) {
  p.concurrentKernels = of[hipDeviceAttributeConcurrentKernels];
  p.canMapHostMemory = of[hipDeviceAttributeCanMapHostMemory];
  p.cooperativeLaunch = of[hipDeviceAttributeCooperativeLaunch];
  p.managedMemory = of[hipDeviceAttributeManagedMemory];
  p.directManagedMemAccessFromHost = of[hipDeviceAttributeDirectManagedMemAccessFromHost];
  p.concurrentManagedAccess = of[hipDeviceAttributeConcurrentManagedAccess];
  p.pageableMemoryAccess = of[hipDeviceAttributePageableMemoryAccess];
  p.pageableMemoryAccessUsesHostPageTables = of[hipDeviceAttributePageableMemoryAccessUsesHostPageTables];
}

}  // namespace

std::string architecture(int major, int minor) {
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

hipDeviceProp_t make_properties(const driver::Driver& driver, driver::Device device) {
  hipDeviceProp_t p;
  std::memset(&p, 0, sizeof p);
  const Attributes of(driver, device);
  static_cast<void>(driver.DeviceGetName(p.name, sizeof p.name, device));
  p.name[sizeof p.name - 1] = '\0';
  static_cast<void>(driver.DeviceTotalMem(&p.totalGlobalMem, device));
  set_architecture(p);
  set_limits(p, of);
  set_machine(p, of);
  set_features(p, of);
  std::snprintf(p.gcnArchName, sizeof p.gcnArchName, "%s", architecture(p.major, p.minor).c_str());
  return p;
}

std::optional<int> newer_attribute(hipDeviceAttribute_t attribute) {
  if (attribute == hipDeviceAttributeVirtualMemoryManagementSupported) return driver::kAttributeVirtualMemory;
  if (attribute == hipDeviceAttributeHostRegisterSupported) return driver::kAttributeHostRegister;
  if (attribute == hipDeviceAttributeMemoryPoolSupportedHandleTypes) return driver::kAttributePoolHandles;
  if (attribute == hipDeviceAttributeHostNumaId) return driver::kAttributeHostNode;
  return std::nullopt;
}

std::optional<int> driver_attribute(hipDeviceAttribute_t attribute) {
  if (const auto newer = newer_attribute(attribute)) return newer;
  switch (attribute) {
#define TF_CUDA_ATTRIBUTE(hip, cuda, number) \
  case hipDeviceAttribute##hip:              \
    return number;
#include "worker/runtime/cuda/device_attributes.inc"
#undef TF_CUDA_ATTRIBUTE
    default: return std::nullopt;
  }
}

std::optional<int> fixed_attribute(const hipDeviceProp_t& p, hipDeviceAttribute_t attribute) {
  if (attribute == hipDeviceAttributeWallClockRate)
    return 100'000;  // device/support.cc: __ockl_steadyctr_u64
  if (attribute == hipDeviceAttributeNumberOfXccs) return 1;
  switch (attribute) {
    case hipDeviceAttributeTotalGlobalMem:
      return static_cast<int>(std::min<std::size_t>(p.totalGlobalMem, INT_MAX));
    case hipDeviceAttributeFineGrainSupport: return 1;
    case hipDeviceAttributeIsLargeBar: return p.isLargeBar;
    case hipDeviceAttributeCooperativeMultiDeviceLaunch:  // gone from the driver with CUDA 13
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim:
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem:
    case hipDeviceAttributeGcnArch:
    case hipDeviceAttributeAsicRevision:
    case hipDeviceAttributeHdpMemFlushCntl:
    case hipDeviceAttributeHdpRegFlushCntl: return 0;
    case hipDeviceAttributeImageSupport: return 1;
    default: return std::nullopt;
  }
}

}  // namespace tf::cuda
