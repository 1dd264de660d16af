// SPDX-License-Identifier: Apache-2.0
// Descriptors of images, of buffers of texels and of samplers: words that a runtime writes and image
// instructions read. The device library reads some too: words 8 to 10 of an image, its height and its number
// of layers, and of a sampler whether coordinates are normalized and whether it filters.
//
// Fields lie where the hardware has them [CDNA2 chapter 8.2.5, RDNA3 chapter 10.5]. Of layouts in memory
// there is one: rows one after the other, none is tiled. Images have one level.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/amd/isa/processor.h"

namespace tf::amd::isa {

enum class Number : std::uint8_t { kUnorm, kSnorm, kUint, kSint, kFloat, kSrgb };

// Channels of one size. An element is `channels` * `bits` / 8 bytes.
struct TexelFormat {
  std::uint8_t channels = 0;
  std::uint8_t bits = 0;
  Number number = Number::kUnorm;

  unsigned bytes() const { return channels * bits / 8U; }
  bool is_integer() const { return number == Number::kUint || number == Number::kSint; }
  bool operator==(const TexelFormat&) const = default;
};

// What a component of a result is: a constant, or a channel.
enum class Select : std::uint8_t { k0 = 0, k1 = 1, kX = 4, kY = 5, kZ = 6, kW = 7 };
using Selects = std::array<Select, 4>;
// R, RG, RGB, RGBA: channels that an element lacks are 0, and 1 in place of the fourth.
Selects usual_selects(unsigned channels);

enum class ImageType : std::uint8_t { k1D = 8, k2D = 9, k3D = 10, k1DArray = 12, k2DArray = 13 };

struct ImageDescriptor {
  std::uint64_t base = 0;
  ImageType type = ImageType::k2D;
  std::uint32_t width = 1;  // elements
  std::uint32_t height = 1;
  std::uint32_t depth = 1;  // of 3D; of arrays: layers
  std::uint32_t pitch = 0;  // elements from a row to the next one
  TexelFormat format;
  Selects select = usual_selects(4);

  bool is_array() const { return type == ImageType::k1DArray || type == ImageType::k2DArray; }
  std::uint64_t row_bytes() const { return std::uint64_t{pitch} * format.bytes(); }
  std::uint64_t slice_bytes() const { return row_bytes() * height; }
};
constexpr unsigned kImageAlignment = 256;  // of an image's address, and of the bytes of a row
constexpr int kImageWords = 8;

// The pitch of an image whose descriptor has no room for one, and the least one of all others.
std::uint32_t least_pitch(std::uint32_t width, const TexelFormat& format);

// A buffer of elements.
struct TexelBuffer {
  std::uint64_t base = 0;
  std::uint32_t elements = 0;
  TexelFormat format;
  Selects select = usual_selects(4);
};
constexpr int kBufferWords = 4;

enum class AddressMode : std::uint8_t { kWrap = 0, kMirror = 1, kClamp = 2, kBorder = 6 };

// The color of a border is 0 in all channels.
struct SamplerDescriptor {
  std::array<AddressMode, 3> modes{};
  bool normalized = false;
  bool linear = false;
};
constexpr int kSamplerWords = 4;

// False: a descriptor of the processor has no room for it, or the processor has no images.
bool encode(const Processor& processor, const ImageDescriptor& image, std::uint32_t* words);
bool encode(const Processor& processor, const TexelBuffer& buffer, std::uint32_t* words);
bool encode(const Processor& processor, const SamplerDescriptor& sampler, std::uint32_t* words);

// Nothing: not known, for the reason in `why`.
std::optional<ImageDescriptor> decode_image(const Processor& processor, const std::uint32_t* words,
                                            std::string& why);
std::optional<SamplerDescriptor> decode_sampler(const std::uint32_t* words, std::string& why);
// Of a buffer the format and what is selected; word 3.
bool decode_texels(const Processor& processor, std::uint32_t word, TexelFormat& format, Selects& select);

}  // namespace tf::amd::isa
