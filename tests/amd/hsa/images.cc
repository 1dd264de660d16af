// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/images.h"

#include <hsa/hsa_ext_amd.h>

#include <algorithm>

namespace tf::amd::hsa {
namespace {

using isa::ImageType;
using isa::Number;
using isa::TexelFormat;

struct KnownType {
  unsigned type;
  std::uint8_t bits;
  Number number;
};
constexpr KnownType kTypes[] = {
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT8, 8, Number::kSnorm},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SNORM_INT16, 16, Number::kSnorm},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8, 8, Number::kUnorm},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT16, 16, Number::kUnorm},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT8, 8, Number::kSint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT16, 16, Number::kSint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_SIGNED_INT32, 32, Number::kSint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8, 8, Number::kUint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16, 16, Number::kUint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32, 32, Number::kUint},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_HALF_FLOAT, 16, Number::kFloat},
    {HSA_EXT_IMAGE_CHANNEL_TYPE_FLOAT, 32, Number::kFloat},
};

// Those that HIP makes: R, RG, RGBA, and RGBA of sRGB.
std::optional<TexelFormat> format_of(const hsa_ext_image_format_t& wanted) {
  const auto* const known = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const KnownType& each) {
    return each.type == wanted.channel_type;
  });
  if (known == std::end(kTypes)) return std::nullopt;
  switch (wanted.channel_order) {
    case HSA_EXT_IMAGE_CHANNEL_ORDER_R: return TexelFormat{1, known->bits, known->number};
    case HSA_EXT_IMAGE_CHANNEL_ORDER_RG: return TexelFormat{2, known->bits, known->number};
    case HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA: return TexelFormat{4, known->bits, known->number};
    case HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA:
      if (known->type != HSA_EXT_IMAGE_CHANNEL_TYPE_UNORM_INT8) return std::nullopt;
      return TexelFormat{4, 8, Number::kSrgb};
    default: return std::nullopt;
  }
}

struct Edges {
  ImageType type = ImageType::k1D;
  bool height = false;
  bool depth = false;
  bool layers = false;
};

std::optional<Edges> edges_of(hsa_ext_image_geometry_t geometry) {
  switch (geometry) {
    case HSA_EXT_IMAGE_GEOMETRY_1D:
    case HSA_EXT_IMAGE_GEOMETRY_1DB: return Edges{ImageType::k1D};
    case HSA_EXT_IMAGE_GEOMETRY_2D: return Edges{ImageType::k2D, true};
    case HSA_EXT_IMAGE_GEOMETRY_3D: return Edges{ImageType::k3D, true, true};
    case HSA_EXT_IMAGE_GEOMETRY_1DA: return Edges{ImageType::k1DArray, false, false, true};
    case HSA_EXT_IMAGE_GEOMETRY_2DA: return Edges{ImageType::k2DArray, true, false, true};
    default: return std::nullopt;
  }
}

}  // namespace

std::uint64_t ImageShape::bytes() const {
  return buffer ? std::uint64_t{image.width} * image.format.bytes() : image.slice_bytes() * image.depth;
}

std::optional<ImageShape> shape_of(const hsa_ext_image_descriptor_t& wanted, std::size_t row_bytes,
                                   hsa_status_t& status, std::string& why) {
  ImageShape shape;
  const auto format = format_of(wanted.format);
  const auto edges = edges_of(wanted.geometry);
  status = image_status(HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED);
  if (!format || !edges) {
    why = "geometry " + std::to_string(wanted.geometry) + ", channels of order " +
          std::to_string(wanted.format.channel_order) + " and type " +
          std::to_string(wanted.format.channel_type);
    return std::nullopt;
  }
  shape.buffer = wanted.geometry == HSA_EXT_IMAGE_GEOMETRY_1DB;
  const std::size_t width_max = shape.buffer ? kImageElementsMax : kImageEdgeMax;
  const std::size_t height = edges->height ? wanted.height : 1;
  const std::size_t depth = edges->depth ? wanted.depth : edges->layers ? wanted.array_size : 1;
  status = image_status(HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED);
  if (wanted.width == 0 || wanted.width > width_max || height == 0 || height > kImageEdgeMax || depth == 0 ||
      depth > kImageDepthMax) {
    return std::nullopt;
  }
  shape.image.type = edges->type;
  shape.image.format = *format;
  shape.image.select = isa::usual_selects(format->channels);
  shape.image.width = static_cast<std::uint32_t>(wanted.width);
  shape.image.height = static_cast<std::uint32_t>(height);
  shape.image.depth = static_cast<std::uint32_t>(depth);
  status = image_status(HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED);
  if (row_bytes % isa::kImageAlignment != 0) return std::nullopt;
  const std::size_t pitch = row_bytes / format->bytes();
  if (row_bytes != 0 && (pitch < wanted.width || pitch > UINT32_MAX)) return std::nullopt;
  shape.image.pitch =
      row_bytes == 0 ? isa::least_pitch(shape.image.width, *format) : static_cast<std::uint32_t>(pitch);
  status = HSA_STATUS_SUCCESS;
  return shape;
}

std::uint32_t* Images::words(AgentMask agents) {
  void* page = memory_.allocate(0, kPageBytes, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED, agents);
  return static_cast<std::uint32_t*>(page);
}

std::uint64_t Images::create(const isa::Processor& processor, const hsa_ext_image_descriptor_t& wanted,
                             const ImageShape& shape, AgentMask agents) {
  std::array<std::uint32_t, kImageObjectWords> object{};
  const isa::ImageDescriptor& image = shape.image;
  const bool made =
      shape.buffer
          ? isa::encode(processor, isa::TexelBuffer{image.base, image.width, image.format, image.select},
                        object.data())
          : isa::encode(processor, image, object.data());
  if (!made) return 0;
  object[8] = wanted.format.channel_type;
  object[9] = wanted.format.channel_order;
  object[10] = image.width;
  std::uint32_t* there = words(agents);
  if (there == nullptr) return 0;
  std::copy(object.begin(), object.end(), there);
  const std::lock_guard<std::mutex> lock(mutex_);
  images_.emplace(number_of(there), image);
  return number_of(there);
}

std::uint64_t Images::create(const isa::Processor& processor, const isa::SamplerDescriptor& sampler,
                             AgentMask agents) {
  std::array<std::uint32_t, kSamplerObjectWords> object{};
  if (!isa::encode(processor, sampler, object.data())) return 0;
  std::uint32_t* there = words(agents);
  if (there == nullptr) return 0;
  std::copy(object.begin(), object.end(), there);
  const std::lock_guard<std::mutex> lock(mutex_);
  samplers_.emplace(number_of(there), sampler);
  return number_of(there);
}

std::optional<isa::ImageDescriptor> Images::find(std::uint64_t handle) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = images_.find(handle);
  return found == images_.end() ? std::nullopt : std::optional(found->second);
}

bool Images::destroy_image(std::uint64_t handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return images_.erase(handle) != 0 && memory_.release(pointer_to(handle));
}

bool Images::destroy_sampler(std::uint64_t handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return samplers_.erase(handle) != 0 && memory_.release(pointer_to(handle));
}

}  // namespace tf::amd::hsa
