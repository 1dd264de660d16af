// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/isa/image_descriptor.h"

#include <algorithm>

namespace tf::amd::isa {
namespace {

struct Field {
  int word;
  int shift;
  int bits;
};

std::uint32_t get(const std::uint32_t* words, Field field) {
  return words[field.word] >> field.shift & static_cast<std::uint32_t>((std::uint64_t{1} << field.bits) - 1);
}

// False: no room.
bool put(std::uint32_t* words, Field field, std::uint64_t value) {
  if (value >> field.bits != 0) return false;
  words[field.word] |= static_cast<std::uint32_t>(value << field.shift);
  return true;
}

// Of an image, on both.
constexpr Field kBaseLow{0, 0, 32};  // of the address shifted by 8
constexpr Field kBaseHigh{1, 0, 8};
constexpr Field kHeight{2, 14, 14};  // less one, as all sizes
constexpr Field kLastLevel{3, 16, 4};
constexpr Field kBaseLevel{3, 12, 4};
constexpr Field kTiles{3, 20, 5};  // SW_MODE; 0: rows one after the other
constexpr Field kType{3, 28, 4};
constexpr Field kDepth{4, 0, 13};
// Of gfx9.
constexpr Field kWidth9{2, 0, 14};
constexpr Field kDataFormat9{1, 20, 6};
constexpr Field kNumberFormat9{1, 26, 4};
constexpr Field kPitch9{4, 13, 16};
constexpr Field kBaseArray9{5, 0, 13};
// Of gfx11, where an image with a depth has no pitch.
constexpr Field kWidthLow11{1, 30, 2};
constexpr Field kWidthHigh11{2, 0, 12};
constexpr Field kFormat11{1, 20, 8};
constexpr Field kPitch11{4, 0, 14};
constexpr Field kBaseArray11{4, 16, 13};
// Of buffers.
constexpr Field kBufferDataFormat9{3, 15, 4};
constexpr Field kBufferNumberFormat9{3, 12, 3};
constexpr Field kBufferFormat11{3, 12, 6};
constexpr Field kBufferBaseHigh{1, 0, 16};
constexpr Field kStride{1, 16, 14};
// Of samplers, on both.
constexpr Field kUnnormalized{0, 15, 1};
constexpr Field kMagnify{2, 20, 2};  // 0: the nearest element, 1: linear
constexpr Field kMinify{2, 22, 2};
constexpr Field kDeepFilter{2, 24, 2};  // 0: as in x and y
constexpr Field kLevelFilter{2, 26, 2};
constexpr Field kMostLevel{1, 12, 12};

Field select_field(int i) { return {3, 3 * i, 3}; }
Field mode_field(int axis) { return {0, 3 * axis, 3}; }

struct KnownFormat {
  TexelFormat format;
  std::uint8_t data9;  // DATA_FORMAT and NUM_FORMAT of gfx9
  std::uint8_t number9;
  std::uint8_t of_11;  // FORMAT of gfx11
};

#define TF_FORMAT(channels, bits, number, data9, number9, of_11) \
  { {channels, bits, Number::number}, data9, number9, of_11 }
// Channels of 8 and 16 bits.
#define TF_SMALL(channels, bits, data9, first11)                \
  TF_FORMAT(channels, bits, kUnorm, data9, 0, first11),         \
      TF_FORMAT(channels, bits, kSnorm, data9, 1, first11 + 1), \
      TF_FORMAT(channels, bits, kUint, data9, 4, first11 + 4),  \
      TF_FORMAT(channels, bits, kSint, data9, 5, first11 + 5)
#define TF_HALVES(channels, data9, of_11) TF_FORMAT(channels, 16, kFloat, data9, 7, of_11)
#define TF_WORDS(channels, data9, first11)                                                                  \
  TF_FORMAT(channels, 32, kUint, data9, 4, first11), TF_FORMAT(channels, 32, kSint, data9, 5, first11 + 1), \
      TF_FORMAT(channels, 32, kFloat, data9, 7, first11 + 2)
constexpr KnownFormat kFormats[] = {
    TF_SMALL(1, 8, 1, 1),   TF_SMALL(2, 8, 3, 14),
    TF_SMALL(4, 8, 10, 42), TF_SMALL(1, 16, 2, 7),
    TF_SMALL(2, 16, 5, 23), TF_SMALL(4, 16, 12, 51),
    TF_HALVES(1, 2, 13),    TF_HALVES(2, 5, 29),
    TF_HALVES(4, 12, 57),   TF_WORDS(1, 4, 20),
    TF_WORDS(2, 11, 48),    TF_WORDS(3, 13, 58),
    TF_WORDS(4, 14, 61),    TF_FORMAT(4, 8, kSrgb, 10, 9, 66),
};

const KnownFormat* find(const TexelFormat& format) {
  const auto* const found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                         [&](const KnownFormat& each) { return each.format == format; });
  return found == std::end(kFormats) ? nullptr : found;
}

bool is_11(const Processor& processor) { return processor.images == ImageLayout::kGfx11; }

const KnownFormat* find(const Processor& processor, std::uint32_t data, std::uint32_t number) {
  const auto* const found =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&](const KnownFormat& each) {
        return is_11(processor) ? each.of_11 == data : each.data9 == data && each.number9 == number;
      });
  return found == std::end(kFormats) ? nullptr : found;
}

bool has_pitch(const Processor& processor, ImageType type) {
  return !is_11(processor) || type == ImageType::k1D || type == ImageType::k2D;
}

bool put_selects(std::uint32_t* words, const Selects& select) {
  bool fits = true;
  for (int i = 0; i < 4; ++i) {
    fits &= put(words, select_field(i), static_cast<std::uint32_t>(select[static_cast<std::size_t>(i)]));
  }
  return fits;
}

bool get_selects(const std::uint32_t* words, Selects& select) {
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t value = get(words, select_field(i));
    if (value == 2 || value == 3) return false;
    select[static_cast<std::size_t>(i)] = static_cast<Select>(value);
  }
  return true;
}

bool known_type(std::uint32_t type) {
  return type == 8 || type == 9 || type == 10 || type == 12 || type == 13;
}

}  // namespace

Selects usual_selects(unsigned channels) {
  return {Select::kX, channels > 1 ? Select::kY : Select::k0, channels > 2 ? Select::kZ : Select::k0,
          channels > 3 ? Select::kW : Select::k1};
}

std::uint32_t least_pitch(std::uint32_t width, const TexelFormat& format) {
  const std::uint64_t bytes = std::uint64_t{width} * format.bytes();
  const std::uint64_t aligned = (bytes + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
  return static_cast<std::uint32_t>(aligned / format.bytes());
}

bool encode(const Processor& processor, const ImageDescriptor& image, std::uint32_t* words) {
  std::fill_n(words, kImageWords, 0U);
  const KnownFormat* format = find(image.format);
  if (processor.images == ImageLayout::kNone || format == nullptr) return false;
  if (image.base % kImageAlignment != 0 || kImageAlignment % image.format.bytes() != 0) return false;
  if (image.width == 0 || image.height == 0 || image.depth == 0 || image.pitch < image.width) return false;
  bool fits = put(words, kBaseLow, image.base >> 8 & 0xffffffff) && put(words, kBaseHigh, image.base >> 40) &&
              put(words, kHeight, image.height - 1) && put_selects(words, image.select) &&
              put(words, kType, static_cast<std::uint32_t>(image.type));
  const bool deep = image.is_array() || image.type == ImageType::k3D;
  if (deep) fits = fits && put(words, kDepth, image.depth - 1);
  if (has_pitch(processor, image.type)) {
    fits = fits && put(words, is_11(processor) ? kPitch11 : kPitch9, image.pitch - 1);
  } else {
    fits = fits && image.pitch == least_pitch(image.width, image.format);
  }
  if (is_11(processor)) {
    return fits && put(words, kWidthLow11, (image.width - 1) & 3) &&
           put(words, kWidthHigh11, (image.width - 1) >> 2) && put(words, kFormat11, format->of_11);
  }
  return fits && put(words, kWidth9, image.width - 1) && put(words, kDataFormat9, format->data9) &&
         put(words, kNumberFormat9, format->number9);
}

bool encode(const Processor& processor, const TexelBuffer& buffer, std::uint32_t* words) {
  std::fill_n(words, kBufferWords, 0U);
  const KnownFormat* format = find(buffer.format);
  if (processor.images == ImageLayout::kNone || format == nullptr) return false;
  words[0] = static_cast<std::uint32_t>(buffer.base);
  words[2] = buffer.elements;
  const bool fits = put(words, kBufferBaseHigh, buffer.base >> 32) &&
                    put(words, kStride, buffer.format.bytes()) && put_selects(words, buffer.select);
  if (is_11(processor)) return fits && put(words, kBufferFormat11, format->of_11);
  return fits && put(words, kBufferDataFormat9, format->data9) &&
         put(words, kBufferNumberFormat9, format->number9);
}

bool encode(const Processor& processor, const SamplerDescriptor& sampler, std::uint32_t* words) {
  std::fill_n(words, kSamplerWords, 0U);
  if (processor.images == ImageLayout::kNone) return false;
  for (int axis = 0; axis < 3; ++axis) {
    put(words, mode_field(axis), static_cast<std::uint32_t>(sampler.modes[static_cast<std::size_t>(axis)]));
  }
  put(words, kUnnormalized, sampler.normalized ? 0 : 1);
  put(words, kMagnify, sampler.linear ? 1 : 0);
  put(words, kMinify, sampler.linear ? 1 : 0);
  put(words, kMostLevel, 0xfff);
  return true;
}

std::optional<ImageDescriptor> decode_image(const Processor& processor, const std::uint32_t* words,
                                            std::string& why) {
  ImageDescriptor image;
  const bool newer = is_11(processor);
  const KnownFormat* format = newer ? find(processor, get(words, kFormat11), 0)
                                    : find(processor, get(words, kDataFormat9), get(words, kNumberFormat9));
  const std::uint32_t type = get(words, kType);
  if (processor.images == ImageLayout::kNone) why = "a processor without images";
  if (format == nullptr) why = "a format of elements that is not known";
  if (!get_selects(words, image.select)) why = "a channel that there is not";
  if (!known_type(type)) why = "no image, or a cubemap, or one of several samples";
  if (get(words, kLastLevel) != 0 || get(words, kBaseLevel) != 0) why = "an image of several levels";
  if (get(words, kTiles) != 0) why = "an image of tiles";
  if (get(words, newer ? kBaseArray11 : kBaseArray9) != 0) why = "an image that begins with another layer";
  if (!why.empty()) return std::nullopt;
  image.base = std::uint64_t{get(words, kBaseLow)} << 8 | std::uint64_t{get(words, kBaseHigh)} << 40;
  image.type = static_cast<ImageType>(type);
  image.format = format->format;
  image.width = 1 + (newer ? get(words, kWidthLow11) | get(words, kWidthHigh11) << 2 : get(words, kWidth9));
  const bool line = image.type == ImageType::k1D || image.type == ImageType::k1DArray;
  image.height = line ? 1 : get(words, kHeight) + 1;
  if (image.is_array() || image.type == ImageType::k3D) image.depth = get(words, kDepth) + 1;
  image.pitch = has_pitch(processor, image.type) ? get(words, newer ? kPitch11 : kPitch9) + 1
                                                 : least_pitch(image.width, image.format);
  return image;
}

std::optional<SamplerDescriptor> decode_sampler(const std::uint32_t* words, std::string& why) {
  SamplerDescriptor sampler;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t mode = get(words, mode_field(axis));
    if (mode > 2 && mode != 6) why = "an address mode that is not known";
    sampler.modes[static_cast<std::size_t>(axis)] = static_cast<AddressMode>(mode);
  }
  constexpr std::uint32_t kKnownOf0 = 0x1ff | 1 << 15;  // modes, normalized; not anisotropy, comparisons
  constexpr std::uint32_t kKnownOf2 = 0xffU << 20;      // filters; not a level's bias, a border's color
  if ((words[0] & ~kKnownOf0) != 0 || (words[2] & ~kKnownOf2) != 0 || words[3] != 0) {
    why = "a sampler with fields that are not known";
  }
  const std::uint32_t filter = get(words, kMagnify);
  if (filter > 1 || filter != get(words, kMinify) || get(words, kDeepFilter) != 0 ||
      get(words, kLevelFilter) != 0) {
    why = "a filter that is not known";
  }
  if (!why.empty()) return std::nullopt;
  sampler.linear = filter == 1;
  sampler.normalized = get(words, kUnnormalized) == 0;
  return sampler;
}

bool decode_texels(const Processor& processor, std::uint32_t word, TexelFormat& format, Selects& select) {
  const std::uint32_t words[kBufferWords] = {0, 0, 0, word};
  const KnownFormat* known =
      is_11(processor) ? find(processor, get(words, kBufferFormat11), 0)
                       : find(processor, get(words, kBufferDataFormat9), get(words, kBufferNumberFormat9));
  if (known == nullptr || !get_selects(words, select)) return false;
  format = known->format;
  return true;
}

}  // namespace tf::amd::isa
