// SPDX-License-Identifier: Apache-2.0
// bfloat16 for headers of HIP that have no hip_bf16.h: the types and functions of HIP 6 by name. Values are kept in 16
// bits, the upper ones of a float; arithmetic is float's, rounded to nearest even.
#pragma once

#if __has_include_next(<hip/hip_bf16.h>)
#include_next <hip/hip_bf16.h>
#else

#include <hip/hip_runtime.h>
#include <hip/hipr_pair_atomics.h>
#include <math.h>

#define HIPR_BF16 __host__ __device__ inline

struct __hip_bfloat16_raw {
  unsigned short x;
};
struct __hip_bfloat162_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __hip_bfloat16 {
  unsigned short __x;

  __hip_bfloat16() = default;
  __host__ __device__ __hip_bfloat16(const __hip_bfloat16_raw& raw) : __x(raw.x) {}
  __host__ __device__ __hip_bfloat16(float value) : __x(round(value)) {}
  __host__ __device__ __hip_bfloat16(double value) : __x(round(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(int value) : __x(round(static_cast<float>(value))) {}
  __host__ __device__ __hip_bfloat16(unsigned int value) : __x(round(static_cast<float>(value))) {}
  __host__ __device__ operator __hip_bfloat16_raw() const { return {__x}; }
  __host__ __device__ operator float() const {
    const unsigned int bits = static_cast<unsigned int>(__x) << 16;
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  }

 private:
  // A NaN stays one: its quiet bit is set, and it is not rounded.
  static __host__ __device__ unsigned short round(float value) {
    unsigned int bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<unsigned short>((bits >> 16) | 0x40u);
    return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
};
static_assert(sizeof(__hip_bfloat16) == 2, "as in memory");

struct __attribute__((aligned(4))) __hip_bfloat162 {
  __hip_bfloat16 x, y;

  __hip_bfloat162() = default;
  __host__ __device__ __hip_bfloat162(const __hip_bfloat16& a, const __hip_bfloat16& b) : x(a), y(b) {}
  __host__ __device__ __hip_bfloat162(const __hip_bfloat162_raw& raw)
      : x(__hip_bfloat16_raw{raw.x}), y(__hip_bfloat16_raw{raw.y}) {}
  __host__ __device__ __hip_bfloat162(const float2& both) : x(both.x), y(both.y) {}
  __host__ __device__ operator __hip_bfloat162_raw() const { return {x.__x, y.__x}; }
  __host__ __device__ operator float2() const {
    return make_float2(static_cast<float>(x), static_cast<float>(y));
  }
};
static_assert(sizeof(__hip_bfloat162) == 4, "as in memory");

// ---- conversions
HIPR_BF16 __hip_bfloat16 __float2bfloat16(float a) { return {a}; }
HIPR_BF16 __hip_bfloat16 __float2bfloat16_rn(float a) { return {a}; }
HIPR_BF16 __hip_bfloat16 __double2bfloat16(double a) { return {a}; }
HIPR_BF16 __hip_bfloat16 __int2bfloat16_rn(int a) { return {a}; }
HIPR_BF16 __hip_bfloat16 __uint2bfloat16_rn(unsigned int a) { return {a}; }
HIPR_BF16 float __bfloat162float(__hip_bfloat16 a) { return a; }
HIPR_BF16 int __bfloat162int_rn(__hip_bfloat16 a) { return static_cast<int>(::rintf(a)); }
HIPR_BF16 __hip_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
HIPR_BF16 __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
HIPR_BF16 __hip_bfloat162 __float22bfloat162_rn(float2 a) { return {a}; }
HIPR_BF16 float2 __bfloat1622float2(__hip_bfloat162 a) { return a; }
HIPR_BF16 __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return {a, a}; }
HIPR_BF16 __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return {a, b}; }
HIPR_BF16 __hip_bfloat16 __low2bfloat16(__hip_bfloat162 a) { return a.x; }
HIPR_BF16 __hip_bfloat16 __high2bfloat16(__hip_bfloat162 a) { return a.y; }
HIPR_BF16 float __low2float(__hip_bfloat162 a) { return a.x; }
HIPR_BF16 float __high2float(__hip_bfloat162 a) { return a.y; }
HIPR_BF16 __hip_bfloat162 __low2bfloat162(__hip_bfloat162 a) { return {a.x, a.x}; }
HIPR_BF16 __hip_bfloat162 __high2bfloat162(__hip_bfloat162 a) { return {a.y, a.y}; }
HIPR_BF16 __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.x, b.x}; }
HIPR_BF16 __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.y, b.y}; }
HIPR_BF16 __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 a) { return {a.y, a.x}; }
HIPR_BF16 short __bfloat16_as_short(__hip_bfloat16 a) { return static_cast<short>(a.__x); }
HIPR_BF16 unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return a.__x; }
HIPR_BF16 __hip_bfloat16 __short_as_bfloat16(short a) { return __hip_bfloat16_raw{static_cast<unsigned short>(a)}; }
HIPR_BF16 __hip_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __hip_bfloat16_raw{a}; }

// ---- arithmetic: __hadd(a, b), its pair __hadd2(a, b), and the operators
#define HIPR_BF16_BINARY(name, op)                                                                   \
  HIPR_BF16 __hip_bfloat16 __h##name(__hip_bfloat16 a, __hip_bfloat16 b) {                           \
    return {static_cast<float>(a) op static_cast<float>(b)};                                         \
  }                                                                                                  \
  HIPR_BF16 __hip_bfloat162 __h##name##2(__hip_bfloat162 a, __hip_bfloat162 b) {                     \
    return {__h##name(a.x, b.x), __h##name(a.y, b.y)};                                               \
  }                                                                                                  \
  HIPR_BF16 __hip_bfloat16 operator op(const __hip_bfloat16& a, const __hip_bfloat16& b) {           \
    return __h##name(a, b);                                                                          \
  }                                                                                                  \
  HIPR_BF16 __hip_bfloat162 operator op(const __hip_bfloat162& a, const __hip_bfloat162& b) {        \
    return __h##name##2(a, b);                                                                       \
  }                                                                                                  \
  HIPR_BF16 __hip_bfloat16& operator op##=(__hip_bfloat16& a, const __hip_bfloat16& b) { return a = a op b; } \
  HIPR_BF16 __hip_bfloat162& operator op##=(__hip_bfloat162& a, const __hip_bfloat162& b) { return a = a op b; }
HIPR_BF16_BINARY(add, +)
HIPR_BF16_BINARY(sub, -)
HIPR_BF16_BINARY(mul, *)
HIPR_BF16_BINARY(div, /)
#undef HIPR_BF16_BINARY
HIPR_BF16 __hip_bfloat162 h2div(__hip_bfloat162 a, __hip_bfloat162 b) { return __hdiv2(a, b); }
HIPR_BF16 __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) {
  return {::fmaf(a, b, c)};
}
HIPR_BF16 __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
HIPR_BF16 __hip_bfloat16 __hneg(__hip_bfloat16 a) {
  return __hip_bfloat16_raw{static_cast<unsigned short>(a.__x ^ 0x8000u)};
}
HIPR_BF16 __hip_bfloat16 __habs(__hip_bfloat16 a) {
  return __hip_bfloat16_raw{static_cast<unsigned short>(a.__x & 0x7fffu)};
}
HIPR_BF16 __hip_bfloat162 __hneg2(__hip_bfloat162 a) { return {__hneg(a.x), __hneg(a.y)}; }
HIPR_BF16 __hip_bfloat162 __habs2(__hip_bfloat162 a) { return {__habs(a.x), __habs(a.y)}; }
HIPR_BF16 __hip_bfloat16 operator-(const __hip_bfloat16& a) { return __hneg(a); }
HIPR_BF16 __hip_bfloat162 operator-(const __hip_bfloat162& a) { return __hneg2(a); }

// ---- comparisons: __hlt(a, b), of pairs __hlt2 (1 or 0 each) and __hbeq2 and its like (both)
#define HIPR_BF16_COMPARE(name, op)                                                                  \
  HIPR_BF16 bool __h##name(__hip_bfloat16 a, __hip_bfloat16 b) {                                     \
    return static_cast<float>(a) op static_cast<float>(b);                                           \
  }                                                                                                  \
  HIPR_BF16 __hip_bfloat162 __h##name##2(__hip_bfloat162 a, __hip_bfloat162 b) {                     \
    return {__h##name(a.x, b.x) ? 1.0f : 0.0f, __h##name(a.y, b.y) ? 1.0f : 0.0f};                   \
  }                                                                                                  \
  HIPR_BF16 bool __hb##name##2(__hip_bfloat162 a, __hip_bfloat162 b) {                               \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                               \
  }                                                                                                  \
  HIPR_BF16 bool operator op(const __hip_bfloat16& a, const __hip_bfloat16& b) { return __h##name(a, b); }
HIPR_BF16_COMPARE(eq, ==)
HIPR_BF16_COMPARE(ne, !=)
HIPR_BF16_COMPARE(lt, <)
HIPR_BF16_COMPARE(le, <=)
HIPR_BF16_COMPARE(gt, >)
HIPR_BF16_COMPARE(ge, >=)
#undef HIPR_BF16_COMPARE
HIPR_BF16 bool __hisnan(__hip_bfloat16 a) { return (a.__x & 0x7fffu) > 0x7f80u; }
HIPR_BF16 int __hisinf(__hip_bfloat16 a) {
  return (a.__x & 0x7fffu) != 0x7f80u ? 0 : (a.__x & 0x8000u) != 0 ? -1 : 1;
}
HIPR_BF16 __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b) { return {::fmaxf(a, b)}; }
HIPR_BF16 __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b) { return {::fminf(a, b)}; }
HIPR_BF16 __hip_bfloat162 __hmax2(__hip_bfloat162 a, __hip_bfloat162 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
HIPR_BF16 __hip_bfloat162 __hmin2(__hip_bfloat162 a, __hip_bfloat162 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }

// ---- mathematics: hexp(a) and its pair h2exp(a)
#define HIPR_BF16_MATH(name, value)                                                                  \
  HIPR_BF16 __hip_bfloat16 h##name(__hip_bfloat16 a) {                                               \
    const float x = a;                                                                               \
    return {value};                                                                                  \
  }                                                                                                  \
  HIPR_BF16 __hip_bfloat162 h2##name(__hip_bfloat162 a) { return {h##name(a.x), h##name(a.y)}; }
HIPR_BF16_MATH(exp, ::expf(x))
HIPR_BF16_MATH(exp2, ::exp2f(x))
HIPR_BF16_MATH(exp10, ::powf(10.0f, x))
HIPR_BF16_MATH(log, ::logf(x))
HIPR_BF16_MATH(log2, ::log2f(x))
HIPR_BF16_MATH(log10, ::log10f(x))
HIPR_BF16_MATH(sqrt, ::sqrtf(x))
HIPR_BF16_MATH(rsqrt, 1.0f / ::sqrtf(x))
HIPR_BF16_MATH(rcp, 1.0f / x)
HIPR_BF16_MATH(sin, ::sinf(x))
HIPR_BF16_MATH(cos, ::cosf(x))
HIPR_BF16_MATH(floor, ::floorf(x))
HIPR_BF16_MATH(ceil, ::ceilf(x))
HIPR_BF16_MATH(rint, ::rintf(x))
HIPR_BF16_MATH(trunc, ::truncf(x))
#undef HIPR_BF16_MATH
#undef HIPR_BF16

// ---- atomics; returns the pair that was there
#ifdef __HIP__
__device__ inline __hip_bfloat162 unsafeAtomicAdd(__hip_bfloat162* address, __hip_bfloat162 value) {
  return hipr::add_to_pair(address, value, [](__hip_bfloat162 a, __hip_bfloat162 b) { return __hadd2(a, b); });
}
#endif

#endif
