// SPDX-License-Identifier: Apache-2.0
// What a sampler makes of an image's elements: coordinates that lie outside, filters.
//
// Coordinates are rounded to 8 bits behind the point before anything else, as textures of GPUs have them and
// HIP's manual describes weights. The device library counts on it: for the nearest element it computes
// floor(x * width) / width, which may lie a little below the element that is meant.
#pragma once

#include <array>

#include "tests/amd/isa/texel.h"
#include "tests/amd/isa/wave.h"

namespace tf::amd::isa {

// One lane's coordinates: floats for a sampler, of loads and stores integers. Arrays have the layer in z.
template <class T>
struct Coordinates {
  T x{}, y{}, z{};
};

// Null: outside.
std::uint8_t* element_at(MemoryView& memory, const ImageDescriptor& image, std::int64_t x, std::int64_t y,
                         std::int64_t z, bool write);
// The element, or 0 in all channels; already selected.
Texel element(MemoryView& memory, const ImageDescriptor& image, std::int64_t x, std::int64_t y,
              std::int64_t z);
Texel sample(MemoryView& memory, const ImageDescriptor& image, const SamplerDescriptor& sampler,
             const Coordinates<float>& at);
// One component of the four elements that a linear filter would mix: left below, right below, right above,
// left above; "below" is the greater y.
Texel gather(MemoryView& memory, const ImageDescriptor& image, const SamplerDescriptor& sampler,
             const Coordinates<float>& at, unsigned component);

}  // namespace tf::amd::isa
