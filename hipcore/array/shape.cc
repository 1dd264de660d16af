// SPDX-License-Identifier: Apache-2.0
// Checks and layouts of arrays.
#include "hipcore/array/shape.h"

#include <algorithm>

namespace tf::array {
namespace {

constexpr unsigned kFlags =
    hipArrayDefault | hipArrayLayered | hipArraySurfaceLoadStore | hipArrayCubemap | hipArrayTextureGather;
// Rows begin on this boundary, as those of hipMallocPitch.
constexpr std::uint64_t kRowAlignmentBytes = 256;

constexpr std::uint64_t round_up(std::uint64_t value) {
  return (value + kRowAlignmentBytes - 1) / kRowAlignmentBytes * kRowAlignmentBytes;
}

constexpr bool are_channels(unsigned count) { return count == 1 || count == 2 || count == 4; }

bool fits_flags(const Shape& shape) {
  if ((shape.flags & ~kFlags) != 0) return false;
  const bool flat = shape.height != 0 && shape.depth == 0;
  if ((shape.flags & hipArrayTextureGather) != 0 && !flat) return false;
  if (shape.is_cubemap()) {
    const bool faces =
        shape.is_layered() ? shape.depth != 0 && shape.depth % kCubeFaces == 0 : shape.depth == kCubeFaces;
    return shape.height == shape.width && faces;
  }
  if (shape.is_layered()) return shape.depth != 0;
  return shape.depth == 0 || shape.height != 0;
}

}  // namespace

unsigned channel_bytes(hipArray_Format format) {
  switch (format) {
    case HIP_AD_FORMAT_UNSIGNED_INT8:
    case HIP_AD_FORMAT_SIGNED_INT8: return 1;
    case HIP_AD_FORMAT_UNSIGNED_INT16:
    case HIP_AD_FORMAT_SIGNED_INT16:
    case HIP_AD_FORMAT_HALF: return 2;
    case HIP_AD_FORMAT_UNSIGNED_INT32:
    case HIP_AD_FORMAT_SIGNED_INT32:
    case HIP_AD_FORMAT_FLOAT: return 4;
  }
  return 0;
}

bool read_channels(const hipChannelFormatDesc& description, hipArray_Format& format, unsigned& channels) {
  const int bits[] = {description.x, description.y, description.z, description.w};
  channels = 0;
  while (channels < 4 && bits[channels] != 0) ++channels;
  for (unsigned each = 0; each < 4; ++each)
    if (bits[each] != (each < channels ? bits[0] : 0)) return false;
  if (!are_channels(channels)) return false;
  const int size = bits[0];
  if (size != 8 && size != 16 && size != 32) return false;
  switch (description.f) {
    case hipChannelFormatKindUnsigned:
      format = size == 8    ? HIP_AD_FORMAT_UNSIGNED_INT8
               : size == 16 ? HIP_AD_FORMAT_UNSIGNED_INT16
                            : HIP_AD_FORMAT_UNSIGNED_INT32;
      return true;
    case hipChannelFormatKindSigned:
      format = size == 8    ? HIP_AD_FORMAT_SIGNED_INT8
               : size == 16 ? HIP_AD_FORMAT_SIGNED_INT16
                            : HIP_AD_FORMAT_SIGNED_INT32;
      return true;
    case hipChannelFormatKindFloat:
      format = size == 16 ? HIP_AD_FORMAT_HALF : HIP_AD_FORMAT_FLOAT;
      return size != 8;
    case hipChannelFormatKindNone: break;
  }
  return false;
}

hipChannelFormatDesc write_channels(hipArray_Format format, unsigned channels) {
  if (!are_channels(channels)) return {0, 0, 0, 0, hipChannelFormatKindNone};
  const int bits = static_cast<int>(8 * channel_bytes(format));
  hipChannelFormatDesc description{bits, 0, 0, 0, hipChannelFormatKindUnsigned};
  if (channels > 1) description.y = bits;
  if (channels == 4) description.z = description.w = bits;
  if (format == HIP_AD_FORMAT_HALF || format == HIP_AD_FORMAT_FLOAT)
    description.f = hipChannelFormatKindFloat;
  else if (format >= HIP_AD_FORMAT_SIGNED_INT8)
    description.f = hipChannelFormatKindSigned;
  return description;
}

hipError_t check(const Shape& shape) {
  const bool elements = channel_bytes(shape.format) != 0 && are_channels(shape.channels);
  if (!elements || shape.width == 0 || !fits_flags(shape)) return hipErrorInvalidValue;
  if (std::max({shape.width, shape.height, shape.depth}) > kEdgeMax) return hipErrorInvalidValue;
  // With gaps: at most 2^28 + 256 bytes in a row, so 64 bits hold the product of two edges with it.
  const std::uint64_t pitch = round_up(shape.width * channel_bytes(shape.format) * shape.channels + 1);
  std::uint64_t bytes = 0;
  const bool small =
      !__builtin_mul_overflow(pitch * (shape.height + 1), std::max<std::uint64_t>(shape.depth, 1), &bytes) &&
      bytes <= kBytesMax;
  return small ? hipSuccess : hipErrorInvalidValue;
}

unsigned levels_max(const Shape& shape) {
  std::size_t edge = std::max(shape.width, shape.height);
  if (!shape.is_layered() && !shape.is_cubemap()) edge = std::max(edge, shape.depth);
  unsigned levels = 0;
  for (; edge != 0; edge /= 2) ++levels;
  return levels;
}

Shape level_of(const Shape& shape, unsigned level) {
  const auto smaller = [level](std::size_t edge) {
    return edge == 0 ? 0 : std::max<std::size_t>(edge >> level, 1);
  };
  Shape small = shape;
  small.width = smaller(shape.width);
  small.height = smaller(shape.height);
  if (!shape.is_layered() && !shape.is_cubemap()) small.depth = smaller(shape.depth);
  return small;
}

std::vector<Place> lay_out(const Shape& shape, unsigned levels, std::uint64_t base, Layout layout) {
  const bool gaps = layout == Layout::kGaps;
  std::vector<Place> places;
  for (unsigned level = 0; level < levels; ++level) {
    const Shape part = level_of(shape, level);
    Place place;
    place.base = base;
    place.element_bytes = channel_bytes(part.format) * part.channels;
    place.row_bytes = part.width * place.element_bytes;
    place.rows = std::max<std::uint64_t>(part.height, 1);
    place.slices = std::max<std::uint64_t>(part.depth, 1);
    place.pitch = round_up(place.row_bytes + (gaps ? 1 : 0));
    place.slice = place.pitch * (place.rows + (gaps ? 1 : 0));
    base += place.bytes();
    places.push_back(place);
  }
  return places;
}

}  // namespace tf::array
