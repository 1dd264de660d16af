// SPDX-License-Identifier: Apache-2.0
// 8-bit floating point for headers of HIP that have no hip_fp8.h: the types and functions of HIP 6 by name.
// Formats: OCP 8-bit Floating Point Specification (E4M3, E5M2), and those of CDNA 3, which have one zero and
// one NaN (FNUZ). Values are rounded to nearest even. __HIP_SATFINITE makes what is too large, infinity
// included, the largest number; without it that is infinity in E5M2 and NaN in the others, which have no
// infinity.
#pragma once

#if __has_include_next(<hip/hip_fp8.h>)
#include_next <hip/hip_fp8.h>
#else

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#define HIPR_FP8 __host__ __device__ inline

enum __hip_fp8_interpretation_t { __HIP_E4M3 = 0, __HIP_E5M2 = 1, __HIP_E4M3_FNUZ = 2, __HIP_E5M2_FNUZ = 3 };
enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short int __hip_fp8x2_storage_t;  // the first number is in the lower bits
typedef unsigned int __hip_fp8x4_storage_t;

namespace hipr {

// One of the formats. Codes are without the sign, which is the uppermost bit.
struct Fp8 {
  int mantissa_bits, bias;
  unsigned int largest, overflow, nan;  // the largest number; what is beyond it without saturation
  bool one_zero;                        // 0x80 is the only NaN, and zero has no sign

  explicit constexpr __host__ __device__ Fp8(__hip_fp8_interpretation_t kind)
      : mantissa_bits(kind == __HIP_E4M3 || kind == __HIP_E4M3_FNUZ ? 3 : 2),
        bias(kind == __HIP_E4M3        ? 7
             : kind == __HIP_E5M2      ? 15
             : kind == __HIP_E4M3_FNUZ ? 8
                                       : 16),
        largest(kind == __HIP_E4M3   ? 0x7e
                : kind == __HIP_E5M2 ? 0x7b
                                     : 0x7f),
        overflow(kind == __HIP_E4M3 ? 0x7f : 0x7c),
        nan(0x7f),
        one_zero(kind == __HIP_E4M3_FNUZ || kind == __HIP_E5M2_FNUZ) {}
};

// The nearest code of a finite magnitude, as if the format had no largest number. Every float, half and
// bfloat16 is a double exactly, so nothing is rounded twice.
HIPR_FP8 unsigned int fp8_nearest(unsigned long long magnitude, const Fp8& format) {
  const int exponent = static_cast<int>(magnitude >> 52) - 1023, least = 1 - format.bias;
  const int missing = exponent < least ? least - exponent : 0;  // places that a subnormal number lacks
  const int shift = 52 - format.mantissa_bits + missing;
  if (shift > 53) return 0;  // less than half of the smallest number; all subnormal doubles are
  const unsigned long long whole = (1ull << 52) | (magnitude & ((1ull << 52) - 1));
  const unsigned long long rest = whole & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  unsigned int code = static_cast<unsigned int>(whole >> shift);
  if (rest > half || (rest == half && code % 2 == 1)) ++code;
  // The leading one counts as an exponent, and a carry goes to the next one.
  return missing > 0 ? code : code + (static_cast<unsigned int>(exponent - least) << format.mantissa_bits);
}

HIPR_FP8 __hip_fp8_storage_t fp8_of(double value, __hip_saturation_t saturation,
                                    __hip_fp8_interpretation_t kind) {
  constexpr unsigned long long kInfinity = 0x7ffull << 52;
  const Fp8 format(kind);
  unsigned long long bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  const unsigned int sign = static_cast<unsigned int>(bits >> 63) << 7;
  const unsigned long long magnitude = bits & ~(1ull << 63);
  const bool is_nan = magnitude > kInfinity;
  unsigned int code = is_nan || magnitude == kInfinity ? 0x80 : fp8_nearest(magnitude, format);
  const bool too_large = !is_nan && code > format.largest;
  if (too_large) code = saturation == __HIP_SATFINITE ? format.largest : format.overflow;
  if (is_nan) code = format.nan;
  if (!format.one_zero) return static_cast<__hip_fp8_storage_t>(sign | code);
  if (is_nan || (too_large && saturation != __HIP_SATFINITE)) return 0x80;
  return static_cast<__hip_fp8_storage_t>(code == 0 ? 0 : sign | code);
}

HIPR_FP8 bool fp8_is_nan(unsigned int storage, __hip_fp8_interpretation_t kind) {
  if (Fp8(kind).one_zero) return storage == 0x80;
  return (storage & 0x7f) > (kind == __HIP_E4M3 ? 0x7eu : 0x7cu);
}

// Every number of these formats is a float, and all but infinity and NaN are normal floats.
HIPR_FP8 float fp8_value(unsigned int storage, __hip_fp8_interpretation_t kind) {
  const Fp8 format(kind);
  const unsigned int code = storage & 0x7f;
  if (fp8_is_nan(storage, kind)) return __builtin_nanf("");
  if (kind == __HIP_E5M2 && code == 0x7c) return storage == code ? __builtin_inff() : -__builtin_inff();
  const int field = static_cast<int>(code >> format.mantissa_bits);
  const unsigned int one = 1u << format.mantissa_bits, fraction = code & (one - 1);
  const int exponent = (field == 0 ? 1 : field) - format.bias - format.mantissa_bits;
  const unsigned int scale_bits = static_cast<unsigned int>(exponent + 127) << 23;
  float scale;
  __builtin_memcpy(&scale, &scale_bits, sizeof scale);
  const float magnitude = static_cast<float>(field == 0 ? fraction : one + fraction) * scale;
  return storage == code ? magnitude : -magnitude;
}

// Towards zero, within the limits of Integer; NaN is 0.
template <typename Integer>
HIPR_FP8 Integer fp8_integer(unsigned int storage, __hip_fp8_interpretation_t kind) {
  constexpr bool is_signed = static_cast<Integer>(-1) < static_cast<Integer>(0);
  constexpr Integer least = is_signed ? static_cast<Integer>(1ull << (8 * sizeof(Integer) - 1)) : Integer(0);
  constexpr Integer most = static_cast<Integer>(~static_cast<unsigned long long>(least));
  if (fp8_is_nan(storage, kind)) return 0;
  const float value = fp8_value(storage, kind);
  if (value <= static_cast<float>(least)) return least;
  return value >= static_cast<float>(most) ? most : static_cast<Integer>(value);
}

template <typename To, typename From>
HIPR_FP8 To fp8_same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

HIPR_FP8 __hip_fp8x2_storage_t fp8_pair(unsigned int first, unsigned int second) {
  return static_cast<__hip_fp8x2_storage_t>(first | second << 8);
}

HIPR_FP8 __half_raw fp8_half(unsigned int storage, __hip_fp8_interpretation_t kind) {
  return fp8_same_bits<__half_raw>(static_cast<_Float16>(fp8_value(storage, kind)));
}

HIPR_FP8 double fp8_from(__half_raw value) { return fp8_same_bits<_Float16>(value); }
HIPR_FP8 double fp8_from(__hip_bfloat16_raw value) { return static_cast<float>(__hip_bfloat16(value)); }

// Two numbers of 16 bits each, as they lie in memory.
template <typename Raw>
struct Fp8Pair {
  Raw x, y;
};

}  // namespace hipr

// ---- conversions by function
#define HIPR_FP8_TO(name, pair_name, type, pair_type)                                                        \
  HIPR_FP8 __hip_fp8_storage_t name(const type value, const __hip_saturation_t saturation,                   \
                                    const __hip_fp8_interpretation_t kind) {                                 \
    return hipr::fp8_of(value, saturation, kind);                                                            \
  }                                                                                                          \
  HIPR_FP8 __hip_fp8x2_storage_t pair_name(const pair_type value, const __hip_saturation_t saturation,       \
                                           const __hip_fp8_interpretation_t kind) {                          \
    return hipr::fp8_pair(hipr::fp8_of(value.x, saturation, kind), hipr::fp8_of(value.y, saturation, kind)); \
  }
HIPR_FP8_TO(__hip_cvt_float_to_fp8, __hip_cvt_float2_to_fp8x2, float, float2)
HIPR_FP8_TO(__hip_cvt_double_to_fp8, __hip_cvt_double2_to_fp8x2, double, double2)
#undef HIPR_FP8_TO

#define HIPR_FP8_TO_RAW(name, pair_name, raw, pair_raw)                                               \
  HIPR_FP8 __hip_fp8_storage_t name(const raw value, const __hip_saturation_t saturation,             \
                                    const __hip_fp8_interpretation_t kind) {                          \
    return hipr::fp8_of(hipr::fp8_from(value), saturation, kind);                                     \
  }                                                                                                   \
  HIPR_FP8 __hip_fp8x2_storage_t pair_name(const pair_raw value, const __hip_saturation_t saturation, \
                                           const __hip_fp8_interpretation_t kind) {                   \
    const auto both = hipr::fp8_same_bits<hipr::Fp8Pair<raw>>(value);                                 \
    return hipr::fp8_pair(name(both.x, saturation, kind), name(both.y, saturation, kind));            \
  }
HIPR_FP8_TO_RAW(__hip_cvt_halfraw_to_fp8, __hip_cvt_halfraw2_to_fp8x2, __half_raw, __half2_raw)
HIPR_FP8_TO_RAW(__hip_cvt_bfloat16raw_to_fp8, __hip_cvt_bfloat16raw2_to_fp8x2, __hip_bfloat16_raw,
                __hip_bfloat162_raw)
#undef HIPR_FP8_TO_RAW

HIPR_FP8 __half_raw __hip_cvt_fp8_to_halfraw(const __hip_fp8_storage_t x,
                                             const __hip_fp8_interpretation_t kind) {
  return hipr::fp8_half(x, kind);
}
HIPR_FP8 __half2_raw __hip_cvt_fp8x2_to_halfraw2(const __hip_fp8x2_storage_t x,
                                                 const __hip_fp8_interpretation_t kind) {
  const hipr::Fp8Pair<__half_raw> both = {hipr::fp8_half(x & 0xff, kind), hipr::fp8_half(x >> 8, kind)};
  return hipr::fp8_same_bits<__half2_raw>(both);
}

// ---- the types, which saturate
namespace hipr {

template <typename Storage, __hip_fp8_interpretation_t kind>
struct Fp8Stored {
  Storage __x;

  static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
  static constexpr __hip_fp8_interpretation_t __default_interpret = kind;
  static constexpr unsigned int __wm = Fp8(kind).mantissa_bits;
  static constexpr unsigned int __we = 7 - __wm;

  Fp8Stored() = default;

 protected:
  explicit __host__ __device__ Fp8Stored(Storage x) : __x(x) {}
  static __host__ __device__ Storage code(double value) { return fp8_of(value, __HIP_SATFINITE, kind); }
  __host__ __device__ float number(int which) const { return fp8_value(__x >> (8 * which) & 0xff, kind); }
  __host__ __device__ __half half(int which) const { return fp8_half(__x >> (8 * which) & 0xff, kind); }
};

template <__hip_fp8_interpretation_t kind>
struct Fp8One : Fp8Stored<__hip_fp8_storage_t, kind> {
  using Stored = Fp8Stored<__hip_fp8_storage_t, kind>;
  using Stored::__x;

  Fp8One() = default;
#define HIPR_FP8_FROM(type) \
  __host__ __device__ Fp8One(const type value) : Stored(Stored::code(static_cast<double>(value))) {}
  HIPR_FP8_FROM(short int)
  HIPR_FP8_FROM(unsigned short int)
  HIPR_FP8_FROM(int)
  HIPR_FP8_FROM(unsigned int)
  HIPR_FP8_FROM(long int)
  HIPR_FP8_FROM(unsigned long int)
  HIPR_FP8_FROM(float)
  HIPR_FP8_FROM(double)
#undef HIPR_FP8_FROM
  __host__ __device__ Fp8One(const __half value)
      : Stored(Stored::code(fp8_from(fp8_same_bits<__half_raw>(value)))) {}
  __host__ __device__ Fp8One(const __hip_bfloat16 value)
      : Stored(Stored::code(fp8_from(fp8_same_bits<__hip_bfloat16_raw>(value)))) {}

  __host__ __device__ operator __half() const { return Stored::half(0); }
  __host__ __device__ operator __hip_bfloat16() const { return __hip_bfloat16(Stored::number(0)); }
  __host__ __device__ operator bool() const { return (Fp8(kind).one_zero ? __x : __x & 0x7f) != 0; }
  __host__ __device__ operator float() const { return Stored::number(0); }
  __host__ __device__ operator double() const { return Stored::number(0); }
#define HIPR_FP8_INTEGER(type) \
  __host__ __device__ operator type() const { return fp8_integer<type>(__x, kind); }
  HIPR_FP8_INTEGER(char)
  HIPR_FP8_INTEGER(signed char)
  HIPR_FP8_INTEGER(unsigned char)
  HIPR_FP8_INTEGER(short int)
  HIPR_FP8_INTEGER(unsigned short int)
  HIPR_FP8_INTEGER(int)
  HIPR_FP8_INTEGER(unsigned int)
  HIPR_FP8_INTEGER(long int)
  HIPR_FP8_INTEGER(unsigned long int)
  HIPR_FP8_INTEGER(long long int)
  HIPR_FP8_INTEGER(unsigned long long int)
#undef HIPR_FP8_INTEGER
};

template <__hip_fp8_interpretation_t kind>
struct Fp8Two : Fp8Stored<__hip_fp8x2_storage_t, kind> {
  using Stored = Fp8Stored<__hip_fp8x2_storage_t, kind>;

  Fp8Two() = default;
  __host__ __device__ Fp8Two(const double2 v)
      : Stored(__hip_cvt_double2_to_fp8x2(v, __HIP_SATFINITE, kind)) {}
  __host__ __device__ Fp8Two(const float2 v) : Stored(__hip_cvt_float2_to_fp8x2(v, __HIP_SATFINITE, kind)) {}
  __host__ __device__ Fp8Two(const __half2 v)
      : Stored(__hip_cvt_halfraw2_to_fp8x2(fp8_same_bits<__half2_raw>(v), __HIP_SATFINITE, kind)) {}
  __host__ __device__ Fp8Two(const __hip_bfloat162 v)
      : Stored(
            __hip_cvt_bfloat16raw2_to_fp8x2(fp8_same_bits<__hip_bfloat162_raw>(v), __HIP_SATFINITE, kind)) {}

  __host__ __device__ operator __half2() const { return __half2(Stored::half(0), Stored::half(1)); }
  __host__ __device__ operator float2() const { return make_float2(Stored::number(0), Stored::number(1)); }
};

template <__hip_fp8_interpretation_t kind>
struct Fp8Four : Fp8Stored<__hip_fp8x4_storage_t, kind> {
  using Stored = Fp8Stored<__hip_fp8x4_storage_t, kind>;
  using Two = Fp8Two<kind>;

  Fp8Four() = default;
  __host__ __device__ Fp8Four(const double4 v)
      : Fp8Four(Two(make_double2(v.x, v.y)), Two(make_double2(v.z, v.w))) {}
  __host__ __device__ Fp8Four(const float4 v)
      : Fp8Four(Two(make_float2(v.x, v.y)), Two(make_float2(v.z, v.w))) {}
  __host__ __device__ Fp8Four(const __half2 low, const __half2 high) : Fp8Four(Two(low), Two(high)) {}
  __host__ __device__ Fp8Four(const __hip_bfloat162 low, const __hip_bfloat162 high)
      : Fp8Four(Two(low), Two(high)) {}

  __host__ __device__ operator float4() const {
    return make_float4(Stored::number(0), Stored::number(1), Stored::number(2), Stored::number(3));
  }

 private:
  __host__ __device__ Fp8Four(Two low, Two high)
      : Stored(low.__x | static_cast<__hip_fp8x4_storage_t>(high.__x) << 16) {}
};

}  // namespace hipr

#define HIPR_FP8_TYPES(name, kind)                                                                         \
  struct __hip_fp8_##name : hipr::Fp8One<kind> {                                                           \
    using hipr::Fp8One<kind>::Fp8One;                                                                      \
    __hip_fp8_##name() = default;                                                                          \
  };                                                                                                       \
  struct __hip_fp8x2_##name : hipr::Fp8Two<kind> {                                                         \
    using hipr::Fp8Two<kind>::Fp8Two;                                                                      \
    __hip_fp8x2_##name() = default;                                                                        \
  };                                                                                                       \
  struct __hip_fp8x4_##name : hipr::Fp8Four<kind> {                                                        \
    using hipr::Fp8Four<kind>::Fp8Four;                                                                    \
    __hip_fp8x4_##name() = default;                                                                        \
  };                                                                                                       \
  static_assert(                                                                                           \
      sizeof(__hip_fp8_##name) == 1 && sizeof(__hip_fp8x2_##name) == 2 && sizeof(__hip_fp8x4_##name) == 4, \
      "as in memory");
HIPR_FP8_TYPES(e4m3, __HIP_E4M3)
HIPR_FP8_TYPES(e5m2, __HIP_E5M2)
HIPR_FP8_TYPES(e4m3_fnuz, __HIP_E4M3_FNUZ)
HIPR_FP8_TYPES(e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef HIPR_FP8_TYPES
#undef HIPR_FP8

#endif
