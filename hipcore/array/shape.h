// SPDX-License-Identifier: Apache-2.0
// Shape: what an array is made of, and how that is laid out in addresses. Pure functions; any thread.
//
// As in HIP: height 0 is one-dimensional, depth 0 two-dimensional. With hipArrayLayered the depth counts
// layers; with hipArrayCubemap it counts the six faces, of each layer if there are layers.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hipcore/array/place.h"

namespace tf::array {

inline constexpr std::size_t kEdgeMax = std::size_t{1} << 24;  // elements; devices have lower limits
inline constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 46;
inline constexpr unsigned kCubeFaces = 6;

struct Shape {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t depth = 0;
  hipArray_Format format = HIP_AD_FORMAT_UNSIGNED_INT8;
  unsigned channels = 1;
  unsigned flags = hipArrayDefault;

  bool is_layered() const { return (flags & hipArrayLayered) != 0; }
  bool is_cubemap() const { return (flags & hipArrayCubemap) != 0; }
};

// Bytes of one channel. 0: there is no such format.
unsigned channel_bytes(hipArray_Format format);
// False: no array has elements like these (3 channels, channels of different sizes, a float of 8 bits).
bool read_channels(const hipChannelFormatDesc& description, hipArray_Format& format, unsigned& channels);
// All zero and hipChannelFormatKindNone, which read_channels() refuses: no element has so many.
hipChannelFormatDesc write_channels(hipArray_Format format, unsigned channels);

// hipErrorInvalidValue: there are no arrays of this shape.
hipError_t check(const Shape& shape);
// How many levels a mipmapped array of this shape can have, down to a single element.
unsigned levels_max(const Shape& shape);
Shape level_of(const Shape& shape, unsigned level);

// kGaps: rows and slices never touch, so that no box joins them and each address says where it stands.
enum class Layout : std::uint8_t { kDense, kGaps };
// Where each of `levels` levels stands, the first at `base`. REQUIRES: check(shape) == hipSuccess
std::vector<Place> lay_out(const Shape& shape, unsigned levels, std::uint64_t base, Layout layout);
// The bytes from the first level's begin to the last one's end.
inline std::uint64_t extent(const std::vector<Place>& places) {
  return places.back().base + places.back().bytes() - places.front().base;
}
// What counts as the memory of an array. Names have gaps that no memory has.
inline std::uint64_t memory_bytes(const Shape& shape, unsigned levels) {
  return extent(lay_out(shape, levels, 0, Layout::kDense));
}

}  // namespace tf::array
