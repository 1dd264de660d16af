// SPDX-License-Identifier: Apache-2.0
// Virtual memory management. Not offered to programs yet; the worker's address windows need the table entries.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

UNSUPPORTED hipError_t hipMemAddressReserve(OUT(device) void** pointer, size_t bytes, size_t alignment,
                                            IN(device) OPTIONAL void* wanted, unsigned long long flags);
UNSUPPORTED hipError_t hipMemAddressFree(IN(device) void* pointer, size_t bytes);
UNSUPPORTED hipError_t hipMemCreate(OUT(allocation) hipMemGenericAllocationHandle_t* handle, size_t bytes,
                                    IN() const hipMemAllocationProp* properties, unsigned long long flags);
UNSUPPORTED hipError_t hipMemRelease(IN(allocation) hipMemGenericAllocationHandle_t handle);
UNSUPPORTED hipError_t hipMemMap(IN(device) void* pointer, size_t bytes, size_t offset,
                                 IN(allocation) hipMemGenericAllocationHandle_t handle, unsigned long long flags);
UNSUPPORTED hipError_t hipMemUnmap(IN(device) void* pointer, size_t bytes);
UNSUPPORTED hipError_t hipMemSetAccess(IN(device) void* pointer, size_t bytes,
                                       IN() ARRAY(count) const hipMemAccessDesc* descriptions, size_t count);
UNSUPPORTED hipError_t hipMemGetAccess(OUT() unsigned long long* flags, IN() const hipMemLocation* location,
                                       IN(device) void* pointer);
UNSUPPORTED hipError_t hipMemGetAllocationGranularity(OUT() size_t* granularity,
                                                      IN() const hipMemAllocationProp* properties,
                                                      hipMemAllocationGranularity_flags option);
UNSUPPORTED hipError_t hipMemRetainAllocationHandle(OUT(allocation) hipMemGenericAllocationHandle_t* handle,
                                                    IN(device) void* pointer);

}  // extern "C"
