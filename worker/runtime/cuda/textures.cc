// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: the driver's own.
#include "worker/runtime/cuda/arrays.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/result.h"

namespace tf::cuda {
namespace {

// The driver's arrays in the place of ours, which are handles of the same C type. False: they are gone.
bool name_arrays(const array::Mipmaps& arrays, driver::ResourceDescription& resource) {
  const std::uint64_t base = arrays.places.front().base;
  if (resource.resType == HIP_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
    resource.res.mipmap.hMipmappedArray = static_cast<hipMipmappedArray_t>(named_arrays().mipmapped(base));
    return resource.res.mipmap.hMipmappedArray != nullptr;
  }
  const auto found = named_arrays().find(base);
  if (found) resource.res.array.hArray = static_cast<hipArray_t>(found->array);
  return found.has_value();
}

// The driver refuses a view of another size than what it is a view of; HIP lets the sizes be 0.
driver::ViewDescription view_of(const hipResourceViewDesc& wish, const array::Shape& shape) {
  driver::ViewDescription view = array::driver_form(wish);
  if (view.width == 0) view.width = shape.width;
  if (view.height == 0) view.height = shape.height;
  if (view.depth == 0) view.depth = shape.depth;
  return view;
}

}  // namespace

hipError_t Backend::create_texture(const array::TextureWish& wish, const array::Mipmaps& arrays,
                                   hipTextureObject_t& texture) {
  driver::ResourceDescription resource = array::driver_form(wish.resource);
  const driver::TextureDescription sampling = array::driver_form(wish.sampling);
  if (!arrays.places.empty() && !name_arrays(arrays, resource)) return hipErrorInvalidValue;
  driver::ViewDescription view{};
  if (wish.view) view = view_of(*wish.view, arrays.shape);
  return check(cu().TexObjectCreate(&texture, &resource, &sampling, wish.view ? &view : nullptr));
}

// Kernels that were launched before may still read it. Calls that wait report failures of theirs.
hipError_t Backend::destroy_texture(hipTextureObject_t texture) {
  static_cast<void>(Runtime::get().synchronize_all());
  return check(cu().TexObjectDestroy(texture));
}

hipError_t Backend::create_surface(const array::Mipmaps& arrays, hipSurfaceObject_t& surface) {
  driver::ResourceDescription resource{};
  resource.resType = HIP_RESOURCE_TYPE_ARRAY;
  if (!name_arrays(arrays, resource)) return hipErrorInvalidValue;
  return check(cu().SurfObjectCreate(&surface, &resource));
}

hipError_t Backend::destroy_surface(hipSurfaceObject_t surface) {
  static_cast<void>(Runtime::get().synchronize_all());
  return check(cu().SurfObjectDestroy(surface));
}

}  // namespace tf::cuda
