// SPDX-License-Identifier: Apache-2.0
// The tables of arrays. The errors are those of AMD's runtime (ROCm/clr, hipamd/src/hip_memory.cpp).
#include "hipcore/array/library.h"

#include <utility>

namespace tf::array {
namespace {

// hipSuccess: the shape may exist.
hipError_t read_shape(const hipChannelFormatDesc* elements, const hipExtent& extent, unsigned flags,
                      Shape& shape) {
  if (elements == nullptr) return hipErrorInvalidValue;
  shape.width = extent.width;
  shape.height = extent.height;
  shape.depth = extent.depth;
  shape.flags = flags;
  return read_channels(*elements, shape.format, shape.channels) ? check(shape) : hipErrorInvalidValue;
}

Shape shape_of(const HIP_ARRAY3D_DESCRIPTOR& description) {
  return {description.Width,  description.Height,      description.Depth,
          description.Format, description.NumChannels, description.Flags};
}

}  // namespace

hipArray_t Library::keep(const Shape& shape, const Place& place, hipMipmappedArray_const_t parent) {
  if (arrays_.size() >= kArraysMax) return nullptr;
  auto made = std::make_unique<Array>();
  made->shape = shape;
  made->place = place;
  made->parent = parent;
  hipArray& seen = made->seen;
  seen.data = reinterpret_cast<void*>(place.base);
  seen.desc = write_channels(shape.format, shape.channels);
  seen.width = static_cast<unsigned>(shape.width);
  seen.height = static_cast<unsigned>(shape.height);
  seen.depth = static_cast<unsigned>(shape.depth);
  seen.Format = shape.format;
  seen.NumChannels = shape.channels;
  arrays_.emplace(&seen, std::move(made));
  bases_[place.base] = &seen;
  return &seen;
}

void Library::forget(hipArray_const_t array) {
  const auto found = arrays_.find(array);
  const auto base = bases_.find(found->second->place.base);
  if (base != bases_.end() && base->second == array) bases_.erase(base);
  arrays_.erase(found);
}

hipError_t Library::create(hipArray_t* array, const Shape& shape) {
  if (array == nullptr) return hipErrorInvalidValue;
  if (const hipError_t error = check(shape); error != hipSuccess) return error;
  std::vector<Place> places;
  if (const hipError_t error = side_.create(shape, 1, false, places); error != hipSuccess) return error;
  {
    const MutexLock lock(mutex_);
    *array = keep(shape, places.front(), nullptr);
  }
  if (*array != nullptr) return hipSuccess;
  static_cast<void>(side_.destroy(places.front().base));
  return hipErrorOutOfMemory;
}

hipError_t Library::create(hipArray_t* array, const hipChannelFormatDesc* elements, const hipExtent& extent,
                           unsigned flags) {
  Shape shape;
  if (array == nullptr) return hipErrorInvalidValue;
  const hipError_t error = read_shape(elements, extent, flags, shape);
  return error != hipSuccess ? error : create(array, shape);
}

hipError_t Library::create(hipArray_t* array, const HIP_ARRAY_DESCRIPTOR* description) {
  if (description == nullptr) return hipErrorInvalidValue;
  return create(array, Shape{description->Width, description->Height, 0, description->Format,
                             description->NumChannels, hipArrayDefault});
}

hipError_t Library::create(hipArray_t* array, const HIP_ARRAY3D_DESCRIPTOR* description) {
  return description == nullptr ? hipErrorInvalidValue : create(array, array::shape_of(*description));
}

hipError_t Library::destroy(hipArray_t array) {
  if (array == nullptr) return hipErrorInvalidValue;
  std::uint64_t base = 0;
  {
    const MutexLock lock(mutex_);
    const auto found = arrays_.find(array);
    if (found == arrays_.end()) return hipErrorContextIsDestroyed;
    if (found->second->parent == nullptr) base = found->second->place.base;
    forget(array);
  }
  return base != 0 ? side_.destroy(base) : hipSuccess;
}

hipError_t Library::describe(hipArray_const_t array, Shape& shape) const {
  const auto found = shape_of(array);
  if (!found) return hipErrorInvalidHandle;
  shape = *found;
  return hipSuccess;
}

hipError_t Library::get_info(hipChannelFormatDesc* elements, hipExtent* extent, unsigned* flags,
                             hipArray_t array) const {
  Shape shape;
  if (const hipError_t error = describe(array, shape); error != hipSuccess) return error;
  if (elements != nullptr) *elements = write_channels(shape.format, shape.channels);
  if (extent != nullptr) *extent = {shape.width, shape.height, shape.depth};
  if (flags != nullptr) *flags = shape.flags;
  return hipSuccess;
}

hipError_t Library::get_description(HIP_ARRAY_DESCRIPTOR* description, hipArray_t array) const {
  Shape shape;
  if (array != nullptr && description == nullptr) return hipErrorInvalidValue;
  if (const hipError_t error = describe(array, shape); error != hipSuccess) return error;
  *description = {shape.width, shape.height, shape.format, shape.channels};
  return hipSuccess;
}

hipError_t Library::get_description(HIP_ARRAY3D_DESCRIPTOR* description, hipArray_t array) const {
  Shape shape;
  if (array != nullptr && description == nullptr) return hipErrorInvalidValue;
  if (const hipError_t error = describe(array, shape); error != hipSuccess) return error;
  *description = {shape.width, shape.height, shape.depth, shape.format, shape.channels, shape.flags};
  return hipSuccess;
}

hipError_t Library::get_channels(hipChannelFormatDesc* elements, hipArray_const_t array) const {
  const auto shape = shape_of(array);
  if (elements == nullptr) return hipErrorInvalidValue;
  if (!shape) return hipErrorInvalidHandle;
  *elements = write_channels(shape->format, shape->channels);
  return hipSuccess;
}

hipError_t Library::create_mipmapped(hipMipmappedArray_t* mipmapped, const Shape& shape, unsigned levels) {
  if (mipmapped == nullptr) return hipErrorInvalidValue;
  if (const hipError_t error = check(shape); error != hipSuccess) return error;
  if (levels == 0 || levels > levels_max(shape)) return hipErrorInvalidValue;
  auto made = std::make_unique<Mipmapped>();
  std::vector<Place>& places = made->mipmaps.places;
  if (const hipError_t error = side_.create(shape, levels, true, places); error != hipSuccess) return error;
  made->mipmaps.shape = shape;
  hipMipmappedArray& seen = made->seen;
  seen.data = reinterpret_cast<void*>(places.front().base);
  seen.desc = write_channels(shape.format, shape.channels);
  seen.width = static_cast<unsigned>(shape.width);
  seen.height = static_cast<unsigned>(shape.height);
  seen.depth = static_cast<unsigned>(shape.depth);
  seen.max_mipmap_level = levels - 1;
  seen.flags = shape.flags;
  seen.format = shape.format;
  const std::uint64_t base = places.front().base;
  {
    const MutexLock lock(mutex_);
    if (mipmapped_.size() < kArraysMax) {
      *mipmapped = &seen;
      mipmapped_.emplace(&seen, std::move(made));
      return hipSuccess;
    }
  }
  static_cast<void>(side_.destroy(base));
  return hipErrorOutOfMemory;
}

hipError_t Library::create_mipmapped(hipMipmappedArray_t* mipmapped, const hipChannelFormatDesc* elements,
                                     const hipExtent& extent, unsigned levels, unsigned flags) {
  Shape shape;
  if (mipmapped == nullptr) return hipErrorInvalidValue;
  const hipError_t error = read_shape(elements, extent, flags, shape);
  return error != hipSuccess ? error : create_mipmapped(mipmapped, shape, levels);
}

hipError_t Library::create_mipmapped(hipMipmappedArray_t* mipmapped,
                                     const HIP_ARRAY3D_DESCRIPTOR* description, unsigned levels) {
  if (description == nullptr) return hipErrorInvalidValue;
  return create_mipmapped(mipmapped, array::shape_of(*description), levels);
}

hipError_t Library::get_requirements(std::size_t* alignment, std::size_t* bytes,
                                     hipMipmappedArray_const_t mipmapped) const {
  const std::optional<Mipmaps> found = find(mipmapped);
  if (!found) return hipErrorInvalidHandle;
  *alignment = kAlignment_bytes;
  *bytes = memory_bytes(found->shape, static_cast<unsigned>(found->places.size()));
  return hipSuccess;
}

hipError_t Library::destroy_mipmapped(hipMipmappedArray_t mipmapped) {
  if (mipmapped == nullptr) return hipErrorInvalidValue;
  std::uint64_t base = 0;
  {
    const MutexLock lock(mutex_);
    const auto found = mipmapped_.find(mipmapped);
    if (found == mipmapped_.end()) return hipErrorContextIsDestroyed;
    base = found->second->mipmaps.places.front().base;
    for (const Place& place : found->second->mipmaps.places)
      if (const hipArray_t level = known_level(mipmapped, place)) forget(level);
    mipmapped_.erase(found);
  }
  return side_.destroy(base);
}

hipArray_t Library::known_level(hipMipmappedArray_const_t mipmapped, const Place& place) const {
  const auto base = bases_.find(place.base);
  return base != bases_.end() && arrays_.at(base->second)->parent == mipmapped ? base->second : nullptr;
}

hipError_t Library::get_level(hipArray_t* array, hipMipmappedArray_const_t mipmapped, unsigned level) {
  if (array == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const auto found = mipmapped_.find(mipmapped);
  if (found == mipmapped_.end()) return hipErrorInvalidHandle;
  const Mipmaps& mipmaps = found->second->mipmaps;
  if (level >= mipmaps.places.size()) return hipErrorInvalidValue;
  const Place& place = mipmaps.places[level];
  *array = known_level(mipmapped, place);
  if (*array == nullptr) *array = keep(level_of(mipmaps.shape, level), place, mipmapped);
  return *array != nullptr ? hipSuccess : hipErrorOutOfMemory;
}

std::optional<Place> Library::find(hipArray_const_t array) const {
  const MutexLock lock(mutex_);
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) return std::nullopt;
  return found->second->place;
}

std::optional<FoundArray> Library::at(std::uint64_t address) const {
  const MutexLock lock(mutex_);
  auto base = bases_.upper_bound(address);
  if (base == bases_.begin()) return std::nullopt;
  --base;
  const Place& place = arrays_.at(base->second)->place;
  if (address - place.base >= place.bytes()) return std::nullopt;
  return FoundArray{base->second, place};
}

std::optional<Shape> Library::shape_of(hipArray_const_t array) const {
  const MutexLock lock(mutex_);
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) return std::nullopt;
  return found->second->shape;
}

std::optional<Mipmaps> Library::find(hipMipmappedArray_const_t mipmapped) const {
  const MutexLock lock(mutex_);
  const auto found = mipmapped_.find(mipmapped);
  if (found == mipmapped_.end()) return std::nullopt;
  return found->second->mipmaps;
}

}  // namespace tf::array
