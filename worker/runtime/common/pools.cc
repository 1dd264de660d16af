// SPDX-License-Identifier: Apache-2.0
// Stream-ordered memory and its pools.
#include <cstring>
#include <span>

#include "hipcore/memory/os_handle.h"
#include "worker/runtime/common/access.h"
#include "worker/runtime/common/capture.h"
#include "worker/runtime/common/device.h"

namespace tf::runtime {
namespace {

// These functions have a code of their own for what is no stream.
hipError_t find_stream_or_refuse(hipStream_t handle, Backend::Stream& stream) {
  const hipError_t status = Backend::find_stream(handle, stream);
  return status == hipErrorContextIsDestroyed ? hipErrorInvalidHandle : status;
}

// On a stream that is captured, the memory is the graph's, of the stream's device.
template <typename Allocate>
hipError_t allocate(void** pointer, std::size_t bytes, hipStream_t handle, Allocate&& allocate_on) {
  if (!pointer) return hipErrorInvalidValue;
  Backend::Stream stream{};
  if (const hipError_t status = find_stream_or_refuse(handle, stream)) return status;
  *pointer = nullptr;
  if (bytes == 0) return hipSuccess;
  if (graph::Library* const library = capturing()) {
    const graph::StreamRef reference = Backend::reference(stream);
    if (const auto verdict = library->capture_allocation(reference, reference.device, bytes, pointer))
      return *verdict;
  }
  return allocate_on(stream);
}

hipError_t free_async(void* pointer, const Backend::Stream& stream) {
  if (graph::Library* const library = capturing())
    if (const auto verdict = library->capture_release(Backend::reference(stream), pointer)) return *verdict;
  const auto verdict = free_graph_memory(pointer);
  return verdict ? *verdict : Backend::free_async(pointer, stream);
}

hipError_t create_pool(hipMemPool_t* pool, const hipMemPoolProps* wish) {
  if (!pool || !wish || wish->allocType != hipMemAllocationTypePinned) return hipErrorInvalidValue;
  return is_device(&wish->location) ? Backend::create_pool(*pool, *wish) : hipErrorInvalidValue;
}

template <typename Body>
hipError_t with_pool(hipMemPool_t handle, Body&& body) {
  return api([&]() -> hipError_t {
    const Backend::Pool pool = Backend::find_pool(handle);
    return pool ? body(pool) : hipErrorInvalidValue;
  });
}

bool names_descriptor(hipMemAllocationHandleType type, unsigned flags) {
  return type == hipMemHandleTypePosixFileDescriptor && flags == 0;
}

hipError_t share(void* target, const Backend::Pool& pool) {
  int descriptor = -1;
  const hipError_t status = Backend::share_pool(pool, descriptor);
  if (status == hipSuccess) std::memcpy(target, &descriptor, sizeof descriptor);
  return status;
}

hipError_t set_access(const Backend::Pool& pool, const hipMemAccessDesc* wishes, std::size_t count) {
  if (wishes && count > static_cast<std::size_t>(Backend::device_count())) return hipErrorInvalidDevice;
  if (const hipError_t status = check_access(wishes, count)) return status;
  for (const hipMemAccessDesc& wish : std::span(wishes, count)) {
    if (wish.flags == hipMemAccessFlagsProtNone) return hipErrorInvalidDevice;
    if (wish.flags > hipMemAccessFlagsProtReadWrite) return hipErrorInvalidValue;
  }
  return Backend::set_pool_access(pool, {wishes, count});
}

// The frame of queries of a device's pools.
template <typename Body>
hipError_t with_device_pool(hipMemPool_t* pool, int device, hipError_t no_device, Body&& body) {
  return api([&]() -> hipError_t {
    if (!pool) return hipErrorInvalidValue;
    return valid_device(device) ? body(*pool) : no_device;
  });
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream) {
  return api([&] {
    return allocate(pointer, bytes, stream, [&](const Backend::Stream& found) {
      return Backend::allocate_async(pointer, bytes, found);
    });
  });
}

hipError_t hipMallocFromPoolAsync(void** pointer, size_t bytes, hipMemPool_t handle, hipStream_t stream) {
  return with_pool(handle, [&](const Backend::Pool& pool) {
    return allocate(pointer, bytes, stream, [&](const Backend::Stream& found) {
      return Backend::allocate_from_pool(pointer, bytes, pool, found);
    });
  });
}

hipError_t hipFreeAsync(void* pointer, hipStream_t handle) {
  return api([&] {
    if (!pointer) return hipErrorInvalidValue;
    Backend::Stream stream{};
    const hipError_t status = find_stream_or_refuse(handle, stream);
    return status == hipSuccess ? free_async(pointer, stream) : status;
  });
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  return api([&] { return create_pool(pool, properties); });
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return api([&] { return pool ? Backend::destroy_pool(pool) : hipErrorInvalidValue; });
}

hipError_t hipMemPoolExportToShareableHandle(void* target, hipMemPool_t handle,
                                             hipMemAllocationHandleType type, unsigned flags) {
  return with_pool(handle, [&](const Backend::Pool& pool) {
    return target && names_descriptor(type, flags) ? share(target, pool) : hipErrorInvalidValue;
  });
}

hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t* pool, void* os_handle,
                                               hipMemAllocationHandleType type, unsigned flags) {
  return api([&] {
    if (!pool || !os_handle || !names_descriptor(type, flags)) return hipErrorInvalidValue;
    return Backend::open_pool(tf::hipcore::descriptor_in(os_handle), *pool);
  });
}

hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData* data, void* pointer) {
  return api(
      [&] { return data && pointer ? Backend::share_pool_memory(pointer, *data) : hipErrorInvalidValue; });
}

hipError_t hipMemPoolImportPointer(void** pointer, hipMemPool_t handle, hipMemPoolPtrExportData* data) {
  return with_pool(handle, [&](const Backend::Pool& pool) {
    return pointer && data ? Backend::open_pool_memory(pool, *data, *pointer) : hipErrorInvalidValue;
  });
}

hipError_t hipMemPoolTrimTo(hipMemPool_t handle, size_t keep_bytes) {
  return with_pool(handle, [&](const Backend::Pool& pool) { return Backend::trim_pool(pool, keep_bytes); });
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](const Backend::Pool& pool) {
    return value ? Backend::set_pool_attribute(pool, attribute, value) : hipErrorInvalidValue;
  });
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t handle, hipMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](const Backend::Pool& pool) {
    return value ? Backend::pool_attribute(pool, attribute, value) : hipErrorInvalidValue;
  });
}

hipError_t hipMemPoolSetAccess(hipMemPool_t handle, const hipMemAccessDesc* wishes, size_t count) {
  return with_pool(handle, [&](const Backend::Pool& pool) { return set_access(pool, wishes, count); });
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t handle, hipMemLocation* location) {
  return with_pool(handle, [&](const Backend::Pool& pool) {
    return flags && is_device(location) ? Backend::pool_access(pool, *location, *flags)
                                        : hipErrorInvalidValue;
  });
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return with_device_pool(pool, device, hipErrorInvalidDevice,
                          [&](hipMemPool_t& found) { return Backend::default_pool(device, found); });
}

hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return with_device_pool(pool, device, hipErrorInvalidValue,
                          [&](hipMemPool_t& found) { return Backend::current_pool(device, found); });
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t handle) {
  return with_pool(handle, [&](const Backend::Pool& pool) {
    return valid_device(device) ? Backend::set_current_pool(device, pool) : hipErrorInvalidValue;
  });
}

}  // extern "C"
