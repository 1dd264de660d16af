// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: the books are the library's.
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"

namespace tf::proxy::custom {
namespace {

template <typename Body>
hipError_t with_textures(ApiCall& call, Body&& body) {
  if (!call.connected()) return call.finish();
  return call.finish(body(call.client().textures().library()));
}

}  // namespace

hipError_t hipCreateTextureObject(ApiCall& call, hipTextureObject_t* texture, const hipResourceDesc* resource,
                                  const hipTextureDesc* sampling, const hipResourceViewDesc* view) {
  return with_textures(call,
                       [&](array::Textures& all) { return all.create(texture, resource, sampling, view); });
}

hipError_t hipDestroyTextureObject(ApiCall& call, hipTextureObject_t texture) {
  return with_textures(call, [&](array::Textures& all) { return all.destroy(texture); });
}

hipError_t hipGetTextureObjectResourceDesc(ApiCall& call, hipResourceDesc* resource,
                                           hipTextureObject_t texture) {
  return with_textures(call, [&](array::Textures& all) { return all.get(resource, texture); });
}

hipError_t hipGetTextureObjectResourceViewDesc(ApiCall& call, hipResourceViewDesc* view,
                                               hipTextureObject_t texture) {
  return with_textures(call, [&](array::Textures& all) { return all.get(view, texture); });
}

hipError_t hipGetTextureObjectTextureDesc(ApiCall& call, hipTextureDesc* sampling,
                                          hipTextureObject_t texture) {
  return with_textures(call, [&](array::Textures& all) { return all.get(sampling, texture); });
}

hipError_t hipTexObjectCreate(ApiCall& call, hipTextureObject_t* texture, const HIP_RESOURCE_DESC* resource,
                              const HIP_TEXTURE_DESC* sampling, const HIP_RESOURCE_VIEW_DESC* view) {
  return with_textures(call,
                       [&](array::Textures& all) { return all.create(texture, resource, sampling, view); });
}

hipError_t hipTexObjectDestroy(ApiCall& call, hipTextureObject_t texture) {
  return custom::hipDestroyTextureObject(call, texture);
}

hipError_t hipTexObjectGetResourceDesc(ApiCall& call, HIP_RESOURCE_DESC* resource,
                                       hipTextureObject_t texture) {
  return with_textures(call, [&](array::Textures& all) { return all.get(resource, texture); });
}

hipError_t hipTexObjectGetResourceViewDesc(ApiCall& call, HIP_RESOURCE_VIEW_DESC* view,
                                           hipTextureObject_t texture) {
  return with_textures(call, [&](array::Textures& all) { return all.get(view, texture); });
}

hipError_t hipTexObjectGetTextureDesc(ApiCall& call, HIP_TEXTURE_DESC* sampling, hipTextureObject_t texture) {
  return with_textures(call, [&](array::Textures& all) { return all.get(sampling, texture); });
}

hipError_t hipCreateSurfaceObject(ApiCall& call, hipSurfaceObject_t* surface,
                                  const hipResourceDesc* resource) {
  return with_textures(call, [&](array::Textures& all) { return all.create_surface(surface, resource); });
}

hipError_t hipDestroySurfaceObject(ApiCall& call, hipSurfaceObject_t surface) {
  return with_textures(call, [&](array::Textures& all) { return all.destroy_surface(surface); });
}

hipError_t create_surface_in_c(ApiCall& call, hipSurfaceObject_t* surface, const hipResourceDesc* resource) {
  return custom::hipCreateSurfaceObject(call, surface, resource);
}

hipError_t destroy_surface_in_c(ApiCall& call, hipSurfaceObject_t surface) {
  return custom::hipDestroySurfaceObject(call, surface);
}

}  // namespace tf::proxy::custom
