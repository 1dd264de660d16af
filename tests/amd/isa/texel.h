// SPDX-License-Identifier: Apache-2.0
// One element of an image or a formatted buffer: from memory to four results, and back.
#pragma once

#include <array>
#include <cstdint>

#include "tests/amd/isa/image_descriptor.h"

namespace tf::amd::isa {

// Four results: bits of floats, or integers.
using Texel = std::array<std::uint32_t, 4>;

// Channels that the format lacks are 0.
Texel read_channels(const TexelFormat& format, const std::uint8_t* from);
void write_channels(const TexelFormat& format, const Texel& values, std::uint8_t* to);
Texel selected(const TexelFormat& format, const Selects& select, const Texel& channels);

}  // namespace tf::amd::isa
