// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects. The errors are those of AMD's runtime (ROCm/clr, hipamd/src/hip_texture.cpp
// and hip_surface.cpp). An unknown handle is hipErrorInvalidValue; AMD's runtime does not check.
#include "hipcore/array/textures.h"

#include <algorithm>
#include <utility>

namespace tf::array {
namespace {

template <typename Enum>
bool known(Enum value, Enum last) {
  return static_cast<unsigned>(value) <= static_cast<unsigned>(last);
}

bool has_known_values(const hipTextureDesc& sampling) {
  for (const hipTextureAddressMode mode : sampling.addressMode)
    if (!known(mode, hipAddressModeBorder)) return false;
  return known(sampling.filterMode, hipFilterModeLinear) &&
         known(sampling.readMode, hipReadModeNormalizedFloat) &&
         known(sampling.mipmapFilterMode, hipFilterModeLinear);
}

bool are_elements(const hipChannelFormatDesc& elements) {
  hipArray_Format format{};
  unsigned channels = 0;
  return read_channels(elements, format, channels);
}

hipResourceDesc convert(const HIP_RESOURCE_DESC& from) {
  hipResourceDesc to{};
  to.resType = static_cast<hipResourceType>(from.resType);
  switch (to.resType) {
    case hipResourceTypeArray: to.res.array.array = from.res.array.hArray; break;
    case hipResourceTypeMipmappedArray: to.res.mipmap.mipmap = from.res.mipmap.hMipmappedArray; break;
    case hipResourceTypeLinear:
      to.res.linear.devPtr = from.res.linear.devPtr;
      to.res.linear.desc = write_channels(from.res.linear.format, from.res.linear.numChannels);
      to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      break;
    case hipResourceTypePitch2D:
      to.res.pitch2D.devPtr = from.res.pitch2D.devPtr;
      to.res.pitch2D.desc = write_channels(from.res.pitch2D.format, from.res.pitch2D.numChannels);
      to.res.pitch2D.width = from.res.pitch2D.width;
      to.res.pitch2D.height = from.res.pitch2D.height;
      to.res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
      break;
  }
  return to;
}

hipTextureDesc convert(const HIP_TEXTURE_DESC& from) {
  hipTextureDesc to{};
  for (int axis = 0; axis < 3; ++axis)
    to.addressMode[axis] = static_cast<hipTextureAddressMode>(from.addressMode[axis]);
  to.filterMode = static_cast<hipTextureFilterMode>(from.filterMode);
  to.readMode =
      (from.flags & HIP_TRSF_READ_AS_INTEGER) != 0 ? hipReadModeElementType : hipReadModeNormalizedFloat;
  to.normalizedCoords = (from.flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  to.sRGB = (from.flags & HIP_TRSF_SRGB) != 0 ? 1 : 0;
  std::copy_n(from.borderColor, 4, to.borderColor);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<hipTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  return to;
}

template <typename To, typename From>
To convert_view(const From& from) {
  To to{};
  to.format = static_cast<decltype(to.format)>(from.format);
  to.width = from.width;
  to.height = from.height;
  to.depth = from.depth;
  to.firstMipmapLevel = from.firstMipmapLevel;
  to.lastMipmapLevel = from.lastMipmapLevel;
  to.firstLayer = from.firstLayer;
  to.lastLayer = from.lastLayer;
  return to;
}

}  // namespace

HIP_RESOURCE_DESC driver_form(const hipResourceDesc& from) {
  HIP_RESOURCE_DESC to{};
  to.resType = static_cast<HIPresourcetype>(from.resType);
  switch (from.resType) {
    case hipResourceTypeArray: to.res.array.hArray = from.res.array.array; break;
    case hipResourceTypeMipmappedArray: to.res.mipmap.hMipmappedArray = from.res.mipmap.mipmap; break;
    case hipResourceTypeLinear:
      to.res.linear.devPtr = from.res.linear.devPtr;
      static_cast<void>(read_channels(from.res.linear.desc, to.res.linear.format, to.res.linear.numChannels));
      to.res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      break;
    case hipResourceTypePitch2D:
      to.res.pitch2D.devPtr = from.res.pitch2D.devPtr;
      static_cast<void>(
          read_channels(from.res.pitch2D.desc, to.res.pitch2D.format, to.res.pitch2D.numChannels));
      to.res.pitch2D.width = from.res.pitch2D.width;
      to.res.pitch2D.height = from.res.pitch2D.height;
      to.res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
      break;
  }
  return to;
}

HIP_TEXTURE_DESC driver_form(const hipTextureDesc& from) {
  HIP_TEXTURE_DESC to{};
  for (int axis = 0; axis < 3; ++axis)
    to.addressMode[axis] = static_cast<HIPaddress_mode>(from.addressMode[axis]);
  to.filterMode = static_cast<HIPfilter_mode>(from.filterMode);
  if (from.readMode == hipReadModeElementType) to.flags |= HIP_TRSF_READ_AS_INTEGER;
  if (from.normalizedCoords != 0) to.flags |= HIP_TRSF_NORMALIZED_COORDINATES;
  if (from.sRGB != 0) to.flags |= HIP_TRSF_SRGB;
  std::copy_n(from.borderColor, 4, to.borderColor);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<HIPfilter_mode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  return to;
}

HIP_RESOURCE_VIEW_DESC driver_form(const hipResourceViewDesc& view) {
  return convert_view<HIP_RESOURCE_VIEW_DESC>(view);
}

// The formats come in threes: of one, two and four channels.
bool read_view_format(hipResourceViewFormat view, hipArray_Format& format, unsigned& channels) {
  constexpr hipArray_Format kFormats[] = {HIP_AD_FORMAT_UNSIGNED_INT8,  HIP_AD_FORMAT_SIGNED_INT8,
                                          HIP_AD_FORMAT_UNSIGNED_INT16, HIP_AD_FORMAT_SIGNED_INT16,
                                          HIP_AD_FORMAT_UNSIGNED_INT32, HIP_AD_FORMAT_SIGNED_INT32,
                                          HIP_AD_FORMAT_HALF,           HIP_AD_FORMAT_FLOAT};
  if (view < hipResViewFormatUnsignedChar1 || view > hipResViewFormatFloat4) return false;
  const unsigned place = view - hipResViewFormatUnsignedChar1;
  format = kFormats[place / 3];
  channels = 1u << place % 3;
  return true;
}

namespace {

// Which levels, layers and format of its array a view reads. Its edges are the runtime's affair.
hipError_t check_view(const hipResourceViewDesc& view, const Shape& shape, std::size_t levels) {
  if (view.format != hipResViewFormatNone) {
    hipArray_Format format{};
    unsigned channels = 0;
    if (!read_view_format(view.format, format, channels)) return hipErrorNotSupported;
    if (channel_bytes(format) * channels != channel_bytes(shape.format) * shape.channels)
      return hipErrorInvalidValue;
  }
  if (view.firstMipmapLevel > view.lastMipmapLevel || view.lastMipmapLevel >= levels)
    return hipErrorInvalidValue;
  if (!shape.is_layered()) return hipSuccess;
  return view.firstLayer <= view.lastLayer && view.lastLayer < shape.depth ? hipSuccess
                                                                           : hipErrorInvalidValue;
}

}  // namespace

hipError_t Textures::check_view_of(const TextureWish& wish) const {
  if (!wish.view) return hipSuccess;
  if (wish.resource.resType == hipResourceTypeMipmappedArray) {
    const auto mipmaps = arrays_.find(wish.resource.res.mipmap.mipmap);
    return mipmaps ? check_view(*wish.view, mipmaps->shape, mipmaps->places.size()) : hipErrorInvalidValue;
  }
  const auto shape = arrays_.shape_of(wish.resource.res.array.array);
  return shape ? check_view(*wish.view, *shape, 1) : hipErrorInvalidValue;
}

hipError_t Textures::check(const TextureWish& wish) const {
  const hipResourceDesc& resource = wish.resource;
  const hipTextureDesc& sampling = wish.sampling;
  const bool of_array =
      resource.resType == hipResourceTypeArray || resource.resType == hipResourceTypeMipmappedArray;
  if (wish.view && !of_array) return hipErrorInvalidValue;
  switch (resource.resType) {
    case hipResourceTypeArray:
      if (!arrays_.shape_of(resource.res.array.array)) return hipErrorInvalidValue;
      break;
    case hipResourceTypeMipmappedArray:
      if (!arrays_.find(resource.res.mipmap.mipmap) || sampling.normalizedCoords == 0)
        return hipErrorInvalidValue;
      break;
    case hipResourceTypeLinear:
      if (resource.res.linear.devPtr == nullptr || !are_elements(resource.res.linear.desc))
        return hipErrorInvalidValue;
      break;
    case hipResourceTypePitch2D:
      if (resource.res.pitch2D.devPtr == nullptr || !are_elements(resource.res.pitch2D.desc))
        return hipErrorInvalidValue;
      break;
    default: return hipErrorInvalidValue;
  }
  if (!has_known_values(sampling)) return hipErrorInvalidValue;
  if (const hipError_t error = check_view_of(wish)) return error;
  return sampling.maxAnisotropy != 0 || sampling.mipmapLevelBias != 0 ? hipErrorNotSupported : hipSuccess;
}

hipError_t Textures::create(hipTextureObject_t* texture, const hipResourceDesc* resource,
                            const hipTextureDesc* sampling, const hipResourceViewDesc* view) {
  if (texture == nullptr || resource == nullptr || sampling == nullptr) return hipErrorInvalidValue;
  TextureWish wish{*resource, *sampling, std::nullopt};
  if (view != nullptr) wish.view = *view;
  if (const hipError_t error = check(wish); error != hipSuccess) return error;
  hipTextureObject_t made = nullptr;
  if (const hipError_t error = side_.create_texture(wish, made); error != hipSuccess) return error;
  {
    const MutexLock lock(mutex_);
    if (textures_.size() < kTexturesMax) {
      textures_[made] = wish;
      *texture = made;
      return hipSuccess;
    }
  }
  static_cast<void>(side_.destroy_texture(made));
  return hipErrorOutOfMemory;
}

hipError_t Textures::create(hipTextureObject_t* texture, const HIP_RESOURCE_DESC* resource,
                            const HIP_TEXTURE_DESC* sampling, const HIP_RESOURCE_VIEW_DESC* view) {
  if (texture == nullptr || resource == nullptr || sampling == nullptr) return hipErrorInvalidValue;
  const hipResourceDesc from = convert(*resource);
  const hipTextureDesc how = convert(*sampling);
  if (view == nullptr) return create(texture, &from, &how, nullptr);
  const auto part = convert_view<hipResourceViewDesc>(*view);
  return create(texture, &from, &how, &part);
}

hipError_t Textures::destroy(hipTextureObject_t texture) {
  if (texture == nullptr) return hipSuccess;
  {
    const MutexLock lock(mutex_);
    if (textures_.erase(texture) == 0) return hipErrorInvalidValue;
  }
  return side_.destroy_texture(texture);
}

std::optional<TextureWish> Textures::find(hipTextureObject_t texture) const {
  const MutexLock lock(mutex_);
  const auto found = textures_.find(texture);
  if (found == textures_.end()) return std::nullopt;
  return found->second;
}

template <typename Out, typename Read>
hipError_t Textures::get(Out* out, hipTextureObject_t texture, Read read) const {
  const auto wish = find(texture);
  if (out == nullptr || !wish) return hipErrorInvalidValue;
  *out = read(*wish);
  return hipSuccess;
}

hipError_t Textures::get(hipResourceDesc* resource, hipTextureObject_t texture) const {
  return get(resource, texture, [](const TextureWish& wish) { return wish.resource; });
}

hipError_t Textures::get(hipTextureDesc* sampling, hipTextureObject_t texture) const {
  return get(sampling, texture, [](const TextureWish& wish) { return wish.sampling; });
}

hipError_t Textures::get(hipResourceViewDesc* view, hipTextureObject_t texture) const {
  return get(view, texture,
             [](const TextureWish& wish) { return wish.view.value_or(hipResourceViewDesc{}); });
}

hipError_t Textures::get(HIP_RESOURCE_DESC* resource, hipTextureObject_t texture) const {
  return get(resource, texture, [](const TextureWish& wish) { return driver_form(wish.resource); });
}

hipError_t Textures::get(HIP_TEXTURE_DESC* sampling, hipTextureObject_t texture) const {
  return get(sampling, texture, [](const TextureWish& wish) { return driver_form(wish.sampling); });
}

hipError_t Textures::get(HIP_RESOURCE_VIEW_DESC* view, hipTextureObject_t texture) const {
  return get(view, texture,
             [](const TextureWish& wish) { return driver_form(wish.view.value_or(hipResourceViewDesc{})); });
}

hipError_t Textures::create_surface(hipSurfaceObject_t* surface, const hipResourceDesc* resource) {
  if (surface == nullptr || resource == nullptr || resource->resType != hipResourceTypeArray)
    return hipErrorInvalidValue;
  const hipArray_const_t array = resource->res.array.array;
  const auto shape = arrays_.shape_of(array);
  if (!shape) return hipErrorInvalidValue;
  if (shape->flags != hipArrayDefault && (shape->flags & hipArraySurfaceLoadStore) == 0)
    return hipErrorInvalidValue;
  hipSurfaceObject_t made = nullptr;
  if (const hipError_t error = side_.create_surface(array, made); error != hipSuccess) return error;
  {
    const MutexLock lock(mutex_);
    if (surfaces_.size() < kSurfacesMax) {
      surfaces_[made] = array;
      *surface = made;
      return hipSuccess;
    }
  }
  static_cast<void>(side_.destroy_surface(made));
  return hipErrorOutOfMemory;
}

hipError_t Textures::destroy_surface(hipSurfaceObject_t surface) {
  if (surface == nullptr) return hipSuccess;
  {
    const MutexLock lock(mutex_);
    if (surfaces_.erase(surface) == 0) return hipErrorInvalidValue;
  }
  return side_.destroy_surface(surface);
}

}  // namespace tf::array
