// SPDX-License-Identifier: Apache-2.0
// What operations of lanes compute, where C++ has no operator for it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/amd/isa/half.h"
#include "tests/amd/isa/wave.h"

namespace tf::amd::isa {

using std::uint32_t;
using std::uint64_t;

inline bool is_nan(float x) { return (std::bit_cast<uint32_t>(x) & 0x7fffffff) > 0x7f800000; }
inline bool is_nan(double x) {
  return (std::bit_cast<uint64_t>(x) & ~(uint64_t{1} << 63)) > 0x7ff0000000000000;
}
inline bool is_negative(float x) { return std::bit_cast<uint32_t>(x) >> 31 != 0; }
inline bool is_negative(double x) { return std::bit_cast<uint64_t>(x) >> 63 != 0; }
inline bool is_quiet(float x) { return (std::bit_cast<uint32_t>(x) & 0x00400000) != 0; }
inline bool is_quiet(double x) { return (std::bit_cast<uint64_t>(x) & 0x0008000000000000) != 0; }
inline float quiet(float x) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) | 0x00400000); }
inline double quiet(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) | 0x0008000000000000);
}

// The number wins over a NaN; with IEEE mode, a signalling NaN wins, quiet. -0 is less than +0
// [CDNA2 V_MIN_F32, V_MAX_F32].
template <class T>
T min_number(const Mode& mode, T a, T b) {
  const bool b_less = b < a || (b == a && is_negative(b));
  T result = b_less ? b : a;
  result = is_nan(a) ? b : result;
  result = is_nan(b) ? a : result;
  result = mode.ieee && is_nan(b) && (!is_quiet(b) || is_nan(a)) ? quiet(b) : result;
  return mode.ieee && is_nan(a) && !is_quiet(a) ? quiet(a) : result;
}
template <class T>
T max_number(const Mode& mode, T a, T b) {
  const bool a_less = a < b || (a == b && is_negative(a));
  T result = a_less ? b : a;
  result = is_nan(a) ? b : result;
  result = is_nan(b) ? a : result;
  result = mode.ieee && is_nan(b) && (!is_quiet(b) || is_nan(a)) ? quiet(b) : result;
  return mode.ieee && is_nan(a) && !is_quiet(a) ? quiet(a) : result;
}
// The middle one; with a NaN the least of the others [CDNA2 V_MED3_F32].
template <class T>
T middle_number(const Mode& mode, T a, T b, T c) {
  if (is_nan(a) || is_nan(b) || is_nan(c)) return min_number(mode, min_number(mode, a, b), c);
  const T most = max_number(mode, max_number(mode, a, b), c);
  if (most == a) return max_number(mode, b, c);
  return most == b ? max_number(mode, a, c) : max_number(mode, a, b);
}
template <class T>
T middle(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

inline float madd(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double madd(double a, double b, double c) { return __builtin_fma(a, b, c); }

// To an integer, towards zero; too large gives the greatest, a NaN 0 [CDNA2 V_CVT_U32_F32].
inline uint32_t to_u32(float x) {
  const bool upper = x >= 2147483648.0F;
  const float part = upper ? x - 2147483648.0F : x;
  const uint32_t bits =
      static_cast<uint32_t>(static_cast<std::int32_t>(part > 0 && part < 2147483648.0F ? part : 0));
  return x >= 4294967296.0F ? 0xffffffff : upper ? bits | 0x80000000 : bits;
}
inline std::int32_t to_i32(float x) {
  const bool inside = x > -2147483648.0F && x < 2147483648.0F;
  const std::int32_t value = static_cast<std::int32_t>(inside ? x : 0);
  return x >= 2147483648.0F    ? 0x7fffffff
         : x <= -2147483648.0F ? std::numeric_limits<std::int32_t>::min()
                               : value;
}
inline uint32_t to_u32(double x) {
  if (!(x > 0)) return 0;
  return x >= 4294967295.0 ? 0xffffffff : static_cast<uint32_t>(x);
}
inline std::int32_t to_i32(double x) {
  if (is_nan(x)) return 0;
  if (x >= 2147483647.0) return 0x7fffffff;
  return x <= -2147483648.0 ? std::numeric_limits<std::int32_t>::min() : static_cast<std::int32_t>(x);
}
template <class T>
std::int32_t to_small(T x, std::int32_t low, std::int32_t high) {
  if (is_nan(x)) return 0;
  return x <= static_cast<T>(low) ? low : x >= static_cast<T>(high) ? high : static_cast<std::int32_t>(x);
}

template <class T>
int frexp_exponent(T x) {
  int exponent = 0;
  if (std::isfinite(x)) static_cast<void>(std::frexp(x, &exponent));
  return exponent;
}
template <class T>
T frexp_mantissa(T x) {
  int exponent = 0;
  return std::isfinite(x) ? std::frexp(x, &exponent) : is_nan(x) ? quiet(x) : x;
}
inline float fraction(float x) {
  const float part = x - std::floor(x);
  return part >= 1 ? 0x1.fffffep-1F : part;
}
inline double fraction(double x) {
  const double part = x - std::floor(x);
  return part >= 1 ? 0x1.fffffffffffffp-1 : part;
}

// Of x turns. Exact where the hardware is only near: the last bits differ.
inline float sine_of_turns(float x) {
  return static_cast<float>(
      std::sin((static_cast<double>(x) - std::floor(static_cast<double>(x))) * 6.283185307179586));
}
inline float cosine_of_turns(float x) {
  return static_cast<float>(
      std::cos((static_cast<double>(x) - std::floor(static_cast<double>(x))) * 6.283185307179586));
}

inline uint32_t reverse_bits(uint32_t x) {
  x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
  x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
  x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
  return __builtin_bswap32(x);
}
inline uint32_t first_from_high(uint32_t x) {
  return x == 0 ? ~0U : static_cast<uint32_t>(std::countl_zero(x));
}
inline uint32_t first_from_low(uint32_t x) {
  return x == 0 ? ~0U : static_cast<uint32_t>(std::countr_zero(x));
}
inline uint32_t first_opposite(uint32_t x) { return first_from_high(x >> 31 != 0 ? ~x : x); }

inline std::int32_t sign_bits(uint32_t x, int bits) {
  return static_cast<std::int32_t>(x << (32 - bits)) >> (32 - bits);
}
inline uint32_t extract(uint32_t x, uint32_t offset, uint32_t width) {
  return x >> (offset & 31) & ((1U << (width & 31)) - 1);
}
inline std::int32_t extract_signed(uint32_t x, uint32_t offset, uint32_t width) {
  const int bits = static_cast<int>(width & 31);
  if (bits == 0) return 0;
  const std::int32_t moved = static_cast<std::int32_t>(x) >> (offset & 31);
  return static_cast<std::int32_t>(static_cast<uint32_t>(moved) << (32 - bits)) >> (32 - bits);
}

// Each byte of the result is one of eight, a sign, or a constant [CDNA2 V_PERM_B32].
inline uint32_t permute_bytes(uint32_t high, uint32_t low, uint32_t selector) {
  const uint64_t both = static_cast<uint64_t>(high) << 32 | low;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t pick = selector >> (8 * i) & 0xff;
    uint32_t byte = 0xff;
    if (pick < 8) byte = static_cast<uint32_t>(both >> (8 * pick)) & 0xff;
    if (pick >= 8 && pick < 12) byte = (both >> (16 * (pick - 8) + 15) & 1) != 0 ? 0xff : 0;
    if (pick == 12) byte = 0;
    result |= byte << (8 * i);
  }
  return result;
}

inline uint32_t absolute_difference(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }
// Sum of |a - b| of bytes; `masked`: only where b's byte is not 0.
inline uint32_t byte_differences(uint32_t a, uint32_t b, bool masked) {
  uint32_t sum = 0;
  for (int i = 0; i < 32; i += 8) {
    const uint32_t right = b >> i & 0xff;
    if (!masked || right != 0) sum += absolute_difference(a >> i & 0xff, right);
  }
  return sum;
}

// Sum of products of signed or unsigned parts of `bits` each, as v_dot4_i32_i8.
template <bool Signed>
inline std::int64_t dot(uint32_t a, uint32_t b, int bits) {
  std::int64_t sum = 0;
  const uint32_t mask = (1U << bits) - 1;
  for (int i = 0; i < 32; i += bits) {
    if (Signed) {
      sum += static_cast<std::int64_t>(sign_bits(a >> i & mask, bits)) * sign_bits(b >> i & mask, bits);
    } else {
      sum += static_cast<std::int64_t>(a >> i & mask) * (b >> i & mask);
    }
  }
  return sum;
}

inline std::int32_t saturate_i32(std::int64_t x) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(x, std::numeric_limits<std::int32_t>::min(), 0x7fffffff));
}
inline uint32_t saturate_u32(std::int64_t x) {
  return static_cast<uint32_t>(std::clamp<std::int64_t>(x, 0, 0xffffffff));
}

// As a float of which a half is made by cutting, not by rounding [CDNA2 V_CVT_PKRTZ_F16_F32].
inline uint32_t half_towards_zero(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t magnitude = bits & 0x7fffffff;
  const uint32_t sign = bits >> 16 & 0x8000;
  if (magnitude >= 0x7f800000) return float_to_half(x);
  if (magnitude >= 0x47800000) return sign | 0x7bff;
  if (magnitude >= 0x38800000) return sign | ((magnitude >> 13) - (112U << 10));
  return sign | static_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p24F);
}

}  // namespace tf::amd::isa
