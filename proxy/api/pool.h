// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation. The memory is cut from the client's leases; pools hold the settings.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CUSTOM(books) ASKS(lease)
hipError_t hipMallocAsync(OUT(device) void** pointer, size_t bytes, IN(stream) hipStream_t stream);
CUSTOM(books) hipError_t hipFreeAsync(IN(device) void* pointer, IN(stream) hipStream_t stream);
CUSTOM(books) ASKS(lease)
hipError_t hipMallocFromPoolAsync(OUT(device) void** pointer, size_t bytes, IN(pool) hipMemPool_t pool,
                                  IN(stream) hipStream_t stream);
// One handle per device for the life of the process, so that programs can compare pools.
CREATE(0x0280) CACHED() hipError_t hipDeviceGetDefaultMemPool(OUT(pool) hipMemPool_t* pool, ORDINAL int device);
// The client keeps the pools' settings and accounts (proxy/memory/pools.h).
CUSTOM(books) hipError_t hipMemPoolCreate(OUT(pool) hipMemPool_t* pool, IN() const hipMemPoolProps* properties);
CUSTOM(books) hipError_t hipMemPoolDestroy(CONSUMES(pool) hipMemPool_t pool);
CUSTOM(books) ASKS(pending) hipError_t hipMemPoolTrimTo(IN(pool) hipMemPool_t pool, size_t bytes_to_hold);
CUSTOM(books) hipError_t hipMemPoolSetAttribute(IN(pool) hipMemPool_t pool, hipMemPoolAttr attribute,
                                                IN(opaque) void* value);
CUSTOM(books) hipError_t hipMemPoolGetAttribute(IN(pool) hipMemPool_t pool, hipMemPoolAttr attribute,
                                                OUT(opaque) void* value);
CUSTOM(books) hipError_t hipMemPoolGetAccess(OUT() hipMemAccessFlags* flags, IN(pool) hipMemPool_t pool,
                                             IN() hipMemLocation* location);
CUSTOM(books) hipError_t hipMemPoolSetAccess(IN(pool) hipMemPool_t pool,
                                             IN() ARRAY(count) const hipMemAccessDesc* descriptions, size_t count);
CUSTOM(books) hipError_t hipDeviceGetMemPool(OUT(pool) hipMemPool_t* pool, int device);
CUSTOM(books) hipError_t hipDeviceSetMemPool(int device, IN(pool) hipMemPool_t pool);
// For other processes of the same worker: a descriptor names the pool, and opens nothing by itself.
CUSTOM(books) hipError_t hipMemPoolExportToShareableHandle(OUT(opaque) void* target, IN(pool) hipMemPool_t pool,
                                                           hipMemAllocationHandleType type, unsigned int flags);
CUSTOM(books) hipError_t hipMemPoolImportFromShareableHandle(OUT(pool) hipMemPool_t* pool, IN(opaque) void* os_handle,
                                                             hipMemAllocationHandleType type, unsigned int flags);
CUSTOM(books) ASKS(always)
hipError_t hipMemPoolExportPointer(OUT() hipMemPoolPtrExportData* data, IN(device) void* pointer);
CUSTOM(books) ASKS(always) hipError_t hipMemPoolImportPointer(OUT(device) void** pointer, IN(pool) hipMemPool_t pool,
                                                              IN() hipMemPoolPtrExportData* data);

}  // extern "C"
