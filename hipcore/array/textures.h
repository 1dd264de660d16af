// SPDX-License-Identifier: Apache-2.0
// Textures: HIP's functions on texture and surface objects: their checks, what they were made of, their
// lifetime.
//
// Our runtimes and the client share it, as they do Library. Functions have the arguments and results of the
// API's. Any thread; the Side is never called under the lock.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <map>
#include <optional>

#include "hipcore/array/library.h"
#include "transport/base/mutex.h"

namespace tf::array {

inline constexpr std::size_t kTexturesMax = 1 << 20;
inline constexpr std::size_t kSurfacesMax = 1 << 20;

// What a texture reads, and how. Arrays exist and have what views read of them, enumerations have one of
// their values.
struct TextureWish {
  hipResourceDesc resource{};
  hipTextureDesc sampling{};
  std::optional<hipResourceViewDesc> view;
};

// The same in the driver's structs. REQUIRES: it was checked
HIP_RESOURCE_DESC driver_form(const hipResourceDesc& resource);
HIP_TEXTURE_DESC driver_form(const hipTextureDesc& sampling);
HIP_RESOURCE_VIEW_DESC driver_form(const hipResourceViewDesc& view);
// What a view of a resource reads its elements as; false: there is no such format, or it is compressed.
bool read_view_format(hipResourceViewFormat view, hipArray_Format& format, unsigned& channels);

class TextureSide {
 public:
  // On the calling thread's device. `texture` is what kernels get. The Side checks addresses and limits.
  virtual hipError_t create_texture(const TextureWish& wish, hipTextureObject_t& texture) = 0;
  virtual hipError_t destroy_texture(hipTextureObject_t texture) = 0;
  virtual hipError_t create_surface(hipArray_const_t array, hipSurfaceObject_t& surface) = 0;
  virtual hipError_t destroy_surface(hipSurfaceObject_t surface) = 0;

 protected:
  ~TextureSide() = default;
};

class Textures {
 public:
  // Both outlive it.
  Textures(const Library& arrays, TextureSide& side) : arrays_(arrays), side_(side) {}
  Textures(const Textures&) = delete;
  Textures& operator=(const Textures&) = delete;

  hipError_t create(hipTextureObject_t* texture, const hipResourceDesc* resource,
                    const hipTextureDesc* sampling, const hipResourceViewDesc* view);
  hipError_t create(hipTextureObject_t* texture, const HIP_RESOURCE_DESC* resource,
                    const HIP_TEXTURE_DESC* sampling, const HIP_RESOURCE_VIEW_DESC* view);
  hipError_t destroy(hipTextureObject_t texture);
  hipError_t get(hipResourceDesc* resource, hipTextureObject_t texture) const;
  hipError_t get(hipTextureDesc* sampling, hipTextureObject_t texture) const;
  hipError_t get(hipResourceViewDesc* view, hipTextureObject_t texture) const;
  hipError_t get(HIP_RESOURCE_DESC* resource, hipTextureObject_t texture) const;
  hipError_t get(HIP_TEXTURE_DESC* sampling, hipTextureObject_t texture) const;
  hipError_t get(HIP_RESOURCE_VIEW_DESC* view, hipTextureObject_t texture) const;

  hipError_t create_surface(hipSurfaceObject_t* surface, const hipResourceDesc* resource);
  hipError_t destroy_surface(hipSurfaceObject_t surface);

 private:
  std::optional<TextureWish> find(hipTextureObject_t texture) const;
  template <typename Out, typename Read>
  hipError_t get(Out* out, hipTextureObject_t texture, Read read) const;
  hipError_t check(const TextureWish& wish) const;
  hipError_t check_view_of(const TextureWish& wish) const;

  const Library& arrays_;
  TextureSide& side_;
  mutable Mutex mutex_;
  std::map<hipTextureObject_t, TextureWish> textures_ TF_GUARDED_BY(mutex_);
  std::map<hipSurfaceObject_t, hipArray_const_t> surfaces_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::array
