// SPDX-License-Identifier: Apache-2.0
// Stream-ordered memory and pools: the driver's own. HIP's numbers of the pools' attributes are CUDA's.
#include <vector>

#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/graphs.h"
#include "worker/runtime/cuda/streams.h"

namespace tf::cuda {
namespace {

constexpr std::size_t kAccessMax = 256;

hipError_t create_pool(hipMemPool_t* pool, const hipMemPoolProps* wish) {
  if (!pool || !wish || wish->allocType != hipMemAllocationTypePinned) return hipErrorInvalidValue;
  if (wish->location.type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
  if (!Runtime::get().valid_device(wish->location.id)) return hipErrorInvalidValue;
  const driver::PoolProperties properties = convert(*wish);
  return check(cu().MemPoolCreate(pool, &properties));
}

hipError_t set_access(hipMemPool_t pool, const hipMemAccessDesc* wishes, std::size_t count) {
  if (!pool || !wishes || count == 0 || count > kAccessMax) return hipErrorInvalidValue;
  std::vector<driver::AccessDescription> access;
  for (std::size_t i = 0; i < count; ++i) {
    if (wishes[i].location.type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
    if (!Runtime::get().valid_device(wishes[i].location.id)) return hipErrorInvalidDevice;
    access.push_back({{wishes[i].location.type, wishes[i].location.id}, wishes[i].flags});
  }
  return check(cu().MemPoolSetAccess(pool, access.data(), count));
}

hipError_t get_access(hipMemAccessFlags* flags, hipMemPool_t pool, const hipMemLocation* location) {
  if (!flags || !pool || !location || location->type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
  driver::Location place{location->type, location->id};
  int number = 0;
  const hipError_t status = check(cu().MemPoolGetAccess(&number, pool, &place));
  if (status == hipSuccess) *flags = static_cast<hipMemAccessFlags>(number);
  return status;
}

// Of what is to happen on a stream and in no graph.
hipError_t check_free(hipStream_t stream) {
  return is_stream(stream) ? refuse_captured(stream) : kUnknownStream;
}

template <typename Body>
hipError_t with_device(int ordinal, Body&& body) {
  return api([&]() -> hipError_t {
    Runtime& runtime = Runtime::get();
    return runtime.valid_device(ordinal) ? check(body(runtime.device(ordinal).handle))
                                         : hipErrorInvalidDevice;
  });
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream) {
  return api([&] {
    if (!pointer) return hipErrorInvalidValue;
    *pointer = nullptr;
    if (const hipError_t status = check_free(stream)) return status;
    return bytes == 0 ? hipSuccess : check(cu().MemAllocAsync(pointer, bytes, stream));
  });
}

hipError_t hipMallocFromPoolAsync(void** pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  return api([&] {
    if (!pointer || !pool) return hipErrorInvalidValue;
    *pointer = nullptr;
    if (const hipError_t status = check_free(stream)) return status;
    return bytes == 0 ? hipSuccess : check(cu().MemAllocFromPoolAsync(pointer, bytes, pool, stream));
  });
}

hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return api([&] {
    if (!pointer) return hipErrorInvalidValue;
    if (const hipError_t status = check_free(stream)) return status;
    return check(cu().MemFreeAsync(pointer, stream));
  });
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  return api([&] { return create_pool(pool, properties); });
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return api([&] { return pool ? check(cu().MemPoolDestroy(pool)) : hipErrorInvalidValue; });
}

hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t keep_bytes) {
  return api([&] { return pool ? check(cu().MemPoolTrimTo(pool, keep_bytes)) : hipErrorInvalidValue; });
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return api([&] {
    return pool && value ? check(cu().MemPoolSetAttribute(pool, attribute, value)) : hipErrorInvalidValue;
  });
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return api([&] {
    return pool && value ? check(cu().MemPoolGetAttribute(pool, attribute, value)) : hipErrorInvalidValue;
  });
}

hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* wishes, size_t count) {
  return api([&] { return set_access(pool, wishes, count); });
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool, hipMemLocation* location) {
  return api([&] { return get_access(flags, pool, location); });
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  if (!pool) return host_api([] { return hipErrorInvalidValue; });
  return with_device(device, [&](int handle) { return cu().DeviceGetDefaultMemPool(pool, handle); });
}

hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  if (!pool) return host_api([] { return hipErrorInvalidValue; });
  return with_device(device, [&](int handle) { return cu().DeviceGetMemPool(pool, handle); });
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  if (!pool) return host_api([] { return hipErrorInvalidValue; });
  return with_device(device, [&](int handle) { return cu().DeviceSetMemPool(handle, pool); });
}

}  // extern "C"
