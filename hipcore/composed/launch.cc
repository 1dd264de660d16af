// SPDX-License-Identifier: Apache-2.0
// Launches by a configuration (HIP 7), modules of fat binaries, shared memory that a launch may have.
#include <algorithm>

#include "hipcore/composed/composed.h"

namespace tf::composed {
namespace {

constexpr unsigned kLaunchAttributesMax = 64;

// Attributes that change how the launch runs. Hints (priority, synchronization policy, memory domains, access
// window) change nothing that a program could see. False: the list is broken, or has an attribute that HIP
// does not know.
bool read_attributes(const hipLaunchAttribute* attributes, unsigned count, bool& cooperative) {
  if (count > kLaunchAttributesMax || (count != 0 && attributes == nullptr)) return false;
  return std::all_of(attributes, attributes + count, [&](const hipLaunchAttribute& attribute) {
    switch (static_cast<int>(attribute.id)) {
      case hipLaunchAttributeCooperative: cooperative = attribute.value.cooperative != 0; return true;
      case hipLaunchAttributeAccessPolicyWindow:
      case hipLaunchAttributeSynchronizationPolicy:
      case hipLaunchAttributePriority:
      case hipLaunchAttributeMemSyncDomainMap:
      case hipLaunchAttributeMemSyncDomain: return true;
      default: return false;
    }
  });
}

// No device launches clusters of blocks (hipDeviceAttributeClusterLaunch of HIP 7 is 0).
hipError_t refuse_cluster(const int* answer, const void* function, const hipLaunchConfig_t* config) {
  if (answer == nullptr || config == nullptr) return refuse(hipErrorInvalidValue);
  hipFuncAttributes attributes{};
  if (hipFuncGetAttributes(&attributes, function) != hipSuccess) return refuse(hipErrorInvalidDeviceFunction);
  return refuse(hipErrorInvalidClusterSize);
}

}  // namespace
}  // namespace tf::composed

using tf::composed::read_attributes;
using tf::composed::refuse;
using tf::composed::refuse_cluster;

TF_COMPOSED hipError_t hipLaunchKernelExC(const hipLaunchConfig_t* config, const void* function,
                                          void** arguments) {
  bool cooperative = false;
  if (config == nullptr || !read_attributes(config->attrs, config->numAttrs, cooperative))
    return refuse(hipErrorInvalidValue);
  if (!cooperative)
    return hipLaunchKernel(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                           config->stream);
  if (config->dynamicSmemBytes > ~0u) return refuse(hipErrorInvalidValue);
  return hipLaunchCooperativeKernel(function, config->gridDim, config->blockDim, arguments,
                                    static_cast<unsigned>(config->dynamicSmemBytes), config->stream);
}

TF_COMPOSED hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG* c, hipFunction_t function,
                                            void** arguments, void** extra) {
  bool cooperative = false;
  if (c == nullptr || !read_attributes(c->attrs, c->numAttrs, cooperative))
    return refuse(hipErrorInvalidValue);
  if (cooperative && extra != nullptr) return refuse(hipErrorInvalidValue);
  if (cooperative)
    return hipModuleLaunchCooperativeKernel(function, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX,
                                            c->blockDimY, c->blockDimZ, c->sharedMemBytes, c->hStream,
                                            arguments);
  return hipModuleLaunchKernel(function, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY,
                               c->blockDimZ, c->sharedMemBytes, c->hStream, arguments, extra);
}

TF_COMPOSED hipError_t hipModuleLoadFatBinary(hipModule_t* module, const void* image) {
  return hipModuleLoadData(module, image);
}

// What is left for each of `blocks` blocks of a multiprocessor, at most what one block may have.
TF_COMPOSED hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                                int blocks, int block_size) {
  if (bytes == nullptr || blocks <= 0 || block_size <= 0) return refuse(hipErrorInvalidValue);
  hipFuncAttributes attributes{};
  if (const hipError_t error = hipFuncGetAttributes(&attributes, function)) return error;
  if (block_size > attributes.maxThreadsPerBlock) return refuse(hipErrorInvalidValue);
  int device = 0;
  if (const hipError_t error = hipGetDevice(&device)) return error;
  hipDeviceProp_t properties{};
  if (const hipError_t error = hipGetDeviceProperties(&properties, device)) return error;
  const size_t share = properties.maxSharedMemoryPerMultiProcessor / static_cast<unsigned>(blocks);
  const size_t each = std::min<size_t>(share, properties.sharedMemPerBlock);
  *bytes = each > attributes.sharedSizeBytes ? each - attributes.sharedSizeBytes : 0;
  return hipSuccess;
}

TF_COMPOSED hipError_t hipOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                     const hipLaunchConfig_t* config) {
  return refuse_cluster(clusters, function, config);
}

TF_COMPOSED hipError_t hipOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                           const hipLaunchConfig_t* config) {
  return refuse_cluster(blocks, function, config);
}
