// SPDX-License-Identifier: Apache-2.0
// Texture references. The errors are those of AMD's runtime (ROCm/clr, hipamd/src/hip_texture.cpp). What that
// runtime answers with an error although it has done it (the getters of the mipmaps' filter, level bias and
// clamp) succeeds here.
#include "hipcore/array/references.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tf::array {
namespace {

hipTextureDesc sampling_of(const textureReference& reference) {
  hipTextureDesc sampling{};
  std::copy_n(reference.addressMode, 3, sampling.addressMode);
  sampling.filterMode = reference.filterMode;
  sampling.readMode = reference.readMode;
  sampling.sRGB = reference.sRGB;
  sampling.normalizedCoords = reference.normalized;
  sampling.maxAnisotropy = reference.maxAnisotropy;
  sampling.mipmapFilterMode = reference.mipmapFilterMode;
  sampling.mipmapLevelBias = reference.mipmapLevelBias;
  sampling.minMipmapLevelClamp = reference.minMipmapLevelClamp;
  sampling.maxMipmapLevelClamp = reference.maxMipmapLevelClamp;
  return sampling;
}

// All of an array, read as these elements. False: there are none like that.
bool view_as(const hipChannelFormatDesc& elements, const Shape& shape, unsigned levels,
             hipResourceViewDesc& view) {
  hipArray_Format format{};
  unsigned channels = 0;
  if (!read_channels(elements, format, channels)) return false;
  for (int each = hipResViewFormatUnsignedChar1; each <= hipResViewFormatFloat4; ++each) {
    hipArray_Format of_view{};
    unsigned of_view_channels = 0;
    const auto wanted = static_cast<hipResourceViewFormat>(each);
    if (read_view_format(wanted, of_view, of_view_channels) && of_view == format &&
        of_view_channels == channels)
      view.format = wanted;
  }
  view.width = shape.width;
  view.height = shape.height;
  view.depth = shape.depth;
  view.lastMipmapLevel = levels - 1;
  if (shape.is_layered()) view.lastLayer = static_cast<unsigned>(shape.depth) - 1;
  return true;
}

// Moves linear memory to the boundary before it, which is `beyond` bytes away. hipErrorInvalidValue: nobody
// would learn of the offset.
hipError_t align(std::size_t* offset, void*& memory, std::size_t& beyond) {
  beyond = reinterpret_cast<std::uintptr_t>(memory) % kTextureAlignmentBytes;
  if (beyond != 0 && offset == nullptr) return hipErrorInvalidValue;
  if (offset != nullptr) *offset = beyond;
  memory = static_cast<std::byte*>(memory) - beyond;
  return hipSuccess;
}

}  // namespace

hipError_t References::find_variable(const textureReference* reference, std::uint64_t& address) {
  {
    const MutexLock lock(mutex_);
    const auto found = variables_.find(reference);
    if (found != variables_.end()) {
      address = found->second;
      return hipSuccess;
    }
  }
  return side_.find_variable(reference, address);
}

hipError_t References::rebind(const textureReference* reference, const hipResourceDesc& resource,
                              const hipResourceViewDesc* view) {
  std::uint64_t variable = 0;
  if (const hipError_t error = find_variable(reference, variable); error != hipSuccess) return error;
  textureReference& bound = const_cast<textureReference&>(*reference);
  static_cast<void>(textures_.destroy(bound.textureObject));  // it may be bound to nothing
  bound.textureObject = nullptr;
  const hipTextureDesc sampling = sampling_of(bound);
  const hipError_t error = textures_.create(&bound.textureObject, &resource, &sampling, view);
  return error != hipSuccess ? error : side_.write_variable(variable, bound);
}

hipError_t References::bind(std::size_t* offset, const textureReference* reference, const void* memory,
                            const hipChannelFormatDesc* elements, std::size_t bytes) {
  if (reference == nullptr || memory == nullptr || elements == nullptr) return hipErrorInvalidValue;
  void* begin = const_cast<void*>(memory);
  std::size_t before = 0;
  if (const hipError_t error = align(offset, begin, before); error != hipSuccess) return error;
  // Programs that give no size get as much as there is.
  const std::size_t there = side_.bytes_from(memory);
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear = {begin, *elements, std::min(bytes, there) + before};
  return there == 0 ? hipErrorInvalidValue : rebind(reference, resource, nullptr);
}

hipError_t References::bind_2d(std::size_t* offset, const textureReference* reference, const void* memory,
                               const hipChannelFormatDesc* elements, std::size_t width, std::size_t height,
                               std::size_t pitch) {
  if (reference == nullptr || memory == nullptr || elements == nullptr || pitch == 0)
    return hipErrorInvalidValue;
  void* begin = const_cast<void*>(memory);
  std::size_t before = 0;
  if (const hipError_t error = align(offset, begin, before); error != hipSuccess) return error;
  hipArray_Format format{};
  unsigned channels = 0;
  if (!read_channels(*elements, format, channels)) return hipErrorInvalidValue;
  // Kernels add the offset to the first coordinate: there must be that many more.
  const std::size_t element_bytes = std::size_t{channel_bytes(format)} * channels;
  if (before % element_bytes != 0 || __builtin_add_overflow(width, before / element_bytes, &width))
    return hipErrorInvalidValue;
  hipResourceDesc resource{};
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D = {begin, *elements, width, height, pitch};
  return rebind(reference, resource, nullptr);
}

hipError_t References::bind_array(const textureReference* reference, hipArray_const_t array,
                                  const hipChannelFormatDesc* elements) {
  if (reference == nullptr || array == nullptr || elements == nullptr) return hipErrorInvalidValue;
  const auto shape = arrays_.shape_of(array);
  hipResourceViewDesc view{};
  if (!shape || !view_as(*elements, *shape, 1, view)) return hipErrorInvalidValue;
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = const_cast<hipArray_t>(array);
  return rebind(reference, resource, &view);
}

hipError_t References::bind_mipmapped(const textureReference* reference, hipMipmappedArray_const_t mipmapped,
                                      const hipChannelFormatDesc* elements) {
  if (reference == nullptr || mipmapped == nullptr || elements == nullptr) return hipErrorInvalidValue;
  const auto mipmaps = arrays_.find(mipmapped);
  hipResourceViewDesc view{};
  if (!mipmaps || !view_as(*elements, mipmaps->shape, static_cast<unsigned>(mipmaps->places.size()), view))
    return hipErrorInvalidValue;
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = const_cast<hipMipmappedArray_t>(mipmapped);
  return rebind(reference, resource, &view);
}

hipError_t References::unbind(const textureReference* reference) {
  if (reference == nullptr) return hipErrorInvalidValue;
  static_cast<void>(textures_.destroy(reference->textureObject));
  const_cast<textureReference*>(reference)->textureObject = nullptr;
  return hipSuccess;
}

hipError_t References::of_module(textureReference** reference, std::uint64_t module, std::uint64_t variable) {
  const MutexLock lock(mutex_);
  if (const auto known = of_modules_.find({module, variable}); known != of_modules_.end()) {
    *reference = known->second.get();
    return hipSuccess;
  }
  if (of_modules_.size() >= kReferencesMax) return hipErrorOutOfMemory;
  auto made = std::make_unique<textureReference>();
  made->readMode = hipReadModeNormalizedFloat;  // as AMD's runtime begins
  made->format = HIP_AD_FORMAT_FLOAT;
  made->numChannels = 1;
  *reference = made.get();
  variables_[made.get()] = variable;
  of_modules_[{module, variable}] = std::move(made);
  return hipSuccess;
}

void References::forget_module(std::uint64_t module) {
  std::vector<hipTextureObject_t> bound;
  {
    const MutexLock lock(mutex_);
    auto each = of_modules_.lower_bound({module, 0});
    while (each != of_modules_.end() && each->first.first == module) {
      bound.push_back(each->second->textureObject);
      variables_.erase(each->second.get());
      each = of_modules_.erase(each);
    }
  }
  for (const hipTextureObject_t texture : bound) static_cast<void>(textures_.destroy(texture));
}

hipError_t References::set_address(std::size_t* offset, textureReference* reference, hipDeviceptr_t memory,
                                   std::size_t bytes) {
  if (reference == nullptr) return hipErrorInvalidValue;
  const hipChannelFormatDesc elements =
      write_channels(reference->format, static_cast<unsigned>(reference->numChannels));
  return bind(offset, reference, memory, &elements, bytes);
}

hipError_t References::set_address_2d(textureReference* reference, const HIP_ARRAY_DESCRIPTOR* description,
                                      hipDeviceptr_t memory, std::size_t pitch) {
  if (reference == nullptr || description == nullptr) return hipErrorInvalidValue;
  const hipChannelFormatDesc elements = write_channels(description->Format, description->NumChannels);
  return bind_2d(nullptr, reference, memory, &elements, description->Width, description->Height, pitch);
}

hipError_t References::set_array(textureReference* reference, hipArray_const_t array, unsigned flags) {
  if (reference == nullptr || array == nullptr || flags != HIP_TRSA_OVERRIDE_FORMAT)
    return hipErrorInvalidValue;
  const auto shape = arrays_.shape_of(array);
  if (!shape) return hipErrorInvalidValue;
  reference->format = shape->format;
  reference->numChannels = static_cast<int>(shape->channels);
  const hipChannelFormatDesc elements = write_channels(shape->format, shape->channels);
  return bind_array(reference, array, &elements);
}

hipError_t References::set_mipmapped(textureReference* reference, hipMipmappedArray_const_t mipmapped,
                                     unsigned flags) {
  if (reference == nullptr || mipmapped == nullptr || flags != HIP_TRSA_OVERRIDE_FORMAT)
    return hipErrorInvalidValue;
  const auto mipmaps = arrays_.find(mipmapped);
  if (!mipmaps) return hipErrorInvalidValue;
  reference->format = mipmaps->shape.format;
  reference->numChannels = static_cast<int>(mipmaps->shape.channels);
  const hipChannelFormatDesc elements = write_channels(mipmaps->shape.format, mipmaps->shape.channels);
  return bind_mipmapped(reference, mipmapped, &elements);
}

hipError_t References::get_address(hipDeviceptr_t* memory, const textureReference* reference) const {
  hipResourceDesc resource{};
  if (memory == nullptr || reference == nullptr ||
      textures_.get(&resource, reference->textureObject) != hipSuccess)
    return hipErrorInvalidValue;
  if (resource.resType == hipResourceTypeLinear)
    *memory = resource.res.linear.devPtr;
  else if (resource.resType == hipResourceTypePitch2D)
    *memory = resource.res.pitch2D.devPtr;
  else
    return hipErrorInvalidValue;
  return hipSuccess;
}

namespace reference {

hipError_t set_address_mode(textureReference* reference, int axis, hipTextureAddressMode mode) {
  if (reference == nullptr || axis < 0 || axis > 2) return hipErrorInvalidValue;
  reference->addressMode[axis] = mode;
  return hipSuccess;
}

// AMD's runtime answers for the first two only.
hipError_t get_address_mode(hipTextureAddressMode* mode, const textureReference* reference, int axis) {
  if (mode == nullptr || reference == nullptr || axis < 0 || axis > 1) return hipErrorInvalidValue;
  *mode = reference->addressMode[axis];
  return hipSuccess;
}

hipError_t set_flags(textureReference* reference, unsigned flags) {
  if (reference == nullptr) return hipErrorInvalidValue;
  reference->readMode =
      (flags & HIP_TRSF_READ_AS_INTEGER) != 0 ? hipReadModeElementType : hipReadModeNormalizedFloat;
  reference->normalized = (flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  reference->sRGB = (flags & HIP_TRSF_SRGB) != 0 ? 1 : 0;
  return hipSuccess;
}

hipError_t get_flags(unsigned* flags, const textureReference* reference) {
  if (flags == nullptr || reference == nullptr) return hipErrorInvalidValue;
  *flags = (reference->readMode == hipReadModeElementType ? HIP_TRSF_READ_AS_INTEGER : 0u) |
           (reference->normalized == 1 ? HIP_TRSF_NORMALIZED_COORDINATES : 0u) |
           (reference->sRGB == 1 ? HIP_TRSF_SRGB : 0u);
  return hipSuccess;
}

hipError_t set_format(textureReference* reference, hipArray_Format format, int channels) {
  if (reference == nullptr) return hipErrorInvalidValue;
  reference->format = format;
  reference->numChannels = channels;
  return hipSuccess;
}

hipError_t get_format(hipArray_Format* format, int* channels, const textureReference* reference) {
  if (format == nullptr || channels == nullptr || reference == nullptr) return hipErrorInvalidValue;
  *format = reference->format;
  *channels = reference->numChannels;
  return hipSuccess;
}

hipError_t set_level_clamp(textureReference* reference, float low, float high) {
  if (reference == nullptr) return hipErrorInvalidValue;
  reference->minMipmapLevelClamp = low;
  reference->maxMipmapLevelClamp = high;
  return hipSuccess;
}

hipError_t get_level_clamp(float* low, float* high, const textureReference* reference) {
  if (low == nullptr || high == nullptr || reference == nullptr) return hipErrorInvalidValue;
  *low = reference->minMipmapLevelClamp;
  *high = reference->maxMipmapLevelClamp;
  return hipSuccess;
}

hipError_t set_border(textureReference* reference, const float* color) {
  return reference == nullptr || color == nullptr ? hipErrorInvalidValue : hipErrorNotSupported;
}

hipError_t get_offset(std::size_t* offset, const textureReference* reference) {
  if (offset == nullptr || reference == nullptr) return hipErrorInvalidValue;
  *offset = 0;  // what is bound begins on a boundary
  return hipSuccess;
}

hipError_t of_symbol(const textureReference** reference, const void* symbol) {
  if (reference == nullptr) return hipErrorInvalidValue;
  *reference = static_cast<const textureReference*>(symbol);
  return hipSuccess;
}

}  // namespace reference

}  // namespace tf::array
