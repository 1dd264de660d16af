// SPDX-License-Identifier: Apache-2.0
// Makes and destroys the runtime's texture and surface objects.
#include "worker/memory/textures.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "worker/memory/pointer_to.h"

namespace tf::worker {
namespace {

float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

hipChannelFormatDesc elements_of(const protocol::CreateTextureRequest& request) {
  return array::write_channels(static_cast<hipArray_Format>(request.format), request.channels);
}

hipTextureDesc sampling_of(const protocol::CreateTextureRequest& request) {
  hipTextureDesc sampling{};
  for (int axis = 0; axis < 3; ++axis)
    sampling.addressMode[axis] = static_cast<hipTextureAddressMode>(request.address_modes[axis]);
  sampling.filterMode = static_cast<hipTextureFilterMode>(request.filter);
  sampling.readMode = static_cast<hipTextureReadMode>(request.read_mode);
  sampling.sRGB = request.srgb != 0 ? 1 : 0;
  sampling.normalizedCoords = request.normalized_coordinates != 0 ? 1 : 0;
  sampling.mipmapFilterMode = static_cast<hipTextureFilterMode>(request.mipmap_filter);
  sampling.minMipmapLevelClamp = float_of(request.level_min);
  sampling.maxMipmapLevelClamp = float_of(request.level_max);
  std::transform(std::begin(request.border), std::end(request.border), sampling.borderColor, float_of);
  return sampling;
}

hipResourceViewDesc view_of(const protocol::CreateTextureRequest& request) {
  hipResourceViewDesc view{};
  view.format = static_cast<hipResourceViewFormat>(request.view_format);
  view.width = request.view_width;
  view.height = request.view_height;
  view.depth = request.view_depth;
  view.firstMipmapLevel = request.view_levels[0];
  view.lastMipmapLevel = request.view_levels[1];
  view.firstLayer = request.view_layers[0];
  view.lastLayer = request.view_layers[1];
  return view;
}

bool has_known_values(const protocol::CreateTextureRequest& request) {
  const bool modes = std::all_of(std::begin(request.address_modes), std::end(request.address_modes),
                                 [](std::uint32_t mode) { return mode <= hipAddressModeBorder; });
  return modes && request.filter <= hipFilterModeLinear && request.mipmap_filter <= hipFilterModeLinear &&
         request.read_mode <= hipReadModeNormalizedFloat && request.has_view <= 1;
}

}  // namespace

hipError_t Textures::read_resource(const protocol::CreateTextureRequest& request, hipResourceDesc& resource,
                                   Use& use) const {
  const SessionArray* const array = arrays_.find(request.address);
  const bool begins = array != nullptr && array->place.base == request.address;
  hipArray_Format format{};
  unsigned channels = 0;
  const bool elements = array::read_channels(elements_of(request), format, channels);
  resource.resType = static_cast<hipResourceType>(request.resource);
  switch (resource.resType) {
    case hipResourceTypeArray:
      if (!begins) return hipErrorInvalidValue;
      resource.res.array.array = array->array;
      use.share = arrays_.share_of(array->owner);
      return hipSuccess;
    case hipResourceTypeMipmappedArray:
      resource.res.mipmap.mipmap = arrays_.mipmapped(request.address);
      use.share = arrays_.share_of(request.address);
      return resource.res.mipmap.mipmap != nullptr ? hipSuccess : hipErrorInvalidValue;
    case hipResourceTypeLinear:
      if (!elements || request.bytes == 0 || addresses_.find(request.address, request.bytes) == nullptr)
        return hipErrorInvalidValue;
      resource.res.linear = {pointer_to(request.address), elements_of(request), request.bytes};
      return hipSuccess;
    case hipResourceTypePitch2D: {
      std::uint64_t row_bytes = 0;
      const std::uint64_t bytes = std::uint64_t{array::channel_bytes(format)} * channels;
      if (!elements || request.width == 0 || request.height == 0 ||
          __builtin_mul_overflow(request.width, bytes, &row_bytes) ||
          !addresses_.holds_box(request.address, request.pitch, 0, row_bytes, request.height, 1))
        return hipErrorInvalidValue;
      resource.res.pitch2D = {pointer_to(request.address), elements_of(request), request.width,
                              request.height, request.pitch};
      return hipSuccess;
    }
  }
  return hipErrorInvalidValue;
}

hipError_t Textures::create(const protocol::CreateTextureRequest& request, int device,
                            std::uint64_t& texture) {
  if (!has_known_values(request)) return hipErrorInvalidValue;
  if (textures_.size() >= kSessionTexturesMax) return hipErrorOutOfMemory;
  hipResourceDesc resource{};
  Use use{device, nullptr};
  if (const hipError_t error = read_resource(request, resource, use); error != hipSuccess) return error;
  const hipTextureDesc sampling = sampling_of(request);
  const hipResourceViewDesc view = view_of(request);
  hipTextureObject_t made = nullptr;
  const hipError_t error =
      hip_.hipCreateTextureObject(&made, &resource, &sampling, request.has_view != 0 ? &view : nullptr);
  if (error != hipSuccess) return error;
  textures_[made] = std::move(use);
  texture = reinterpret_cast<std::uint64_t>(made);
  return hipSuccess;
}

hipError_t Textures::destroy(std::uint64_t texture) {
  const auto object = reinterpret_cast<hipTextureObject_t>(texture);
  return textures_.erase(object) != 0 ? hip_.hipDestroyTextureObject(object) : hipErrorInvalidValue;
}

hipError_t Textures::create_surface(std::uint64_t address, int device, std::uint64_t& surface) {
  const SessionArray* const array = arrays_.find(address);
  if (array == nullptr || array->place.base != address) return hipErrorInvalidValue;
  if (functions_.create == nullptr || functions_.destroy == nullptr) return hipErrorNotSupported;
  if (surfaces_.size() >= kSessionTexturesMax) return hipErrorOutOfMemory;
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array->array;
  hipSurfaceObject_t made = nullptr;
  if (const hipError_t error = functions_.create(&made, &resource); error != hipSuccess) return error;
  surfaces_[made] = {device, arrays_.share_of(array->owner)};
  surface = reinterpret_cast<std::uint64_t>(made);
  return hipSuccess;
}

hipError_t Textures::destroy_surface(std::uint64_t surface) {
  const auto object = reinterpret_cast<hipSurfaceObject_t>(surface);
  return surfaces_.erase(object) != 0 ? functions_.destroy(object) : hipErrorInvalidValue;
}

int Textures::device_of(std::uint64_t texture) const {
  const auto found = textures_.find(reinterpret_cast<hipTextureObject_t>(texture));
  return found != textures_.end() ? found->second.device : -1;
}

int Textures::device_of_surface(std::uint64_t surface) const {
  const auto found = surfaces_.find(reinterpret_cast<hipSurfaceObject_t>(surface));
  return found != surfaces_.end() ? found->second.device : -1;
}

void Textures::release(CurrentDevice& device) {
  for (const auto& [texture, use] : textures_) {
    own_calls_.pass_on(device.use(use.device));
    own_calls_.pass_on(hip_.hipDestroyTextureObject(texture));
  }
  for (const auto& [surface, use] : surfaces_) {
    own_calls_.pass_on(device.use(use.device));
    own_calls_.pass_on(functions_.destroy(surface));
  }
  textures_.clear();
  surfaces_.clear();
}

}  // namespace tf::worker
