// SPDX-License-Identifier: Apache-2.0
// Arrays and mipmapped arrays, and copies to and from them.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

// --- arrays: the program's structs are the client's (hipcore/array/library.h) --------------------------

CUSTOM(books) ASKS(always) OUTSIDE_CAPTURES
hipError_t hipMallocArray(OUT(opaque) hipArray** array, IN() const hipChannelFormatDesc* elements,
                          size_t width, size_t height, unsigned int flags);
CUSTOM(books) ASKS(always) OUTSIDE_CAPTURES
hipError_t hipMalloc3DArray(OUT(opaque) hipArray** array,
                            IN() const struct hipChannelFormatDesc* elements, struct hipExtent extent,
                            unsigned int flags);
CUSTOM(books) ASKS(always) OUTSIDE_CAPTURES
hipError_t hipArrayCreate(OUT(opaque) hipArray** array, IN() const HIP_ARRAY_DESCRIPTOR* description);
CUSTOM(books) ASKS(always) OUTSIDE_CAPTURES
hipError_t hipArray3DCreate(OUT(opaque) hipArray** array,
                            IN() const HIP_ARRAY3D_DESCRIPTOR* description);
CUSTOM(books) ASKS(pending) OUTSIDE_CAPTURES hipError_t hipFreeArray(IN(opaque) hipArray* array);
CUSTOM(books) ASKS(pending) OUTSIDE_CAPTURES hipError_t hipArrayDestroy(IN(opaque) hipArray* array);
CUSTOM(books) OUTSIDE_CAPTURES
hipError_t hipArrayGetInfo(OUT() OPTIONAL hipChannelFormatDesc* elements,
                           OUT() OPTIONAL hipExtent* extent, OUT() OPTIONAL unsigned int* flags,
                           IN(opaque) hipArray* array);
CUSTOM(books) OUTSIDE_CAPTURES
hipError_t hipArrayGetDescriptor(OUT() HIP_ARRAY_DESCRIPTOR* description, IN(opaque) hipArray* array);
CUSTOM(books) OUTSIDE_CAPTURES
hipError_t hipArray3DGetDescriptor(OUT() HIP_ARRAY3D_DESCRIPTOR* description,
                                   IN(opaque) hipArray* array);
CUSTOM(books) hipError_t hipGetChannelDesc(OUT() hipChannelFormatDesc* elements, IN(opaque) hipArray_const_t array);

CUSTOM(books) ASKS(always) OUTSIDE_CAPTURES
hipError_t hipMallocMipmappedArray(OUT(opaque) hipMipmappedArray_t* mipmapped,
                                   IN() const struct hipChannelFormatDesc* elements,
                                   struct hipExtent extent, unsigned int levels, unsigned int flags);
CUSTOM(books) ASKS(always) OUTSIDE_CAPTURES
hipError_t hipMipmappedArrayCreate(OUT(opaque) hipMipmappedArray_t* mipmapped,
                                   IN() HIP_ARRAY3D_DESCRIPTOR* description, unsigned int levels);
CUSTOM(books) ASKS(pending) OUTSIDE_CAPTURES hipError_t hipFreeMipmappedArray(IN(opaque) hipMipmappedArray_t mipmapped);
CUSTOM(books) ASKS(pending) OUTSIDE_CAPTURES
hipError_t hipMipmappedArrayDestroy(IN(opaque) hipMipmappedArray_t mipmapped);
CUSTOM(books) OUTSIDE_CAPTURES
hipError_t hipGetMipmappedArrayLevel(OUT(opaque) hipArray_t* array,
                                     IN(opaque) hipMipmappedArray_const_t mipmapped, unsigned int level);
CUSTOM(books) hipError_t hipMipmappedArrayGetMemoryRequirements(OUT() hipArrayMemoryRequirements* requirements,
                                                                IN(opaque) hipMipmappedArray_t mipmapped,
                                                                hipDevice_t device);
CUSTOM(books) hipError_t hipMipmappedArrayGetLevel(OUT(opaque) hipArray_t* array,
                                                   IN(opaque) hipMipmappedArray_t mipmapped, unsigned int level);

// --- copies; further forms take arrays among their parameters (memory.h) -------------------------------

CUSTOM(copy) hipError_t hipMemcpy2DToArray(IN(opaque) hipArray* target, size_t x, size_t y,
                                           IN(address) const void* source, size_t pitch, size_t width, size_t height,
                                           hipMemcpyKind kind);
CUSTOM(copy) hipError_t hipMemcpy2DToArrayAsync(IN(opaque) hipArray* target, size_t x, size_t y,
                                                IN(address) const void* source, size_t pitch, size_t width,
                                                size_t height, hipMemcpyKind kind, IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipMemcpy2DFromArray(IN(address) void* target, size_t pitch,
                                             IN(opaque) hipArray_const_t source, size_t x, size_t y, size_t width,
                                             size_t height, hipMemcpyKind kind);
CUSTOM(copy) hipError_t hipMemcpy2DFromArrayAsync(IN(address) void* target, size_t pitch,
                                                  IN(opaque) hipArray_const_t source, size_t x, size_t y, size_t width,
                                                  size_t height, hipMemcpyKind kind, IN(stream) hipStream_t stream);
CUSTOM(copy) hipError_t hipMemcpyToArray(IN(opaque) hipArray* target, size_t x, size_t y,
                                         IN(address) const void* source, size_t bytes, hipMemcpyKind kind);
CUSTOM(copy) hipError_t hipMemcpyFromArray(IN(address) void* target, IN(opaque) hipArray_const_t source, size_t x,
                                           size_t y, size_t bytes, hipMemcpyKind kind);
CUSTOM(copy) hipError_t hipMemcpyFromArray_spt(IN(address) void* target, IN(opaque) hipArray_const_t source, size_t x,
                                               size_t y, size_t bytes, hipMemcpyKind kind);
CUSTOM(copy) hipError_t hipMemcpyHtoA(IN(opaque) hipArray* target, size_t offset, IN(host) const void* source,
                                      size_t bytes);
CUSTOM(copy) hipError_t hipMemcpyAtoH(IN(host) void* target, IN(opaque) hipArray* source, size_t offset, size_t bytes);

ALIAS(hipMemcpy2DToArrayAsync, then_synchronize)
hipError_t hipMemcpy2DToArray_spt(IN(opaque) hipArray* target, size_t x, size_t y, IN(address) const void* source,
                                  size_t pitch, size_t width, size_t height, hipMemcpyKind kind);
ALIAS(hipMemcpy2DToArrayAsync)
hipError_t hipMemcpy2DToArrayAsync_spt(IN(opaque) hipArray* target, size_t x, size_t y, IN(address) const void* source,
                                       size_t pitch, size_t width, size_t height, hipMemcpyKind kind,
                                       IN(stream) hipStream_t stream);
ALIAS(hipMemcpy2DFromArrayAsync, then_synchronize)
hipError_t hipMemcpy2DFromArray_spt(IN(address) void* target, size_t pitch, IN(opaque) hipArray_const_t source,
                                    size_t x, size_t y, size_t width, size_t height, hipMemcpyKind kind);
ALIAS(hipMemcpy2DFromArrayAsync)
hipError_t hipMemcpy2DFromArrayAsync_spt(IN(address) void* target, size_t pitch, IN(opaque) hipArray_const_t source,
                                         size_t x, size_t y, size_t width, size_t height, hipMemcpyKind kind,
                                         IN(stream) hipStream_t stream);
ALIAS(hipMemcpy3DAsync)
hipError_t hipMemcpy3DAsync_spt(IN() const struct hipMemcpy3DParms* copy, IN(stream) hipStream_t stream);

}  // extern "C"
