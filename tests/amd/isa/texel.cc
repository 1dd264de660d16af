// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/isa/texel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/amd/isa/half.h"

namespace tf::amd::isa {
namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

std::int32_t extended(std::uint32_t value, unsigned bits) {
  return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}

// The transfer function of the sRGB standard (IEC 61966-2-1).
float linear_of_srgb(float value) {
  if (value <= 0.04045F) return value / 12.92F;
  return static_cast<float>(std::pow((static_cast<double>(value) + 0.055) / 1.055, 2.4));
}

float of_unsigned(std::uint32_t value, unsigned bits) {
  return static_cast<float>(value) / static_cast<float>((1U << bits) - 1);
}

std::uint32_t channel(const TexelFormat& format, std::uint32_t raw, unsigned index) {
  const unsigned bits = format.bits;
  switch (format.number) {
    case Number::kUnorm: return bits_of(of_unsigned(raw, bits));
    case Number::kSnorm: {  // two numbers are -1
      const float most = static_cast<float>((1U << (bits - 1)) - 1);
      return bits_of(std::max(static_cast<float>(extended(raw, bits)) / most, -1.0F));
    }
    case Number::kSint: return static_cast<std::uint32_t>(extended(raw, bits));
    case Number::kUint: return raw;
    case Number::kFloat: return bits == 16 ? bits_of(half_to_float(raw)) : raw;
    case Number::kSrgb: {
      const float value = of_unsigned(raw, bits);
      return bits_of(index < 3 ? linear_of_srgb(value) : value);
    }
  }
  return 0;
}

// To nearest even; a NaN is 0.
std::uint32_t normalized(float value, float least, float most) {
  if (!(value > least)) value = value <= least ? least : 0;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::nearbyint(std::min(value, 1.0F) * most)));
}

// Integers that a channel has no room for become the nearest one that it has.
std::uint32_t channel_bits(const TexelFormat& format, std::uint32_t value) {
  const unsigned bits = format.bits;
  const std::uint32_t all = bits == 32 ? 0xffffffff : (1U << bits) - 1;
  const float number = std::bit_cast<float>(value);
  switch (format.number) {
    case Number::kSrgb:  // is read only
    case Number::kUnorm: return normalized(number, 0, static_cast<float>(all));
    case Number::kSnorm: return normalized(number, -1, static_cast<float>(all >> 1)) & all;
    case Number::kUint: return std::min(value, all);
    case Number::kSint: {
      const auto most = static_cast<std::int32_t>(all >> 1);
      return static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(value), -most - 1, most)) & all;
    }
    case Number::kFloat: return bits == 16 ? float_to_half(number) : value;
  }
  return 0;
}

}  // namespace

Texel read_channels(const TexelFormat& format, const std::uint8_t* from) {
  Texel result{};
  for (unsigned i = 0; i < format.channels; ++i) {
    std::uint32_t raw = 0;
    std::memcpy(&raw, from + i * format.bits / 8, format.bits / 8U);
    result[i] = channel(format, raw, i);
  }
  return result;
}

void write_channels(const TexelFormat& format, const Texel& values, std::uint8_t* to) {
  for (unsigned i = 0; i < format.channels; ++i) {
    const std::uint32_t raw = channel_bits(format, values[i]);
    std::memcpy(to + i * format.bits / 8, &raw, format.bits / 8U);
  }
}

Texel selected(const TexelFormat& format, const Selects& select, const Texel& channels) {
  Texel result{};
  for (std::size_t i = 0; i < 4; ++i) {
    switch (select[i]) {
      case Select::k0: break;
      case Select::k1: result[i] = format.is_integer() ? 1 : bits_of(1.0F); break;
      default:
        result[i] = channels[static_cast<std::size_t>(select[i]) - static_cast<std::size_t>(Select::kX)];
    }
  }
  return result;
}

}  // namespace tf::amd::isa
