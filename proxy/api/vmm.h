// SPDX-License-Identifier: Apache-2.0
// Virtual memory management. The client keeps addresses and accounts (proxy/memory/virtual_memory.h).
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CUSTOM(books) hipError_t hipMemAddressReserve(OUT(device) void** pointer, size_t bytes, size_t alignment,
                                              IN(device) OPTIONAL void* wanted, unsigned long long flags);
CUSTOM(books) hipError_t hipMemAddressFree(IN(device) void* pointer, size_t bytes);
CUSTOM(books) ASKS(always)
hipError_t hipMemCreate(OUT(allocation) hipMemGenericAllocationHandle_t* handle, size_t bytes,
                        IN() const hipMemAllocationProp* properties, unsigned long long flags);
CUSTOM(books) hipError_t hipMemRelease(IN(allocation) hipMemGenericAllocationHandle_t handle);
CUSTOM(books) ASKS(always)
hipError_t hipMemMap(IN(device) void* pointer, size_t bytes, size_t offset,
                     IN(allocation) hipMemGenericAllocationHandle_t handle, unsigned long long flags);
CUSTOM(books) ASKS(always) hipError_t hipMemUnmap(IN(device) void* pointer, size_t bytes);
CUSTOM(books) ASKS(always)
hipError_t hipMemSetAccess(IN(device) void* pointer, size_t bytes,
                           IN() ARRAY(count) const hipMemAccessDesc* descriptions, size_t count);
CUSTOM(books) ASKS(always)
hipError_t hipMemGetAccess(OUT() unsigned long long* flags, IN() const hipMemLocation* location,
                           IN(device) void* pointer);
CUSTOM(books) hipError_t hipMemGetAllocationGranularity(OUT() size_t* granularity,
                                                        IN() const hipMemAllocationProp* properties,
                                                        hipMemAllocationGranularity_flags option);
CUSTOM(books) hipError_t hipMemGetAllocationPropertiesFromHandle(OUT() hipMemAllocationProp* properties,
                                                                 IN(allocation) hipMemGenericAllocationHandle_t handle);
CUSTOM(books) hipError_t hipMemRetainAllocationHandle(OUT(allocation) hipMemGenericAllocationHandle_t* handle,
                                                      IN(device) void* pointer);
CUSTOM(books) ASKS(always)
hipError_t hipMemExportToShareableHandle(OUT(opaque) void* target,
                                         IN(allocation) hipMemGenericAllocationHandle_t handle,
                                         hipMemAllocationHandleType type, unsigned long long flags);
CUSTOM(books) ASKS(always)
hipError_t hipMemImportFromShareableHandle(OUT(allocation) hipMemGenericAllocationHandle_t* handle,
                                           IN(opaque) void* os_handle, hipMemAllocationHandleType type);

REFUSED(a dma-buf of a device of the worker is no descriptor of this process)
hipError_t hipMemGetHandleForAddressRange(OUT(opaque) void* handle, IN(device) hipDeviceptr_t pointer, size_t bytes,
                                          hipMemRangeHandleType type, unsigned long long flags);
REFUSED(no runtime of AMD has sparse arrays)
hipError_t hipMemMapArrayAsync(IN(opaque) hipArrayMapInfo* maps, unsigned int count, IN(stream) hipStream_t stream);

}  // extern "C"
