// SPDX-License-Identifier: Apache-2.0
// Has the worker make texture and surface objects.
#include "proxy/memory/textures.h"

#include <algorithm>
#include <cstring>

#include "proxy/base/handles.h"
#include "proxy/base/thread_state.h"

namespace tf::proxy {
namespace {

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

void say_elements(const hipChannelFormatDesc& elements, protocol::CreateTextureRequest& request) {
  hipArray_Format format{};
  static_cast<void>(array::read_channels(elements, format, request.channels));  // was checked
  request.format = format;
}

void say_sampling(const hipTextureDesc& sampling, protocol::CreateTextureRequest& request) {
  std::copy_n(sampling.addressMode, 3, request.address_modes);
  request.filter = sampling.filterMode;
  request.read_mode = sampling.readMode;
  request.srgb = sampling.sRGB != 0 ? 1 : 0;
  request.normalized_coordinates = sampling.normalizedCoords != 0 ? 1 : 0;
  request.mipmap_filter = sampling.mipmapFilterMode;
  request.level_min = bits_of(sampling.minMipmapLevelClamp);
  request.level_max = bits_of(sampling.maxMipmapLevelClamp);
  std::transform(sampling.borderColor, sampling.borderColor + 4, request.border, bits_of);
}

void say_view(const hipResourceViewDesc& view, protocol::CreateTextureRequest& request) {
  request.has_view = 1;
  request.view_format = view.format;
  request.view_width = view.width;
  request.view_height = view.height;
  request.view_depth = view.depth;
  request.view_levels[0] = view.firstMipmapLevel;
  request.view_levels[1] = view.lastMipmapLevel;
  request.view_layers[0] = view.firstLayer;
  request.view_layers[1] = view.lastLayer;
}

}  // namespace

hipError_t Textures::say_resource(const hipResourceDesc& resource,
                                  protocol::CreateTextureRequest& request) const {
  request.resource = resource.resType;
  switch (resource.resType) {
    case hipResourceTypeArray: {
      const auto place = arrays_.library().find(resource.res.array.array);
      if (!place) return hipErrorInvalidValue;
      request.address = place->base;
      return hipSuccess;
    }
    case hipResourceTypeMipmappedArray: {
      const auto found = arrays_.library().find(resource.res.mipmap.mipmap);
      if (!found) return hipErrorInvalidValue;
      request.address = found->places.front().base;
      return hipSuccess;
    }
    case hipResourceTypeLinear:
      say_elements(resource.res.linear.desc, request);
      request.address = to_raw(resource.res.linear.devPtr);
      request.bytes = resource.res.linear.sizeInBytes;
      return reaches(request.address, request.bytes) ? hipSuccess : hipErrorInvalidValue;
    case hipResourceTypePitch2D:
      say_elements(resource.res.pitch2D.desc, request);
      request.address = to_raw(resource.res.pitch2D.devPtr);
      request.width = resource.res.pitch2D.width;
      request.height = resource.res.pitch2D.height;
      request.pitch = resource.res.pitch2D.pitchInBytes;
      return holds_rows(request) ? hipSuccess : hipErrorInvalidValue;
  }
  return hipErrorInvalidValue;
}

// The worker knows leases, not the program's allocations.
bool Textures::holds_rows(const protocol::CreateTextureRequest& request) const {
  const auto format = static_cast<hipArray_Format>(request.format);
  const std::uint64_t element_bytes = std::uint64_t{array::channel_bytes(format)} * request.channels;
  std::uint64_t row = 0;
  std::uint64_t bytes = 0;
  return request.height != 0 && !__builtin_mul_overflow(request.width, element_bytes, &row) &&
         !__builtin_mul_overflow(request.height - 1, request.pitch, &bytes) &&
         !__builtin_add_overflow(bytes, row, &bytes) && reaches(request.address, bytes);
}

void Textures::keep(Object object, std::uint64_t address) {
  auto booking = arrays_.booking_of(address);
  if (booking == nullptr) return;
  const MutexLock lock(mutex_);
  kept_[object] = std::move(booking);
}

void Textures::drop(Object object) {
  std::shared_ptr<const Booking> booking;  // ends without the lock
  const MutexLock lock(mutex_);
  const auto found = kept_.find(object);
  if (found == kept_.end()) return;
  booking = std::move(found->second);
  kept_.erase(found);
}

hipError_t Textures::create_texture(const array::TextureWish& wish, hipTextureObject_t& texture) {
  protocol::CreateTextureRequest request{};
  if (const hipError_t error = say_resource(wish.resource, request); error != hipSuccess) return error;
  if (const hipError_t error = waker_.wake(request.address); error != hipSuccess) return error;
  say_sampling(wish.sampling, request);
  if (wish.view) say_view(*wish.view, request);
  protocol::CreateTextureReply reply{};
  const hipError_t error = connection_.call(thread_state().device, request, reply);
  if (error != hipSuccess) return error;
  texture = reinterpret_cast<hipTextureObject_t>(reply.texture);
  keep({Sort::kTexture, reply.texture}, request.address);
  return hipSuccess;
}

hipError_t Textures::destroy_texture(hipTextureObject_t texture) {
  protocol::DestroyTextureRequest request{};
  request.texture = reinterpret_cast<std::uint64_t>(texture);
  drop({Sort::kTexture, request.texture});
  return connection_.post(thread_state().device, request);
}

hipError_t Textures::create_surface(hipArray_const_t array, hipSurfaceObject_t& surface) {
  const auto place = arrays_.library().find(array);
  if (!place) return hipErrorInvalidValue;
  protocol::CreateSurfaceRequest request{};
  request.address = place->base;
  protocol::CreateSurfaceReply reply{};
  const hipError_t error = connection_.call(thread_state().device, request, reply);
  if (error != hipSuccess) return error;
  surface = reinterpret_cast<hipSurfaceObject_t>(reply.surface);
  keep({Sort::kSurface, reply.surface}, request.address);
  return hipSuccess;
}

hipError_t Textures::destroy_surface(hipSurfaceObject_t surface) {
  protocol::DestroySurfaceRequest request{};
  request.surface = reinterpret_cast<std::uint64_t>(surface);
  drop({Sort::kSurface, request.surface});
  return connection_.post(thread_state().device, request);
}

}  // namespace tf::proxy
