// SPDX-License-Identifier: Apache-2.0
// Floats of 8 bits as gfx940 and gfx942 have them: no infinities, no -0, one NaN (0x80) [CDNA3 "FP8 and BF8";
// LLVM APFloat Float8E4M3FNUZ and Float8E5M2FNUZ].
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tf::amd::isa {

template <int Mantissa, int Bias>
struct Float8 {
  static constexpr std::uint32_t kNan = 0x80;
  static constexpr std::uint32_t kMost = 0x7f;
  static constexpr int kDropped = 23 - Mantissa;  // bits of a float's mantissa

  static float to_float(std::uint32_t byte) {
    if (byte == kNan) return std::numeric_limits<float>::quiet_NaN();
    const std::uint32_t exponent = byte >> Mantissa & (0x7fU >> Mantissa);
    const std::uint32_t mantissa = byte & ((1U << Mantissa) - 1);
    const std::uint32_t sign = (byte & 0x80) << 24;
    if (exponent == 0) {
      constexpr float kUnit =
          std::bit_cast<float>(static_cast<std::uint32_t>(127 + 1 - Bias - Mantissa) << 23);
      const float small = static_cast<float>(static_cast<std::int32_t>(mantissa)) * kUnit;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(small) | sign);
    }
    return std::bit_cast<float>(sign | (exponent + 127 - Bias) << 23 | mantissa << kDropped);
  }

  // To nearest, ties to even. `saturates`: what is too large gives the greatest number, not the NaN.
  static std::uint32_t nearest(float value, bool saturates) {
    return convert(value, saturates, [](std::uint32_t mantissa, int shift) {
      return (mantissa + (1U << (shift - 1)) - 1 + (mantissa >> shift & 1)) >> shift;
    });
  }
  // As many of the seed's highest bits as a float's mantissa has more are added to it; then it is cut.
  static std::uint32_t random(float value, std::uint32_t seed, bool saturates) {
    return convert(value, saturates, [seed](std::uint32_t mantissa, int shift) {
      return (mantissa + (seed >> (32 - kDropped))) >> shift;
    });
  }

 private:
  template <class Round>
  static std::uint32_t convert(float value, bool saturates, Round round) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude >= 0x7f800000) return kNan;
    if (magnitude < 0x00800000) return 0;
    const int exponent = static_cast<int>(magnitude >> 23) - 127 + Bias;
    const int shift = kDropped + (exponent < 1 ? 1 - exponent : 0);
    if (shift > 25) return 0;
    const std::uint32_t rounded = round((magnitude & 0x007fffff) | 0x00800000, shift);
    // The mantissa's first bit counts the exponent up by one.
    std::uint32_t code =
        exponent < 1 ? rounded : (static_cast<std::uint32_t>(exponent - 1) << Mantissa) + rounded;
    if (code > kMost) {
      if (!saturates) return kNan;
      code = kMost;
    }
    return code == 0 ? 0 : code | (bits >> 24 & 0x80);
  }
};
using Fp8 = Float8<3, 8>;   // E4M3
using Bf8 = Float8<2, 16>;  // E5M2

}  // namespace tf::amd::isa
