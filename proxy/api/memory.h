// SPDX-License-Identifier: Apache-2.0
// Device memory: allocation, copies, fills, what a pointer is.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

// --- allocation: cut from the client's leases ---------------------------------------------------------

CUSTOM(books) ASKS(lease) OUTSIDE_CAPTURES hipError_t hipMalloc(OUT(device) void** pointer, size_t bytes);
CUSTOM(books) ASKS(host) hipError_t hipExtMallocWithFlags(OUT(device) void** pointer, size_t bytes, unsigned int flags);
CUSTOM(books) ASKS(lease) OUTSIDE_CAPTURES
hipError_t hipMallocPitch(OUT(device) void** pointer, OUT() size_t* pitch, size_t width, size_t height);
CUSTOM(books) ASKS(lease) OUTSIDE_CAPTURES
hipError_t hipMemAllocPitch(OUT(device) hipDeviceptr_t* pointer, OUT() size_t* pitch, size_t width_bytes,
                            size_t height, unsigned int element_bytes);
CUSTOM(books) ASKS(lease) OUTSIDE_CAPTURES hipError_t hipMalloc3D(OUT() hipPitchedPtr* pointer, hipExtent extent);
CUSTOM(books) ASKS(pending) OUTSIDE_CAPTURES hipError_t hipFree(IN(device) OPTIONAL void* pointer);
CUSTOM(books) ASKS(always)
hipError_t hipMemGetInfo(OUT() size_t* free_bytes, OUT() size_t* total_bytes);
CUSTOM(books) ASKS(host) OUTSIDE_CAPTURES
hipError_t hipMallocManaged(OUT(device) void** pointer, size_t bytes, unsigned int flags);
CUSTOM(books) hipError_t hipMemPrefetchAsync(IN(device) const void* pointer, size_t bytes, int device,
                                             IN(stream) hipStream_t stream);
LOCAL(books) hipError_t hipMemAdvise(IN(device) const void* pointer, size_t bytes, hipMemoryAdvise advice, int device);
LOCAL(books) hipError_t hipMemRangeGetAttribute(OUT(opaque) void* data, size_t data_bytes,
                                                hipMemRangeAttribute attribute, IN(address) const void* pointer,
                                                size_t bytes);
LOCAL(books) hipError_t hipMemRangeGetAttributes(OUT(opaque) ARRAY(count) void** data,
                                                 IN() ARRAY(count) size_t* data_bytes,
                                                 IN() ARRAY(count) hipMemRangeAttribute* attributes, size_t count,
                                                 IN(address) const void* pointer, size_t bytes);

// --- what a pointer is ---------------------------------------------------------------------------------

LOCAL(books) hipError_t hipPointerGetAttributes(OUT() hipPointerAttribute_t* attributes,
                                                IN(address) const void* pointer);
LOCAL(books) hipError_t hipPointerGetAttribute(OUT(opaque) void* data, hipPointer_attribute attribute,
                                               IN(address) hipDeviceptr_t pointer);
LOCAL(books) hipError_t hipDrvPointerGetAttributes(unsigned int count,
                                                   IN() ARRAY(count) hipPointer_attribute* attributes,
                                                   OUT(opaque) ARRAY(count) void** data,
                                                   IN(address) hipDeviceptr_t pointer);
LOCAL(books) hipError_t hipPointerSetAttribute(IN(opaque) const void* value, hipPointer_attribute attribute,
                                               IN(address) hipDeviceptr_t pointer);
LOCAL(books) hipError_t hipMemGetAddressRange(OUT(device) hipDeviceptr_t* base, OUT() size_t* bytes,
                                              IN(device) hipDeviceptr_t pointer);
LOCAL(books) hipError_t hipMemPtrGetInfo(IN(device) void* pointer, OUT() size_t* bytes);

// --- copies --------------------------------------------------------------------------------------------

CUSTOM(copy) hipError_t hipMemcpy(IN(address) void* target, IN(address) const void* source, size_t bytes,
                                  hipMemcpyKind kind);
CUSTOM(copy) hipError_t hipMemcpyAsync(IN(address) void* target, IN(address) const void* source, size_t bytes,
                                       hipMemcpyKind kind, IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipMemcpyWithStream(IN(address) void* target, IN(address) const void* source, size_t bytes,
                                            hipMemcpyKind kind, IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipMemcpyHtoD(IN(device) hipDeviceptr_t target, IN(host) void* source, size_t bytes);
CUSTOM(copy) hipError_t hipMemcpyDtoH(IN(host) void* target, IN(device) hipDeviceptr_t source, size_t bytes);
CUSTOM(copy) hipError_t hipMemcpyDtoD(IN(device) hipDeviceptr_t target, IN(device) hipDeviceptr_t source,
                                      size_t bytes);
CUSTOM(copy) hipError_t hipMemcpyHtoDAsync(IN(device) hipDeviceptr_t target, IN(host) void* source, size_t bytes,
                                           IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipMemcpyDtoHAsync(IN(host) void* target, IN(device) hipDeviceptr_t source, size_t bytes,
                                           IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipMemcpyDtoDAsync(IN(device) hipDeviceptr_t target, IN(device) hipDeviceptr_t source,
                                           size_t bytes, IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipMemcpy2D(IN(address) void* target, size_t target_pitch, IN(address) const void* source,
                                    size_t source_pitch, size_t width, size_t height, hipMemcpyKind kind);
CUSTOM(copy) hipError_t hipMemcpy2DAsync(IN(address) void* target, size_t target_pitch, IN(address) const void* source,
                                         size_t source_pitch, size_t width, size_t height, hipMemcpyKind kind,
                                         IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipMemcpyParam2D(IN() const hip_Memcpy2D* copy);
CUSTOM(copy) hipError_t hipMemcpyParam2DAsync(IN() const hip_Memcpy2D* copy, IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipMemcpy3D(IN() const struct hipMemcpy3DParms* copy);
CUSTOM(copy) hipError_t hipMemcpy3DAsync(IN() const struct hipMemcpy3DParms* copy, IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipDrvMemcpy3D(IN() const HIP_MEMCPY3D* copy);
CUSTOM(copy) hipError_t hipDrvMemcpy3DAsync(IN() const HIP_MEMCPY3D* copy, IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipDrvMemcpy2DUnaligned(IN() const hip_Memcpy2D* copy);

// --- __device__ variables of the program ---------------------------------------------------------------

CUSTOM(code) ASKS(code) hipError_t hipGetSymbolAddress(OUT(device) void** pointer, IN(symbol) const void* symbol);
CUSTOM(code) ASKS(code) hipError_t hipGetSymbolSize(OUT() size_t* bytes, IN(symbol) const void* symbol);
CUSTOM(copy) hipError_t hipMemcpyToSymbol(IN(symbol) const void* symbol, IN(address) const void* source, size_t bytes,
                                          size_t offset, hipMemcpyKind kind);
CUSTOM(copy) hipError_t hipMemcpyToSymbolAsync(IN(symbol) const void* symbol, IN(address) const void* source,
                                               size_t bytes, size_t offset, hipMemcpyKind kind,
                                               IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipMemcpyFromSymbol(IN(address) void* target, IN(symbol) const void* symbol, size_t bytes,
                                            size_t offset, hipMemcpyKind kind);
CUSTOM(copy) hipError_t hipMemcpyFromSymbolAsync(IN(address) void* target, IN(symbol) const void* symbol, size_t bytes,
                                                 size_t offset, hipMemcpyKind kind, IN(stream) hipStream_t stream);

// --- fills: the forms without a stream are ordered on the null stream by the runtime itself ------------

SENDS(Fill, width = bytes, form = 1 | protocol::kFillSynchronous)
hipError_t hipMemset(IN(device, bytes) void* target, int value, size_t bytes);
SENDS(Fill, width = bytes)
hipError_t hipMemsetAsync(IN(device, bytes) void* target, int value, size_t bytes, IN(stream) hipStream_t stream);
SENDS(Fill, width = count, form = 1 | protocol::kFillSynchronous)
hipError_t hipMemsetD8(IN(device, count) hipDeviceptr_t target, unsigned char value, size_t count);
SENDS(Fill, width = count)
hipError_t hipMemsetD8Async(IN(device, count) hipDeviceptr_t target, unsigned char value, size_t count,
                            IN(stream) hipStream_t stream);
SENDS(Fill, width = elements(count, 2), form = 2 | protocol::kFillSynchronous)
CHECK(count == 0 || reinterpret_cast<std::uintptr_t>(target) % 2 == 0)
hipError_t hipMemsetD16(IN(device, elements(count, 2)) hipDeviceptr_t target, unsigned short value, size_t count);
SENDS(Fill, width = elements(count, 2), form = 2)
CHECK(count == 0 || reinterpret_cast<std::uintptr_t>(target) % 2 == 0)
hipError_t hipMemsetD16Async(IN(device, elements(count, 2)) hipDeviceptr_t target, unsigned short value,
                             size_t count, IN(stream) hipStream_t stream);
SENDS(Fill, width = elements(count, 4), form = 4 | protocol::kFillSynchronous)
CHECK(count == 0 || reinterpret_cast<std::uintptr_t>(target) % 4 == 0)
hipError_t hipMemsetD32(IN(device, elements(count, 4)) hipDeviceptr_t target, int value, size_t count);
SENDS(Fill, width = elements(count, 4), form = 4)
CHECK(count == 0 || reinterpret_cast<std::uintptr_t>(target) % 4 == 0)
hipError_t hipMemsetD32Async(IN(device, elements(count, 4)) hipDeviceptr_t target, int value, size_t count,
                             IN(stream) hipStream_t stream);
SENDS(Fill, form = 1 | protocol::kFillSynchronous)
CHECK(width <= pitch || width == 0 || height == 0)
hipError_t hipMemset2D(IN(device, rows(pitch, width, height)) void* target, size_t pitch, int value, size_t width,
                       size_t height);
SENDS(Fill)
CHECK(width <= pitch || width == 0 || height == 0)
hipError_t hipMemset2DAsync(IN(device, rows(pitch, width, height)) void* target, size_t pitch, int value,
                            size_t width, size_t height, IN(stream) hipStream_t stream);
SENDS(Fill, target = target.ptr, pitch = target.pitch, slice = target.pitch * target.ysize, width = extent.width,
      height = extent.height, depth = extent.depth, form = 1 | protocol::kFillSynchronous)
CHECK(extent.width <= target.pitch || extent.width == 0 || extent.height == 0 || extent.depth == 0)
hipError_t hipMemset3D(IN(device, slices(target, extent)) hipPitchedPtr target, int value, hipExtent extent);
SENDS(Fill, target = target.ptr, pitch = target.pitch, slice = target.pitch * target.ysize, width = extent.width,
      height = extent.height, depth = extent.depth)
CHECK(extent.width <= target.pitch || extent.width == 0 || extent.height == 0 || extent.depth == 0)
hipError_t hipMemset3DAsync(IN(device, slices(target, extent)) hipPitchedPtr target, int value, hipExtent extent,
                            IN(stream) hipStream_t stream);

// --- rows of elements (HIP 7) -------------------------------------------------------------------------

SENDS(Fill, form = 1 | protocol::kFillSynchronous)
CHECK(width <= pitch || width == 0 || height == 0)
hipError_t hipMemsetD2D8(IN(device, rows(pitch, width, height)) hipDeviceptr_t target, size_t pitch,
                            unsigned char value, size_t width, size_t height);
SENDS(Fill, form = 1)
CHECK(width <= pitch || width == 0 || height == 0)
hipError_t hipMemsetD2D8Async(IN(device, rows(pitch, width, height)) hipDeviceptr_t target, size_t pitch,
                            unsigned char value, size_t width, size_t height, IN(stream) hipStream_t stream);
SENDS(Fill, width = elements(width, 2), form = 2 | protocol::kFillSynchronous)
CHECK(elements(width, 2) <= pitch || width == 0 || height == 0)
CHECK(width == 0 || height == 0 || (reinterpret_cast<std::uintptr_t>(target) % 2 == 0 && pitch % 2 == 0))
hipError_t hipMemsetD2D16(IN(device, rows(pitch, elements(width, 2), height)) hipDeviceptr_t target, size_t pitch,
                            unsigned short value, size_t width, size_t height);
SENDS(Fill, width = elements(width, 2), form = 2)
CHECK(elements(width, 2) <= pitch || width == 0 || height == 0)
CHECK(width == 0 || height == 0 || (reinterpret_cast<std::uintptr_t>(target) % 2 == 0 && pitch % 2 == 0))
hipError_t hipMemsetD2D16Async(IN(device, rows(pitch, elements(width, 2), height)) hipDeviceptr_t target, size_t pitch,
                            unsigned short value, size_t width, size_t height, IN(stream) hipStream_t stream);
SENDS(Fill, width = elements(width, 4), form = 4 | protocol::kFillSynchronous)
CHECK(elements(width, 4) <= pitch || width == 0 || height == 0)
CHECK(width == 0 || height == 0 || (reinterpret_cast<std::uintptr_t>(target) % 4 == 0 && pitch % 4 == 0))
hipError_t hipMemsetD2D32(IN(device, rows(pitch, elements(width, 4), height)) hipDeviceptr_t target, size_t pitch,
                            unsigned int value, size_t width, size_t height);
SENDS(Fill, width = elements(width, 4), form = 4)
CHECK(elements(width, 4) <= pitch || width == 0 || height == 0)
CHECK(width == 0 || height == 0 || (reinterpret_cast<std::uintptr_t>(target) % 4 == 0 && pitch % 4 == 0))
hipError_t hipMemsetD2D32Async(IN(device, rows(pitch, elements(width, 4), height)) hipDeviceptr_t target, size_t pitch,
                            unsigned int value, size_t width, size_t height, IN(stream) hipStream_t stream);

// --- the same for programs built with one default stream per thread -------------------------------------

ALIAS(hipMemcpyWithStream) hipError_t hipMemcpy_spt(IN(address) void* target, IN(address) const void* source,
                                                    size_t bytes, hipMemcpyKind kind);
ALIAS(hipMemcpyAsync) hipError_t hipMemcpyAsync_spt(IN(address) void* target, IN(address) const void* source,
                                                    size_t bytes, hipMemcpyKind kind,
                                                    IN(stream) hipStream_t stream);
ALIAS(hipMemcpy2DAsync, then_synchronize)
hipError_t hipMemcpy2D_spt(IN(address) void* target, size_t target_pitch, IN(address) const void* source,
                           size_t source_pitch, size_t width, size_t height, hipMemcpyKind kind);
ALIAS(hipMemcpy3DAsync, then_synchronize) hipError_t hipMemcpy3D_spt(IN() const struct hipMemcpy3DParms* copy);
ALIAS(hipMemcpyToSymbolAsync, then_synchronize)
hipError_t hipMemcpyToSymbol_spt(IN(symbol) const void* symbol, IN(address) const void* source, size_t bytes,
                                 size_t offset, hipMemcpyKind kind);
ALIAS(hipMemcpyFromSymbolAsync, then_synchronize)
hipError_t hipMemcpyFromSymbol_spt(IN(address) void* target, IN(symbol) const void* symbol, size_t bytes,
                                   size_t offset, hipMemcpyKind kind);
ALIAS(hipMemsetAsync, then_synchronize)
hipError_t hipMemset_spt(IN(device) void* target, int value, size_t bytes);
ALIAS(hipMemset2DAsync, then_synchronize)
hipError_t hipMemset2D_spt(IN(device) void* target, size_t pitch, int value, size_t width, size_t height);
ALIAS(hipMemset3DAsync, then_synchronize)
hipError_t hipMemset3D_spt(IN(device) hipPitchedPtr target, int value, hipExtent extent);
ALIAS(hipMemcpy2DAsync)
hipError_t hipMemcpy2DAsync_spt(IN(address) void* target, size_t target_pitch, IN(address) const void* source,
                                size_t source_pitch, size_t width, size_t height, hipMemcpyKind kind,
                                IN(stream) hipStream_t stream);
ALIAS(hipMemcpyToSymbolAsync)
hipError_t hipMemcpyToSymbolAsync_spt(IN(symbol) const void* symbol, IN(address) const void* source, size_t bytes,
                                      size_t offset, hipMemcpyKind kind, IN(stream) hipStream_t stream);
ALIAS(hipMemcpyFromSymbolAsync)
hipError_t hipMemcpyFromSymbolAsync_spt(IN(address) void* target, IN(symbol) const void* symbol, size_t bytes,
                                        size_t offset, hipMemcpyKind kind, IN(stream) hipStream_t stream);
ALIAS(hipMemsetAsync)
hipError_t hipMemsetAsync_spt(IN(device) void* target, int value, size_t bytes, IN(stream) hipStream_t stream);
ALIAS(hipMemset2DAsync)
hipError_t hipMemset2DAsync_spt(IN(device) void* target, size_t pitch, int value, size_t width, size_t height,
                                IN(stream) hipStream_t stream);
ALIAS(hipMemset3DAsync)
hipError_t hipMemset3DAsync_spt(IN(device) hipPitchedPtr target, int value, hipExtent extent,
                                IN(stream) hipStream_t stream);

}  // extern "C"
