// SPDX-License-Identifier: Apache-2.0
// The pools of a location (HIP 7). As in AMD's runtime only devices have some. Pools hold pinned memory:
// there are none of managed memory to find, and none that could be set.
#include "hipcore/composed/composed.h"

namespace tf::composed {
namespace {

constexpr int kHipMemAllocationTypeManaged = 2;  // since 7.0

// The device of a location that has pools of that type. hipErrorNotSupported: its type is that of managed
// memory.
hipError_t find_device(const hipMemLocation* location, hipMemAllocationType type, int& device) {
  if (location == nullptr || location->type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
  const bool is_managed = static_cast<int>(type) == kHipMemAllocationTypeManaged;
  if (type != hipMemAllocationTypePinned && !is_managed) return hipErrorInvalidValue;
  int count = 0;
  if (const hipError_t error = hipGetDeviceCount(&count)) return error;
  device = location->id;
  if (device < 0 || device >= count) return hipErrorInvalidValue;
  return is_managed ? hipErrorNotSupported : hipSuccess;
}

}  // namespace
}  // namespace tf::composed

using tf::composed::find_device;
using tf::composed::refuse;

TF_COMPOSED hipError_t hipMemGetMemPool(hipMemPool_t* pool, hipMemLocation* location,
                                        hipMemAllocationType type) {
  if (pool == nullptr) return refuse(hipErrorInvalidValue);
  int device = 0;
  if (const hipError_t error = find_device(location, type, device)) return refuse(error);
  return hipDeviceGetMemPool(pool, device);
}

TF_COMPOSED hipError_t hipMemGetDefaultMemPool(hipMemPool_t* pool, hipMemLocation* location,
                                               hipMemAllocationType type) {
  if (pool == nullptr) return refuse(hipErrorInvalidValue);
  int device = 0;
  if (const hipError_t error = find_device(location, type, device)) return refuse(error);
  return hipDeviceGetDefaultMemPool(pool, device);
}

// A pool of another device, or of another type, and what is no pool: all are wrong values.
TF_COMPOSED hipError_t hipMemSetMemPool(hipMemLocation* location, hipMemAllocationType type,
                                        hipMemPool_t pool) {
  if (pool == nullptr) return refuse(hipErrorInvalidValue);
  int device = 0;
  const hipError_t error = find_device(location, type, device);
  if (error != hipSuccess) return refuse(error == hipErrorNotSupported ? hipErrorInvalidValue : error);
  const hipError_t set = hipDeviceSetMemPool(device, pool);
  return set == hipErrorInvalidDevice || set == hipErrorInvalidHandle ? refuse(hipErrorInvalidValue) : set;
}
