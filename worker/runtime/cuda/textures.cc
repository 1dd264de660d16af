// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: the driver's own.
#include <cstddef>
#include <cstdint>
#include <map>

#include "transport/base/mutex.h"
#include "worker/runtime/cuda/arrays.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/device/surface_form.h"
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
  // Of layers it wants all of them named, whichever the view reads.
  if (view.depth == 0 || shape.is_layered()) view.depth = shape.depth;
  return view;
}

// Whether a device reaches all of it. The driver makes textures of any address.
bool is_known_memory(void* pointer, std::size_t bytes) {
  void* base = nullptr;
  std::size_t found = 0;
  if (Backend::address_range(pointer, base, found) != hipSuccess) return false;
  const std::size_t before = static_cast<std::size_t>(static_cast<char*>(pointer) - static_cast<char*>(base));
  return before <= found && bytes <= found - before;
}

bool is_known_memory(const hipResourceDesc& resource) {
  if (resource.resType == hipResourceTypeLinear)
    return is_known_memory(resource.res.linear.devPtr, resource.res.linear.sizeInBytes);
  const auto& rows = resource.res.pitch2D;
  const std::size_t row =
      rows.width * static_cast<std::size_t>(rows.desc.x + rows.desc.y + rows.desc.z + rows.desc.w) / 8;
  if (rows.height == 0 || row > rows.pitchInBytes) return false;
  std::size_t all = 0;
  return !__builtin_mul_overflow(rows.height - 1, rows.pitchInBytes, &all) &&
         !__builtin_add_overflow(all, row, &all) && is_known_memory(rows.devPtr, all);
}

// Which arrays objects of one kind hold. Thread-safe.
class Held {
 public:
  void add(std::uint64_t object, std::uint64_t owner) {
    const MutexLock lock(mutex_);
    owners_[object] = owner;
  }
  hipError_t drop(std::uint64_t object) {
    std::uint64_t owner = 0;
    {
      const MutexLock lock(mutex_);
      const auto found = owners_.find(object);
      if (found == owners_.end()) return hipSuccess;  // of memory
      owner = found->second;
      owners_.erase(found);
    }
    return named_arrays().drop(owner);
  }

 private:
  Mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> owners_ TF_GUARDED_BY(mutex_);
};

// The driver numbers textures and surfaces apart. Never destroyed.
Held& textures_held() {
  static Held* const held = new Held;
  return *held;
}
Held& surfaces_held() {
  static Held* const held = new Held;
  return *held;
}

// Makes an object of an array, which stays as long as the object.
template <typename Make>
hipError_t make_of_array(const array::Mipmaps& arrays, Held& held, Make make) {
  const auto owner = named_arrays().hold(arrays.places.front().base);
  if (!owner) return hipErrorInvalidValue;
  std::uint64_t object = 0;
  const hipError_t error = make(object);
  if (error == hipSuccess)
    held.add(object, *owner);
  else
    static_cast<void>(named_arrays().drop(*owner));
  return error;
}

HiprSurfaceType surface_type(hipArray_Format format) {
  switch (format) {
    case HIP_AD_FORMAT_SIGNED_INT8: return HIPR_SURFACE_INT8;
    case HIP_AD_FORMAT_SIGNED_INT16: return HIPR_SURFACE_INT16;
    case HIP_AD_FORMAT_SIGNED_INT32: return HIPR_SURFACE_INT32;
    case HIP_AD_FORMAT_UNSIGNED_INT8: return HIPR_SURFACE_UINT8;
    case HIP_AD_FORMAT_UNSIGNED_INT16: return HIPR_SURFACE_UINT16;
    case HIP_AD_FORMAT_UNSIGNED_INT32: return HIPR_SURFACE_UINT32;
    case HIP_AD_FORMAT_HALF: return HIPR_SURFACE_HALF;
    default: return HIPR_SURFACE_FLOAT;
  }
}

// The driver's object with its elements' form and its layers, as kernels want it (device/surface_form.h).
hipSurfaceObject_t with_form(hipSurfaceObject_t surface, const array::Shape& shape) {
  const bool layered = shape.is_layered() || shape.is_cubemap();
  const std::uint64_t layers = layered ? shape.depth & HIPR_SURFACE_LAYERS_MASK : 1;
  const std::uint64_t form =
      std::uint64_t{surface_type(shape.format)} << HIPR_SURFACE_TYPE_SHIFT | shape.channels;
  return reinterpret_cast<hipSurfaceObject_t>(reinterpret_cast<std::uint64_t>(surface) |
                                              layers << HIPR_SURFACE_LAYERS_SHIFT |
                                              form << HIPR_SURFACE_FORM_SHIFT);
}
hipSurfaceObject_t without_form(hipSurfaceObject_t surface) {
  return reinterpret_cast<hipSurfaceObject_t>(reinterpret_cast<std::uint64_t>(surface) &
                                              HIPR_SURFACE_OBJECT_MASK);
}

}  // namespace

hipError_t Backend::create_texture(const array::TextureWish& wish, const array::Mipmaps& arrays,
                                   hipTextureObject_t& texture) {
  driver::ResourceDescription resource = array::driver_form(wish.resource);
  const driver::TextureDescription sampling = array::driver_form(wish.sampling);
  if (arrays.places.empty()) {
    if (!is_known_memory(wish.resource)) return hipErrorInvalidValue;
    return check(cu().TexObjectCreate(&texture, &resource, &sampling, nullptr));
  }
  driver::ViewDescription view{};
  if (wish.view) view = view_of(*wish.view, arrays.shape);
  return make_of_array(arrays, textures_held(), [&](std::uint64_t& object) {
    if (!name_arrays(arrays, resource)) return hipErrorInvalidValue;
    const hipError_t error =
        check(cu().TexObjectCreate(&texture, &resource, &sampling, wish.view ? &view : nullptr));
    object = reinterpret_cast<std::uint64_t>(texture);
    return error;
  });
}

// Kernels that were launched before may still read it. Calls that wait report failures of theirs.
hipError_t Backend::destroy_texture(hipTextureObject_t texture) {
  static_cast<void>(Runtime::get().synchronize_all());
  const hipError_t error = check(cu().TexObjectDestroy(texture));
  const hipError_t dropped = textures_held().drop(reinterpret_cast<std::uint64_t>(texture));
  return error != hipSuccess ? error : dropped;
}

hipError_t Backend::create_surface(const array::Mipmaps& arrays, hipSurfaceObject_t& surface) {
  driver::ResourceDescription resource{};
  resource.resType = HIP_RESOURCE_TYPE_ARRAY;
  return make_of_array(arrays, surfaces_held(), [&](std::uint64_t& object) {
    if (!name_arrays(arrays, resource)) return hipErrorInvalidValue;
    const hipError_t error = check(cu().SurfObjectCreate(&surface, &resource));
    object = reinterpret_cast<std::uint64_t>(surface);
    if (error == hipSuccess) surface = with_form(surface, arrays.shape);
    return error;
  });
}

hipError_t Backend::destroy_surface(hipSurfaceObject_t surface) {
  static_cast<void>(Runtime::get().synchronize_all());
  const hipSurfaceObject_t object = without_form(surface);
  const hipError_t error = check(cu().SurfObjectDestroy(object));
  const hipError_t dropped = surfaces_held().drop(reinterpret_cast<std::uint64_t>(object));
  return error != hipSuccess ? error : dropped;
}

}  // namespace tf::cuda
