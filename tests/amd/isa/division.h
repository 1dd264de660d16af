// SPDX-License-Identifier: Apache-2.0
// The steps of a division: v_div_scale, v_div_fmas, v_div_fixup [CDNA2 chapter 12.12].
//
// A quotient is computed as rcp and Newton steps on scaled operands, scaled back by v_div_fmas, and completed
// by v_div_fixup. Where v_div_scale scaled only one operand, it tells v_div_fmas by a bit of VCC.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tests/amd/isa/arithmetic.h"

namespace tf::amd::isa {

template <class T>
struct Division;
template <>
struct Division<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr int kSpecial = 255;  // exponent field of infinities and NaNs
  static constexpr int kNearMax = 96;   // quotients of 2^96 and more overflow on the way
  static constexpr int kScale = 64;
  static constexpr int kTiny = 23;
  static constexpr int kUnderflow = -150;
};
template <>
struct Division<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr int kSpecial = 2047;
  static constexpr int kNearMax = 768;
  static constexpr int kScale = 128;
  static constexpr int kTiny = 53;
  static constexpr int kUnderflow = -1075;
};

template <class T>
int exponent_field(T x) {
  return static_cast<int>(std::bit_cast<typename Division<T>::Bits>(x) >> Division<T>::kMantissa) &
         Division<T>::kSpecial;
}
template <class T>
bool is_denormal(T x) {
  return x != 0 && exponent_field(x) == 0;
}

// What v_div_scale makes of `value`, which is the denominator or the numerator; `post`: v_div_fmas has to
// scale back.
template <class T>
T division_scale(T value, T denominator, T numerator, bool& post) {
  using Bits = typename Division<T>::Bits;
  constexpr int kScale = Division<T>::kScale;
  const bool is_denominator = std::bit_cast<Bits>(value) == std::bit_cast<Bits>(denominator);
  const bool is_numerator = std::bit_cast<Bits>(value) == std::bit_cast<Bits>(numerator);
  const bool huge_denominator = is_denormal(T{1} / denominator);
  post = false;
  if (numerator == 0 || denominator == 0) return std::numeric_limits<T>::quiet_NaN();
  if (exponent_field(numerator) - exponent_field(denominator) >= Division<T>::kNearMax) {
    post = true;
    return is_denominator ? std::ldexp(value, kScale) : value;
  }
  if (is_denormal(denominator)) return std::ldexp(value, kScale);
  const bool denormal_quotient = is_denormal(numerator / denominator);
  if (huge_denominator && denormal_quotient) {
    post = true;
    return is_denominator ? std::ldexp(value, -kScale) : value;
  }
  if (huge_denominator) return std::ldexp(value, -kScale);
  if (denormal_quotient) {
    post = true;
    return is_numerator ? std::ldexp(value, kScale) : value;
  }
  return exponent_field(numerator) <= Division<T>::kTiny ? std::ldexp(value, kScale) : value;
}

// A product of two doubles is exact in it.
__extension__ typedef __float128 Exact;

// a * b + c, scaled back: a large quotient came of a scaled denominator, a small one of a scaled numerator.
// It is rounded once, after that, or a denormal quotient would not be the nearest.
template <class T>
T division_fmas(T a, T b, T c, bool post) {
  const T value = madd(a, b, c);
  if (!post || !std::isfinite(value)) return value;
  constexpr Exact kUp = Division<T>::kScale == 64 ? 0x1p32 : 0x1p64;
  const bool large = exponent_field(c) > Division<T>::kSpecial / 2;
  const Exact factor = large ? kUp * kUp : 1 / (kUp * kUp);
  const Exact exact = static_cast<Exact>(a) * static_cast<Exact>(b) + static_cast<Exact>(c);
  return static_cast<T>(exact * factor);
}

// The quotient where an operand is special, else `quotient` with the right sign.
template <class T, class Bits>
T division_fixup(T quotient, T denominator, T numerator) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const bool negative = is_negative(denominator) != is_negative(numerator);
  const T sign = negative ? T{-1} : T{1};
  if (is_nan(numerator)) return quiet(numerator);
  if (is_nan(denominator)) return quiet(denominator);
  const bool infinite_n = std::abs(numerator) == kInfinity;
  const bool infinite_d = std::abs(denominator) == kInfinity;
  if ((numerator == 0 && denominator == 0) || (infinite_n && infinite_d)) {
    return -std::numeric_limits<T>::quiet_NaN();
  }
  if (denominator == 0 || infinite_n) return sign * kInfinity;
  if (infinite_d || numerator == 0) return std::copysign(T{0}, sign);
  if (exponent_field(numerator) - exponent_field(denominator) < Division<T>::kUnderflow) {
    return std::copysign(T{0}, sign);
  }
  return std::copysign(quotient, sign);
}

}  // namespace tf::amd::isa
