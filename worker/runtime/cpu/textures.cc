// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: what kernels read of them (kernel/device/images.h).
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/arrays.h"
#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/kernel/device/images.h"
#include "worker/runtime/cpu/properties.h"

namespace tf::cpu {
namespace {

// The objects, by their handles. Never destroyed. Thread-safe.
class Images {
 public:
  static Images& all() {
    static Images* const images = new Images;
    return *images;
  }

  // Null: the array's memory is gone.
  HiprImage* add(const HiprImage& image, bool of_array) {
    const std::uint64_t memory = of_array ? address_of(image.level[0].base) : 0;
    if (of_array && !array_memory().hold(memory)) return nullptr;
    auto made = std::make_unique<HiprImage>(image);
    HiprImage* const handle = made.get();
    const MutexLock lock(mutex_);
    images_.emplace(handle, Entry{std::move(made), memory});
    return handle;
  }
  hipError_t remove(const void* handle) {
    Entry entry;
    {
      const MutexLock lock(mutex_);
      const auto found = images_.find(handle);
      if (found == images_.end()) return hipErrorInvalidValue;
      entry = std::move(found->second);
      images_.erase(found);
    }
    // Kernels that were launched before may still read it. Calls that wait report failures.
    static_cast<void>(Runtime::get().synchronize());
    return entry.memory != 0 ? array_memory().drop(entry.memory) : hipSuccess;
  }

 private:
  struct Entry {
    std::unique_ptr<HiprImage> image;
    std::uint64_t memory = 0;  // of an array
  };
  Mutex mutex_;
  std::map<const void*, Entry> images_ TF_GUARDED_BY(mutex_);
};

bool set_elements(const hipChannelFormatDesc& elements, HiprImage& image) {
  hipArray_Format format{};
  if (!array::read_channels(elements, format, image.channels)) return false;
  image.format = format;
  return true;
}

std::uint32_t element_bytes(const HiprImage& image) {
  return array::channel_bytes(static_cast<hipArray_Format>(image.format)) * image.channels;
}

HiprImageLevel level_of(std::uint64_t address, std::uint64_t pitch, std::uint64_t slice, std::size_t width,
                        std::size_t height, std::size_t depth) {
  const auto edge = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  return {reinterpret_cast<unsigned char*>(address), pitch, slice, edge(width), edge(height), edge(depth), 0};
}

void set_levels(const array::Mipmaps& arrays, HiprImage& image) {
  image.format = arrays.shape.format;
  image.channels = arrays.shape.channels;
  image.levels = 0;
  for (const array::Place& place : arrays.places) {
    if (image.levels == HIPR_IMAGE_LEVELS_MAX) break;
    image.level[image.levels++] = level_of(place.base, place.pitch, place.slice,
                                           place.row_bytes / place.element_bytes, place.rows, place.slices);
  }
}

// Another format for the same bytes, and some of the levels and layers. REQUIRES: the array has them
void set_view(const hipResourceViewDesc& view, bool layered, HiprImage& image) {
  hipArray_Format format{};
  if (array::read_view_format(view.format, format, image.channels)) image.format = format;
  image.levels = view.lastMipmapLevel - view.firstMipmapLevel + 1;
  std::copy_n(image.level + view.firstMipmapLevel, image.levels, image.level);
  if (!layered) return;
  for (std::uint32_t level = 0; level < image.levels; ++level) {
    image.level[level].base += view.firstLayer * image.level[level].slice;
    image.level[level].depth = view.lastLayer - view.firstLayer + 1;
  }
}

bool is_known_memory(std::uint64_t address, std::uint64_t bytes) {
  return address % kPitchAlignment_bytes == 0 &&
         Runtime::get().memory.holds(reinterpret_cast<void*>(address), bytes);
}

// Memory as the one level of an image.
hipError_t set_memory(const hipResourceDesc& resource, HiprImage& image) {
  image.levels = 1;
  if (resource.resType == hipResourceTypeLinear) {
    const auto& linear = resource.res.linear;
    if (!set_elements(linear.desc, image)) return hipErrorInvalidValue;
    const std::size_t count = linear.sizeInBytes / element_bytes(image);
    const std::uint64_t address = address_of(linear.devPtr);
    if (count == 0 || count > kTextureLinearMax || !is_known_memory(address, linear.sizeInBytes))
      return hipErrorInvalidValue;
    image.level[0] = level_of(address, linear.sizeInBytes, linear.sizeInBytes, count, 1, 1);
    return hipSuccess;
  }
  const auto& rows = resource.res.pitch2D;
  if (!set_elements(rows.desc, image)) return hipErrorInvalidValue;
  const bool sized = rows.width != 0 && rows.height != 0 && rows.width <= kTextureEdgeMax &&
                     rows.height <= kTextureEdgeMax && rows.pitchInBytes % kPitchAlignment_bytes == 0 &&
                     rows.pitchInBytes >= rows.width * element_bytes(image) && rows.pitchInBytes <= INT32_MAX;
  const std::uint64_t address = address_of(rows.devPtr);
  if (!sized ||
      !is_known_memory(address, (rows.height - 1) * rows.pitchInBytes + rows.width * element_bytes(image)))
    return hipErrorInvalidValue;
  image.level[0] =
      level_of(address, rows.pitchInBytes, rows.pitchInBytes * rows.height, rows.width, rows.height, 1);
  return hipSuccess;
}

void set_sampling(const hipTextureDesc& sampling, bool of_memory, HiprImage& image) {
  for (int axis = 0; axis < 3; ++axis) image.address_mode[axis] = sampling.addressMode[axis];
  image.linear = sampling.filterMode == hipFilterModeLinear;
  image.mipmap_linear = sampling.mipmapFilterMode == hipFilterModeLinear;
  image.normalized_coordinates = sampling.normalizedCoords != 0;
  image.normalized_read = sampling.readMode == hipReadModeNormalizedFloat;
  image.srgb = sampling.sRGB != 0;
  std::copy_n(sampling.borderColor, 4, image.border);
  image.level_min = sampling.minMipmapLevelClamp;
  image.level_max = sampling.maxMipmapLevelClamp;
  if (!of_memory) return;
  // Of linear memory neither addressing nor filtering is defined.
  image.linear = 0;
  std::fill_n(image.address_mode, 3, static_cast<std::uint32_t>(hipAddressModeBorder));
}

}  // namespace

hipError_t Backend::create_texture(const array::TextureWish& wish, const array::Mipmaps& arrays,
                                   hipTextureObject_t& texture) {
  HiprImage image{};
  const bool of_array = !arrays.places.empty();
  hipError_t status = hipSuccess;
  if (of_array)
    set_levels(arrays, image);
  else
    status = set_memory(wish.resource, image);
  if (status != hipSuccess) return status;
  if (wish.view) set_view(*wish.view, arrays.shape.is_layered(), image);
  set_sampling(wish.sampling, wish.resource.resType == hipResourceTypeLinear, image);
  texture = reinterpret_cast<hipTextureObject_t>(Images::all().add(image, of_array));
  return texture ? hipSuccess : hipErrorInvalidValue;
}

hipError_t Backend::destroy_texture(hipTextureObject_t texture) { return Images::all().remove(texture); }

hipError_t Backend::create_surface(const array::Mipmaps& arrays, hipSurfaceObject_t& surface) {
  HiprImage image{};
  set_levels(arrays, image);
  surface = reinterpret_cast<hipSurfaceObject_t>(Images::all().add(image, true));
  return surface ? hipSuccess : hipErrorInvalidValue;
}

hipError_t Backend::destroy_surface(hipSurfaceObject_t surface) { return Images::all().remove(surface); }

}  // namespace tf::cpu
