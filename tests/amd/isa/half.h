// SPDX-License-Identifier: Apache-2.0
// Halves (IEEE binary16) as integers, so that the host's flushing of denormals does not touch them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tf::amd::isa {

inline float half_to_float(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000) << 16;
  const std::uint32_t magnitude = (half & 0x7fff) << 13;
  const std::uint32_t exponent = half & 0x7c00;
  const std::uint32_t normal = magnitude + (exponent == 0x7c00 ? 224U << 23 : 112U << 23);
  const float small = static_cast<float>(static_cast<std::int32_t>(half & 0x3ff)) * 0x1p-24F;
  return std::bit_cast<float>((exponent == 0 ? std::bit_cast<std::uint32_t>(small) : normal) | sign);
}

// To nearest, ties to even. A NaN stays one, quiet.
inline std::uint32_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t rounded = ((magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13) - (112U << 10);
  const std::uint32_t normal = magnitude >= 0x47800000 ? 0x7c00 : rounded > 0x7c00 ? 0x7c00 : rounded;
  // Below 2^-14: a multiple of 2^-24. Adding 2^23 rounds it.
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p24F;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(scaled + 0x1p23F) & 0x7fffff;
  const std::uint32_t number = magnitude < 0x38800000 ? small : normal;
  const std::uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  return sign | (magnitude > 0x7f800000 ? nan : number);
}

// The float that rounds to the same half as `value` and what it leaves out (`rest`): round to odd.
inline float to_odd_float(double value, double rest) {
  std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  if (rest != 0 && (bits & 1) == 0) bits += (rest > 0) == (value > 0) ? 1 : std::uint64_t{0} - 1;
  const double odd = std::bit_cast<double>(bits);
  const float nearest = static_cast<float>(odd);
  std::uint32_t out = std::bit_cast<std::uint32_t>(nearest);
  if (!(static_cast<double>(nearest) != odd) || !std::isfinite(nearest)) return nearest;
  if (std::abs(static_cast<double>(nearest)) > std::abs(odd)) out -= 1;
  return std::bit_cast<float>(out | 1);
}

// a * b + c, rounded once to a half.
inline float half_fma(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);  // exact: 22 bits
  const double addend = c;
  const double sum = product + addend;
  const double part = sum - product;
  const double rest = (product - (sum - part)) + (addend - part);
  if (!std::isfinite(sum)) return static_cast<float>(sum);
  return to_odd_float(sum, rest);
}

}  // namespace tf::amd::isa
