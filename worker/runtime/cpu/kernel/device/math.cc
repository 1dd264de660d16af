// SPDX-License-Identifier: Apache-2.0
// AMD's math library names (__ocml_*) on the host's libm, for kernels on the CPU. Half precision variants are
// written by hipcc-cpu itself in terms of the float ones. Linked as IR, clang only; no state, any thread.
#include <math.h>
#include <stdint.h>

#define API extern "C" __attribute__((visibility("hidden")))

#define UNARY_NAMED(name, host32, host64)                      \
  API float __ocml_##name##_f32(float x) { return host32(x); } \
  API double __ocml_##name##_f64(double x) { return host64(x); }
#define UNARY(name) UNARY_NAMED(name, name##f, name)
#define BINARY_NAMED(name, host32, host64)                                 \
  API float __ocml_##name##_f32(float x, float y) { return host32(x, y); } \
  API double __ocml_##name##_f64(double x, double y) { return host64(x, y); }
#define BINARY(name) BINARY_NAMED(name, name##f, name)

namespace {
template <typename T>
constexpr T kPi = static_cast<T>(3.14159265358979323846264338327950288L);

// sin and cos of pi*x, from what x is away from the nearest half: exact, so nothing is lost near a zero.
template <typename T>
T turn(T x, int quarters) {
  const T halves = rint(2 * fmod(x, static_cast<T>(2)));
  const long double rest = kPi<long double> * (fmod(x, static_cast<T>(2)) - halves / 2);
  quarters += static_cast<int>(halves);
  const double value = (quarters & 1) == 0 ? sin(static_cast<double>(rest)) : cos(static_cast<double>(rest));
  return static_cast<T>((quarters & 2) == 0 ? value : -value);
}
template <typename T>
T sin_pi(T x) {
  if (!__builtin_isfinite(x)) return x - x;
  return x == rint(x) ? x * 0 : turn(x, 0);
}
template <typename T>
T cos_pi(T x) {
  if (!__builtin_isfinite(x)) return x - x;
  const T r = fabs(fmod(x, static_cast<T>(2)));
  return r == static_cast<T>(0.5) || r == static_cast<T>(1.5) ? 0 : turn(r, 1);
}
// The functions below are worked out in more digits than a double has, since roundings add up in them.
// Power series; converges for every finite argument (terms fall after x/2 of them).
long double bessel_i(int order, long double x) {
  long double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 2000; ++k) {
    term *= (x / 2) * (x / 2) / (static_cast<long double>(k) * (k + order));
    sum += term;
    if (fabsl(term) <= 1e-21L * fabsl(sum)) break;
  }
  return sum;
}
constexpr long double kRootOfPi = 1.7724538509055160272981674833411452L;
constexpr long double kRootOfTwo = 1.4142135623730950488016887242096981L;
// Halley's steps from near the root of f, which is erf or 1 - erfc, less a number.
template <typename Function>
long double erf_root(long double y, Function f) {
  for (int step = 0; step < 4; ++step) {
    const long double off = f(y) * kRootOfPi / 2 * expl(y * y);
    y -= off / (1 + y * off);
  }
  return y;
}
long double erfc_inverse(long double x);
long double erf_inverse(long double x) {
  if (fabsl(x) > 0.5L) return x > 0 ? erfc_inverse(1 - x) : -erfc_inverse(1 + x);
  const long double near = x * kRootOfPi / 2;
  return fabsl(x) < 1e-11L ? near : erf_root(near, [x](long double y) { return erfl(y) - x; });
}
long double erfc_inverse(long double x) {
  if (!(x > 0 && x < 2)) return x == 0 ? INFINITY : x == 2 ? -INFINITY : NAN;
  if (fabsl(1 - x) <= 0.5L) return erf_inverse(1 - x);
  if (x > 1) return -erfc_inverse(2 - x);
  const long double t = sqrtl(-2 * logl(x / 2));
  const long double quantile = t - (2.515517L + 0.802853L * t + 0.010328L * t * t) /
                                       (1 + 1.432788L * t + 0.189269L * t * t + 0.001308L * t * t * t);
  return erf_root(quantile / kRootOfTwo, [x](long double y) { return x - erfcl(y); });
}
long double erfc_scaled(long double x) {
  if (x < 100) return expl(x * x) * erfcl(x);
  const long double r = 1 / (x * x);
  return 1 / (x * kRootOfPi) * (1 - r / 2 * (1 - r * 3 / 2 * (1 - r * 5 / 2 * (1 - r * 7 / 2))));
}
long double distribution(long double x) { return erfcl(-x / kRootOfTwo) / 2; }
long double quantile(long double p) { return -kRootOfTwo * erfc_inverse(2 * p); }

// Several roundings in a number's own type add up. So lengths are worked out in a wider one, where no square
// overflows or vanishes.
double wide(float x) { return x; }
long double wide(double x) { return x; }
double cube_root(double x) { return cbrt(x); }  // not cbrtf()
double root(double x) { return sqrt(x); }
long double root(long double x) { return sqrtl(x); }
template <typename... T>
auto length(T... x) {
  return (... || __builtin_isinf(x)) ? INFINITY : root((... + (wide(x) * wide(x))));
}
// x times 2 to the power of e; what e is beyond the bounds changes no result.
template <typename T>
T scaled(T x, T e) {
  constexpr T bound = 1 << 16;
  if (__builtin_isnan(x) || __builtin_isnan(e)) return x + e;
  if (__builtin_isinf(e)) return e > 0 ? x * e : x / -e;
  return static_cast<T>(scalbn(x, static_cast<int>(rint(fmax(fmin(e, bound), -bound)))));
}
}  // namespace

UNARY(acos)
UNARY(acosh) UNARY(asin) UNARY(asinh) UNARY(atan) UNARY(atanh) UNARY(ceil) UNARY(cos) UNARY(cosh)
    UNARY(erf) UNARY(erfc) UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(fabs) UNARY(floor)
        UNARY(log) UNARY(log10) UNARY(log1p) UNARY(log2) UNARY(logb)
            UNARY(nearbyint) UNARY(rint) UNARY(round) UNARY(sin) UNARY(sinh) UNARY(sqrt) UNARY(tan)
                UNARY(tanh) UNARY(trunc) BINARY(atan2) BINARY(copysign) BINARY(fdim)
                    BINARY(fmax) BINARY(fmin) BINARY(fmod) BINARY(hypot) BINARY(nextafter) BINARY(pow)
                        BINARY(remainder) UNARY_NAMED(sinpi, sin_pi<float>, sin_pi<double>)
                            UNARY_NAMED(cospi, cos_pi<float>, cos_pi<double>)
                                UNARY_NAMED(exp10, exp10f, exp10) UNARY_NAMED(rsqrt, 1.0f / sqrtf, 1.0 / sqrt)
                                    UNARY_NAMED(cbrt, cbrtf, cbrtl)
                                        UNARY_NAMED(rcbrt, 1 / cube_root, 1 / cbrtl)
#define BY_DOUBLE(name, function)                                                 \
  API float __ocml_##name##_f32(float x) { return static_cast<float>(function); } \
  API double __ocml_##name##_f64(double x) { return function; }
                                        BY_DOUBLE(i0, bessel_i(0, x)) BY_DOUBLE(i1, bessel_i(1, x))
                                            BY_DOUBLE(erfinv, erf_inverse(x))
                                                BY_DOUBLE(erfcinv, erfc_inverse(x))
                                                    BY_DOUBLE(erfcx, erfc_scaled(x))
                                                        BY_DOUBLE(ncdf, distribution(x))
                                                            BY_DOUBLE(ncdfinv, quantile(x))

                                                                API float __ocml_native_cos_f32(float x) {
  return cosf(x);
}
API float __ocml_native_sin_f32(float x) { return sinf(x); }
API float __ocml_native_exp_f32(float x) { return expf(x); }
API float __ocml_native_exp10_f32(float x) { return exp10f(x); }
API float __ocml_native_log_f32(float x) { return logf(x); }
API float __ocml_native_log10_f32(float x) { return log10f(x); }
API float __ocml_native_log2_f32(float x) { return log2f(x); }
API float __ocml_native_sqrt_f32(float x) { return sqrtf(x); }

// libm's answers near zeros have few right digits.
#define EXACT_AT_ZEROS(name, near_zero)                                                              \
  API float __ocml_##name##_f32(float x) { return static_cast<float>(name(static_cast<double>(x))); } \
  API double __ocml_##name##_f64(double x) {                                                         \
    const double r = name(x);                                                                        \
    return near_zero ? static_cast<double>(name##l(x)) : r;                                          \
  }
EXACT_AT_ZEROS(j0, r * r * fabs(x) < 0.05)
EXACT_AT_ZEROS(j1, r * r * fabs(x) < 0.05)
EXACT_AT_ZEROS(y0, r * r * x < 0.05)
EXACT_AT_ZEROS(y1, r * r * x < 0.05)
EXACT_AT_ZEROS(lgamma, fabs(r) < 1)
API float __ocml_tgamma_f32(float x) { return static_cast<float>(tgamma(static_cast<double>(x))); }
API double __ocml_tgamma_f64(double x) { return tgamma(x); }

#define TYPED(T, suffix, f)                                                                             \
  API T __ocml_fma_##suffix(T a, T b, T c) { return __builtin_fma##f(a, b, c); }                        \
  API T __ocml_frexp_##suffix(T x, int32_t* e) { return frexp##f(x, e); }                               \
  API T __ocml_ldexp_##suffix(T x, int32_t e) { return ldexp##f(x, e); }                                \
  API T __ocml_scalbn_##suffix(T x, int32_t e) { return scalbn##f(x, e); }                              \
  API T __ocml_scalb_##suffix(T x, T e) { return scaled(x, e); }                                        \
  API T __ocml_pown_##suffix(T x, int32_t n) { return static_cast<T>(pow(static_cast<double>(x), n)); } \
  API T __ocml_modf_##suffix(T x, T* whole) { return modf##f(x, whole); }                               \
  API T __ocml_remquo_##suffix(T x, T y, int32_t* q) {                                                  \
    int32_t low_bits = 0; /* libm says none for what is no number */                                    \
    const T rest = remquo##f(x, y, &low_bits);                                                          \
    *q = low_bits;                                                                                      \
    return rest;                                                                                        \
  }                                                                                                     \
  API T __ocml_rhypot_##suffix(T x, T y) { return 1 / length(x, y); }                                   \
  API T __ocml_len3_##suffix(T x, T y, T z) { return length(x, y, z); }                                 \
  API T __ocml_len4_##suffix(T x, T y, T z, T w) { return length(x, y, z, w); }                         \
  API T __ocml_rlen3_##suffix(T x, T y, T z) { return 1 / length(x, y, z); }                            \
  API T __ocml_rlen4_##suffix(T x, T y, T z, T w) { return 1 / length(x, y, z, w); }                    \
  API int32_t __ocml_ilogb_##suffix(T x) { return ilogb##f(x); }                                        \
  API int32_t __ocml_isfinite_##suffix(T x) { return __builtin_isfinite(x); }                           \
  API int32_t __ocml_isinf_##suffix(T x) { return __builtin_isinf(x) != 0; }                            \
  API int32_t __ocml_isnan_##suffix(T x) { return __builtin_isnan(x); }                                 \
  API int32_t __ocml_signbit_##suffix(T x) { return __builtin_signbit##f(x) != 0; }                     \
  API T __ocml_sincos_##suffix(T x, T* cosine) {                                                        \
    *cosine = cos##f(x);                                                                                \
    return sin##f(x);                                                                                   \
  }                                                                                                     \
  API T __ocml_sincospi_##suffix(T x, T* cosine) {                                                      \
    *cosine = cos_pi<T>(x);                                                                             \
    return sin_pi<T>(x);                                                                                \
  }
TYPED(float, f32, f)
TYPED(double, f64, )

API float __hipr_amdgcn_rcp_f32(float x) { return 1.0f / x; }
API double __hipr_amdgcn_rcp_f64(double x) { return 1.0 / x; }
API float __hipr_amdgcn_rsq_f32(float x) { return 1.0f / sqrtf(x); }
API double __hipr_amdgcn_rsq_f64(double x) { return 1.0 / sqrt(x); }
API float __hipr_amdgcn_sqrt_f32(float x) { return sqrtf(x); }
API float __hipr_amdgcn_exp2_f32(float x) { return exp2f(x); }
API float __hipr_amdgcn_log_f32(float x) { return log2f(x); }
API float __hipr_amdgcn_sin_f32(float turns) { return static_cast<float>(sin(2 * kPi<double> * turns)); }
API float __hipr_amdgcn_cos_f32(float turns) { return static_cast<float>(cos(2 * kPi<double> * turns)); }
API float __hipr_amdgcn_fract_f32(float x) { return x - floorf(x); }
API float __hipr_amdgcn_fmed3_f32(float a, float b, float c) {
  return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}
API float __hipr_amdgcn_ldexp_f32(float x, int32_t e) { return ldexpf(x, e); }
API double __hipr_amdgcn_ldexp_f64(double x, int32_t e) { return ldexp(x, e); }

// The dot product of two pairs of halves, which come as floats. Saturated to [0, 1], as the instruction's clamp.
API float __hipr_fdot2(float a0, float a1, float b0, float b1, float c, uint32_t saturate) {
  const float sum = fmaf(a1, b1, fmaf(a0, b0, c));
  return saturate ? fminf(fmaxf(sum, 0.0f), 1.0f) : sum;
}

// Conversions that round in one direction: the nearest value, and a step where that lies on the other side.
namespace {
inline float step(float x, float to) { return nextafterf(x, to); }
inline double step(double x, double to) { return nextafter(x, to); }
template <typename T>
T directed(T nearest, float error, char mode) {
  const T infinity = static_cast<T>(INFINITY);
  const bool down = mode == 'n' || (mode == 'z' && nearest > 0);
  const bool up = mode == 'p' || (mode == 'z' && nearest < 0);
  if (error < 0 && down) return step(nearest, -infinity);
  if (error > 0 && up) return step(nearest, infinity);
  return nearest;
}
// Which side of r the value lies on. r of `limit` and more is beyond all integers of the type; doubles have no limit.
template <typename Value>
float side(Value value, double r, double limit) {
  if (r >= limit) return -1;
  const Value other = static_cast<Value>(r);
  return static_cast<float>(value > other) - static_cast<float>(value < other);
}
// The bits of the half next to x, on the way to zero.
uint32_t half_toward_zero(float x, bool& exact) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x), size = bits & 0x7fffffffu, sign = (bits >> 16) & 0x8000u;
  const int32_t exponent = static_cast<int32_t>(size >> 23) - 127;
  exact = true;
  if (size > 0x7f800000u) return sign | 0x7e00u | ((size >> 13) & 0x3ffu);
  if (size == 0x7f800000u || size == 0) return sign | (size ? 0x7c00u : 0u);
  exact = false;
  if (exponent > 15) return sign | 0x7bffu;
  if (exponent < -25) return sign;
  const uint32_t significand = (size & 0x7fffffu) | 0x800000u;
  const uint32_t drop = exponent < -14 ? static_cast<uint32_t>(-1 - exponent) : 13;
  exact = (significand & ((1u << drop) - 1)) == 0;
  const uint32_t biased = exponent < -14 ? 0 : static_cast<uint32_t>(exponent + 14) << 10;
  return sign | (biased + (significand >> drop));
}
uint32_t directed_half(float x, char mode) {
  bool exact = false;
  const uint32_t bits = half_toward_zero(x, exact);
  const bool away = mode == 'n' ? bits >> 15 != 0 : mode == 'p' && bits >> 15 == 0;
  return exact || !away ? bits : bits + 1;  // a carry runs into the exponent as it should
}
}  // namespace
#define CONVERSION(to, to_name, from, from_name, limit, mode, letter)                 \
  API to __ocml_cvt##mode##_##to_name##_##from_name(from x) {                         \
    const to r = static_cast<to>(x);                                                  \
    return directed<to>(r, side<from>(x, static_cast<double>(r), limit), letter);                  \
  }
#define CONVERSIONS(mode, letter)                                                     \
  API uint32_t __hipr_half_##mode(float x) { return directed_half(x, letter); }       \
  CONVERSION(float, f32, double, f64, NAN, mode, letter)                              \
  CONVERSION(float, f32, int32_t, s32, 0x1p31, mode, letter)                          \
  CONVERSION(float, f32, uint32_t, u32, 0x1p32, mode, letter)                         \
  CONVERSION(float, f32, int64_t, s64, 0x1p63, mode, letter)                          \
  CONVERSION(float, f32, uint64_t, u64, 0x1p64, mode, letter)                         \
  CONVERSION(double, f64, int64_t, s64, 0x1p63, mode, letter)                         \
  CONVERSION(double, f64, uint64_t, u64, 0x1p64, mode, letter)
CONVERSIONS(rtn, 'n')
CONVERSIONS(rtp, 'p')
CONVERSIONS(rtz, 'z')
