// SPDX-License-Identifier: Apache-2.0
// Host memory that devices may use: the client's own pages, recorded for pointer queries.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

LOCAL(books) ASKS(host) OUTSIDE_CAPTURES
hipError_t hipHostMalloc(OUT(host) void** pointer, size_t bytes, unsigned int flags);
ALIAS(hipHostMalloc) hipError_t hipHostAlloc(OUT(host) void** pointer, size_t bytes, unsigned int flags);
ALIAS(hipHostMalloc, flags = 0) hipError_t hipMallocHost(OUT(host) void** pointer, size_t bytes);
ALIAS(hipHostMalloc, flags = 0) hipError_t hipMemAllocHost(OUT(host) void** pointer, size_t bytes);
CUSTOM(books) ASKS(pending) OUTSIDE_CAPTURES hipError_t hipHostFree(IN(host) OPTIONAL void* pointer);
ALIAS(hipHostFree) hipError_t hipFreeHost(IN(host) OPTIONAL void* pointer);
LOCAL(books) ASKS(host)
hipError_t hipHostGetDevicePointer(OUT(device) void** device_pointer, IN(host) void* host_pointer,
                                   unsigned int flags);
LOCAL(books) hipError_t hipHostGetFlags(OUT() unsigned int* flags, IN(host) void* pointer);
LOCAL(books) ASKS(host) OUTSIDE_CAPTURES
hipError_t hipHostRegister(IN(host) void* pointer, size_t bytes, unsigned int flags);
LOCAL(books) ASKS(pending) OUTSIDE_CAPTURES hipError_t hipHostUnregister(IN(host) void* pointer);

}  // extern "C"
