// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/isa/sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tf::amd::isa {
namespace {

constexpr std::int64_t kOne = 256;  // a coordinate's 8 bits behind the point
constexpr std::int64_t kOutside = -1;

// What one axis reads: two elements and how much the second one counts, in 256ths. kOutside: the border.
struct Axis {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t weight = 0;
};

std::int64_t fixed(float coordinate, float scale) {
  constexpr float kFarthest = 1 << 30;
  const float value = coordinate * scale;
  if (value != value) return 0;
  return static_cast<std::int64_t>(std::nearbyint(
      static_cast<double>(std::clamp(value, -kFarthest, kFarthest)) * static_cast<double>(kOne)));
}

std::int64_t remainder(std::int64_t value, std::int64_t size) { return (value % size + size) % size; }

std::int64_t inside(std::int64_t index, std::int64_t size, AddressMode mode) {
  switch (mode) {
    case AddressMode::kWrap: return remainder(index, size);
    case AddressMode::kMirror: {
      const std::int64_t twice = remainder(index, 2 * size);
      return twice < size ? twice : 2 * size - 1 - twice;
    }
    case AddressMode::kClamp: return std::clamp<std::int64_t>(index, 0, size - 1);
    case AddressMode::kBorder: break;
  }
  return index >= 0 && index < size ? index : kOutside;
}

Axis axis_of(float coordinate, std::uint32_t size, const SamplerDescriptor& sampler, AddressMode mode,
             bool linear) {
  const std::int64_t at = fixed(coordinate, sampler.normalized ? static_cast<float>(size) : 1.0F);
  const std::int64_t from = linear ? at - kOne / 2 : at;
  const std::int64_t first = from >> 8;
  const std::int64_t extent = size;
  return {inside(first, extent, mode), inside(first + 1, extent, mode), linear ? from & (kOne - 1) : 0};
}

std::int64_t layer_of(float z, std::uint32_t layers) {
  if (z != z) return 0;
  return static_cast<std::int64_t>(std::clamp(std::nearbyint(z), 0.0F, static_cast<float>(layers - 1)));
}

struct Axes {
  Axis x, y, z;
};

Axes axes_of(const ImageDescriptor& image, const SamplerDescriptor& sampler, const Coordinates<float>& at,
             bool linear) {
  Axes axes;
  axes.x = axis_of(at.x, image.width, sampler, sampler.modes[0], linear);
  if (image.type != ImageType::k1D && image.type != ImageType::k1DArray) {
    axes.y = axis_of(at.y, image.height, sampler, sampler.modes[1], linear);
  }
  if (image.type == ImageType::k3D) {
    axes.z = axis_of(at.z, image.depth, sampler, sampler.modes[2], linear);
  } else if (image.is_array()) {
    axes.z.first = axes.z.second = layer_of(at.z, image.depth);
  }
  return axes;
}

// Both are floats.
Texel mixed(const Texel& first, const Texel& second, std::int64_t weight) {
  if (weight == 0) return first;
  const float part = static_cast<float>(weight) / static_cast<float>(kOne);
  Texel result;
  for (std::size_t i = 0; i < 4; ++i) {
    const float value =
        std::bit_cast<float>(first[i]) * (1.0F - part) + std::bit_cast<float>(second[i]) * part;
    result[i] = std::bit_cast<std::uint32_t>(value);
  }
  return result;
}

}  // namespace

std::uint8_t* element_at(MemoryView& memory, const ImageDescriptor& image, std::int64_t x, std::int64_t y,
                         std::int64_t z, bool write) {
  if (x < 0 || y < 0 || z < 0 || x >= image.width || y >= image.height || z >= image.depth) return nullptr;
  const std::uint64_t bytes = image.format.bytes();
  return memory.at(image.base + static_cast<std::uint64_t>(z) * image.slice_bytes() +
                       static_cast<std::uint64_t>(y) * image.row_bytes() +
                       static_cast<std::uint64_t>(x) * bytes,
                   bytes, write);
}

Texel element(MemoryView& memory, const ImageDescriptor& image, std::int64_t x, std::int64_t y,
              std::int64_t z) {
  const std::uint8_t* from = element_at(memory, image, x, y, z, false);
  return selected(image.format, image.select, from == nullptr ? Texel{} : read_channels(image.format, from));
}

Texel sample(MemoryView& memory, const ImageDescriptor& image, const SamplerDescriptor& sampler,
             const Coordinates<float>& at) {
  const Axes axes = axes_of(image, sampler, at, sampler.linear);
  const auto line = [&](std::int64_t y, std::int64_t z) {
    const Texel first = element(memory, image, axes.x.first, y, z);
    return axes.x.weight == 0 ? first
                              : mixed(first, element(memory, image, axes.x.second, y, z), axes.x.weight);
  };
  const auto plane = [&](std::int64_t z) {
    const Texel first = line(axes.y.first, z);
    return axes.y.weight == 0 ? first : mixed(first, line(axes.y.second, z), axes.y.weight);
  };
  const Texel first = plane(axes.z.first);
  return axes.z.weight == 0 ? first : mixed(first, plane(axes.z.second), axes.z.weight);
}

Texel gather(MemoryView& memory, const ImageDescriptor& image, const SamplerDescriptor& sampler,
             const Coordinates<float>& at, unsigned component) {
  const Axes axes = axes_of(image, sampler, at, true);
  const auto one = [&](std::int64_t x, std::int64_t y) {
    return element(memory, image, x, y, axes.z.first)[component];
  };
  return {one(axes.x.first, axes.y.second), one(axes.x.second, axes.y.second),
          one(axes.x.second, axes.y.first), one(axes.x.first, axes.y.first)};
}

}  // namespace tf::amd::isa
