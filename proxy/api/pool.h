// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation. The memory itself is cut from the client's leases; pools carry the settings.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CUSTOM hipError_t hipMallocAsync(OUT(device) void** pointer, size_t bytes, IN(stream) hipStream_t stream);
CUSTOM hipError_t hipFreeAsync(IN(device) void* pointer, IN(stream) hipStream_t stream);
CUSTOM hipError_t hipMallocFromPoolAsync(OUT(device) void** pointer, size_t bytes, IN(pool) hipMemPool_t pool,
                                         IN(stream) hipStream_t stream);
// One handle per device for the life of the process, so that comparing pools works.
CREATE(0x0280) CACHED() hipError_t hipDeviceGetDefaultMemPool(OUT(pool) hipMemPool_t* pool, int device);
CREATE(0x0281) hipError_t hipMemPoolCreate(OUT(pool) hipMemPool_t* pool, IN() const hipMemPoolProps* properties);
POST(0x0282) hipError_t hipMemPoolDestroy(CONSUMES(pool) hipMemPool_t pool);
POST(0x0283) hipError_t hipMemPoolTrimTo(IN(pool) hipMemPool_t pool, size_t bytes_to_hold);
POST(0x0284) hipError_t hipMemPoolSetAttribute(IN(pool) hipMemPool_t pool, hipMemPoolAttr attribute,
                                               IN(word(pool_attribute_bytes(attribute))) void* value);
CALL(0x0285) hipError_t hipMemPoolGetAttribute(IN(pool) hipMemPool_t pool, hipMemPoolAttr attribute,
                                               OUT(word(pool_attribute_bytes(attribute))) void* value);
CALL(0x0286) hipError_t hipMemPoolGetAccess(OUT() hipMemAccessFlags* flags, IN(pool) hipMemPool_t pool,
                                            IN() hipMemLocation* location);
UNSUPPORTED hipError_t hipMemPoolSetAccess(IN(pool) hipMemPool_t pool,
                                           IN() ARRAY(count) const hipMemAccessDesc* descriptions, size_t count);
UNSUPPORTED hipError_t hipDeviceGetMemPool(OUT(pool) hipMemPool_t* pool, int device);
UNSUPPORTED hipError_t hipDeviceSetMemPool(int device, IN(pool) hipMemPool_t pool);

}  // extern "C"
