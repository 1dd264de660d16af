// SPDX-License-Identifier: Apache-2.0
// Texture references: variables of a program, bound to what they read.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern "C" {

// --- binding: a texture object for the reference, whose value the kernels' variable gets -----------------

CUSTOM(code) ASKS(always)
hipError_t hipBindTexture(OUT() OPTIONAL size_t* offset, IN(opaque) const textureReference* reference,
                          IN(device) const void* memory, IN() const hipChannelFormatDesc* elements,
                          size_t bytes);
CUSTOM(code) ASKS(always)
hipError_t hipBindTexture2D(OUT() OPTIONAL size_t* offset, IN(opaque) const textureReference* reference,
                            IN(device) const void* memory, IN() const hipChannelFormatDesc* elements,
                            size_t width, size_t height, size_t pitch);
CUSTOM(code) ASKS(always)
hipError_t hipBindTextureToArray(IN(opaque) const textureReference* reference,
                                 IN(opaque) hipArray_const_t array,
                                 IN() const hipChannelFormatDesc* elements);
CUSTOM(code) ASKS(always)
hipError_t hipBindTextureToMipmappedArray(IN(opaque) const textureReference* reference,
                                          IN(opaque) hipMipmappedArray_const_t mipmapped,
                                          IN() const hipChannelFormatDesc* elements);
CUSTOM(code) hipError_t hipUnbindTexture(IN(opaque) const textureReference* reference);
CUSTOM(code) ASKS(always)
hipError_t hipTexRefSetAddress(OUT() OPTIONAL size_t* offset, INOUT(opaque) textureReference* reference,
                               IN(device) hipDeviceptr_t memory, size_t bytes);
CUSTOM(code) ASKS(always)
hipError_t hipTexRefSetAddress2D(INOUT(opaque) textureReference* reference,
                                 IN() const HIP_ARRAY_DESCRIPTOR* description,
                                 IN(device) hipDeviceptr_t memory, size_t pitch);
CUSTOM(code) ASKS(always)
hipError_t hipTexRefSetArray(INOUT(opaque) textureReference* reference,
                             IN(opaque) hipArray_const_t array, unsigned int flags);
CUSTOM(code) ASKS(always)
hipError_t hipTexRefSetMipmappedArray(INOUT(opaque) textureReference* reference,
                                      IN(opaque) struct hipMipmappedArray* mipmapped,
                                      unsigned int flags);
CUSTOM(code) hipError_t hipTexRefGetAddress(OUT(device) hipDeviceptr_t* memory,
                                            IN(opaque) const textureReference* reference);
CUSTOM(code) ASKS(code)
hipError_t hipModuleGetTexRef(OUT(opaque) textureReference** reference, IN(module) hipModule_t module,
                              IN() STRING(4096) const char* name);

// --- what the reference itself says ----------------------------------------------------------------------

LOCAL(constant) hipError_t hipTexRefSetAddressMode(INOUT(opaque) textureReference* reference, int axis,
                                                   enum hipTextureAddressMode mode);
LOCAL(constant) hipError_t hipTexRefGetAddressMode(OUT() enum hipTextureAddressMode* mode,
                                                   IN(opaque) const textureReference* reference, int axis);
LOCAL(constant) hipError_t hipTexRefSetFilterMode(INOUT(opaque) textureReference* reference,
                                                  enum hipTextureFilterMode mode);
LOCAL(constant) hipError_t hipTexRefGetFilterMode(OUT() enum hipTextureFilterMode* mode,
                                                  IN(opaque) const textureReference* reference);
LOCAL(constant) hipError_t hipTexRefSetFlags(INOUT(opaque) textureReference* reference, unsigned int flags);
LOCAL(constant) hipError_t hipTexRefGetFlags(OUT() unsigned int* flags, IN(opaque) const textureReference* reference);
LOCAL(constant) hipError_t hipTexRefSetFormat(INOUT(opaque) textureReference* reference, hipArray_Format format,
                                              int channels);
LOCAL(constant) hipError_t hipTexRefGetFormat(OUT() hipArray_Format* format, OUT() int* channels,
                                              IN(opaque) const textureReference* reference);
LOCAL(constant) hipError_t hipTexRefSetMaxAnisotropy(INOUT(opaque) textureReference* reference,
                                                     unsigned int anisotropy);
LOCAL(constant) hipError_t hipTexRefGetMaxAnisotropy(OUT() int* anisotropy,
                                                     IN(opaque) const textureReference* reference);
LOCAL(constant) hipError_t hipTexRefSetMipmapFilterMode(INOUT(opaque) textureReference* reference,
                                                        enum hipTextureFilterMode mode);
LOCAL(constant) hipError_t hipTexRefGetMipmapFilterMode(OUT() enum hipTextureFilterMode* mode,
                                                        IN(opaque) const textureReference* reference);
LOCAL(constant) hipError_t hipTexRefSetMipmapLevelBias(INOUT(opaque) textureReference* reference, float bias);
LOCAL(constant) hipError_t hipTexRefGetMipmapLevelBias(OUT() float* bias,
                                                       IN(opaque) const textureReference* reference);
LOCAL(constant) hipError_t hipTexRefSetMipmapLevelClamp(INOUT(opaque) textureReference* reference, float low,
                                                        float high);
LOCAL(constant) hipError_t hipTexRefGetMipmapLevelClamp(OUT() float* low, OUT() float* high,
                                                        IN(opaque) const textureReference* reference);
LOCAL(constant) hipError_t hipTexRefSetBorderColor(INOUT(opaque) textureReference* reference,
                                                   IN(opaque) float* color);
LOCAL(constant) hipError_t hipGetTextureAlignmentOffset(OUT() size_t* offset,
                                                        IN(opaque) const textureReference* reference);
LOCAL(constant) hipError_t hipGetTextureReference(OUT(opaque) const textureReference** reference,
                                                  IN(symbol) const void* symbol);

}  // extern "C"

#pragma GCC diagnostic pop
