// SPDX-License-Identifier: Apache-2.0
// IEEE half precision, for old compilers that expect these two functions of the runtime. Round to nearest
// even.
#include <bit>
#include <cstdint>

#include "hipcore/composed/composed.h"

TF_COMPOSED float __gnu_h2f_ieee(unsigned short half) {
  std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  std::uint32_t exponent = half >> 10 & 0x1fu;
  std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // exact: subnormal or zero
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

TF_COMPOSED unsigned short __gnu_f2h_ieee(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t sign = bits >> 16 & 0x8000u;
  bits &= 0x7fffffffu;
  std::uint32_t half = 0;
  if (bits > 0x7f800000u) {
    half = 0x7e00u | (bits >> 13 & 0x3ffu);
  } else if (bits >= 0x477ff000u) {  // 65520 and above round to infinity
    half = 0x7c00u;
  } else if (bits >= 0x38800000u) {
    std::uint32_t rounded = bits + 0xfffu + (bits >> 13 & 1u);
    half = (rounded - (112u << 23)) >> 13;
  } else {
    // Adding this constant leaves the rounded multiple of 2^-24 in the low bits.
    float shifted = std::bit_cast<float>(bits) + 0.5f;
    half = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
  }
  return static_cast<unsigned short>(sign | half);
}
