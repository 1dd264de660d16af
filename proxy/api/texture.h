// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

CUSTOM(books) ASKS(always)
hipError_t hipCreateTextureObject(OUT(opaque) hipTextureObject_t* texture,
                                  IN() const hipResourceDesc* resource,
                                  IN() const hipTextureDesc* sampling,
                                  IN() OPTIONAL const struct hipResourceViewDesc* view);
CUSTOM(books) hipError_t hipDestroyTextureObject(IN(opaque) hipTextureObject_t texture);
CUSTOM(books) hipError_t hipGetTextureObjectResourceDesc(OUT() hipResourceDesc* resource,
                                                         IN(opaque) hipTextureObject_t texture);
CUSTOM(books) hipError_t hipGetTextureObjectResourceViewDesc(OUT() struct hipResourceViewDesc* view,
                                                             IN(opaque) hipTextureObject_t texture);
CUSTOM(books) hipError_t hipGetTextureObjectTextureDesc(OUT() hipTextureDesc* sampling,
                                                        IN(opaque) hipTextureObject_t texture);
CUSTOM(books) ASKS(always)
hipError_t hipTexObjectCreate(OUT(opaque) hipTextureObject_t* texture,
                              IN() const HIP_RESOURCE_DESC* resource,
                              IN() const HIP_TEXTURE_DESC* sampling,
                              IN() OPTIONAL const HIP_RESOURCE_VIEW_DESC* view);
CUSTOM(books) hipError_t hipTexObjectDestroy(IN(opaque) hipTextureObject_t texture);
CUSTOM(books) hipError_t hipTexObjectGetResourceDesc(OUT() HIP_RESOURCE_DESC* resource,
                                                     IN(opaque) hipTextureObject_t texture);
CUSTOM(books) hipError_t hipTexObjectGetResourceViewDesc(OUT() HIP_RESOURCE_VIEW_DESC* view,
                                                         IN(opaque) hipTextureObject_t texture);
CUSTOM(books) hipError_t hipTexObjectGetTextureDesc(OUT() HIP_TEXTURE_DESC* sampling,
                                                    IN(opaque) hipTextureObject_t texture);

}  // extern "C"

// hip_runtime_api.h declares these with C++ linkage; the library has them under both kinds of names.
CUSTOM(books) ASKS(always) MANGLED(_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc)
hipError_t hipCreateSurfaceObject(OUT(opaque) hipSurfaceObject_t* surface, IN() const hipResourceDesc* resource);
CUSTOM(books) MANGLED(_Z23hipDestroySurfaceObjectP13__hip_surface)
hipError_t hipDestroySurfaceObject(IN(opaque) hipSurfaceObject_t surface);
CUSTOM(books) ASKS(always) MANGLED(hipCreateSurfaceObject)
hipError_t create_surface_in_c(OUT(opaque) hipSurfaceObject_t* surface, IN() const hipResourceDesc* resource);
CUSTOM(books) MANGLED(hipDestroySurfaceObject)
hipError_t destroy_surface_in_c(IN(opaque) hipSurfaceObject_t surface);
