// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: the Backend makes them.
#include "worker/runtime/common/textures.h"

#include "worker/runtime/common/api.h"
#include "worker/runtime/common/arrays.h"

namespace tf::runtime {
namespace {

class Textures final : private array::TextureSide {
 public:
  array::Textures& library() { return library_; }

 private:
  hipError_t create_texture(const array::TextureWish& wish, hipTextureObject_t& texture) override {
    array::Mipmaps arrays;
    if (!find_arrays(wish.resource, arrays)) return hipErrorInvalidValue;  // destroyed meanwhile
    return Backend::create_texture(wish, arrays, texture);
  }
  hipError_t destroy_texture(hipTextureObject_t texture) override {
    return Backend::destroy_texture(texture);
  }
  hipError_t create_surface(hipArray_const_t array, hipSurfaceObject_t& surface) override {
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = const_cast<hipArray_t>(array);
    array::Mipmaps arrays;
    if (!find_arrays(resource, arrays)) return hipErrorInvalidValue;
    return Backend::create_surface(arrays, surface);
  }
  hipError_t destroy_surface(hipSurfaceObject_t surface) override {
    return Backend::destroy_surface(surface);
  }

  // The array or mipmapped array; none of plain memory.
  static bool find_arrays(const hipResourceDesc& resource, array::Mipmaps& arrays) {
    if (resource.resType == hipResourceTypeMipmappedArray) {
      const auto found = runtime::arrays().find(resource.res.mipmap.mipmap);
      if (found) arrays = *found;
      return found.has_value();
    }
    if (resource.resType != hipResourceTypeArray) return true;
    const auto shape = runtime::arrays().shape_of(resource.res.array.array);
    const auto place = runtime::arrays().find(resource.res.array.array);
    if (!shape || !place) return false;
    arrays = {*shape, {*place}};
    return true;
  }

  array::Textures library_{arrays(), *this};
};

}  // namespace

array::Textures& textures() {
  static Textures* const all = new Textures;
  return all->library();
}

}  // namespace tf::runtime

using namespace tf::runtime;

// With C++ linkage in HIP 5, and with C linkage for programs of later versions.
TF_EXPORT hipError_t hipCreateSurfaceObject(hipSurfaceObject_t* surface, const hipResourceDesc* resource) {
  return api([&] { return textures().create_surface(surface, resource); });
}

TF_EXPORT hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surface) {
  return api([&] { return textures().destroy_surface(surface); });
}

extern "C" {

TF_EXPORT hipError_t create_surface_in_c(hipSurfaceObject_t* surface,
                                         const hipResourceDesc* resource) __asm__("hipCreateSurfaceObject");
TF_EXPORT hipError_t destroy_surface_in_c(hipSurfaceObject_t surface) __asm__("hipDestroySurfaceObject");

hipError_t create_surface_in_c(hipSurfaceObject_t* surface, const hipResourceDesc* resource) {
  return hipCreateSurfaceObject(surface, resource);
}

hipError_t destroy_surface_in_c(hipSurfaceObject_t surface) { return hipDestroySurfaceObject(surface); }

hipError_t hipCreateTextureObject(hipTextureObject_t* texture, const hipResourceDesc* resource,
                                  const hipTextureDesc* sampling, const hipResourceViewDesc* view) {
  return api([&] { return textures().create(texture, resource, sampling, view); });
}

hipError_t hipDestroyTextureObject(hipTextureObject_t texture) {
  return api([&] { return textures().destroy(texture); });
}

hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc* resource, hipTextureObject_t texture) {
  return api([&] { return textures().get(resource, texture); });
}

hipError_t hipGetTextureObjectResourceViewDesc(hipResourceViewDesc* view, hipTextureObject_t texture) {
  return api([&] { return textures().get(view, texture); });
}

hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc* sampling, hipTextureObject_t texture) {
  return api([&] { return textures().get(sampling, texture); });
}

hipError_t hipTexObjectCreate(hipTextureObject_t* texture, const HIP_RESOURCE_DESC* resource,
                              const HIP_TEXTURE_DESC* sampling, const HIP_RESOURCE_VIEW_DESC* view) {
  return api([&] { return textures().create(texture, resource, sampling, view); });
}

hipError_t hipTexObjectDestroy(hipTextureObject_t texture) {
  return api([&] { return textures().destroy(texture); });
}

hipError_t hipTexObjectGetResourceDesc(HIP_RESOURCE_DESC* resource, hipTextureObject_t texture) {
  return api([&] { return textures().get(resource, texture); });
}

hipError_t hipTexObjectGetResourceViewDesc(HIP_RESOURCE_VIEW_DESC* view, hipTextureObject_t texture) {
  return api([&] { return textures().get(view, texture); });
}

hipError_t hipTexObjectGetTextureDesc(HIP_TEXTURE_DESC* sampling, hipTextureObject_t texture) {
  return api([&] { return textures().get(sampling, texture); });
}

}  // extern "C"
