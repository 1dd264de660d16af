// SPDX-License-Identifier: Apache-2.0
// <math.h> for NVIDIA GPUs: the base for the functions that AMD's math library names
// (worker/runtime/cpu/kernel/device/math.cc). PTX has no C library. elementary.cc and special.cc define these
// under their own names, which no compiler treats specially, so that a test on the host can compare them with
// the system's. Bessel functions are missing.
#pragma once

#ifdef __CUDA__
#define HIPR_DEVICE_BEGIN _Pragma("clang force_cuda_host_device begin")
#define HIPR_DEVICE_END _Pragma("clang force_cuda_host_device end")
#else
#define HIPR_DEVICE_BEGIN
#define HIPR_DEVICE_END
#endif

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_SQRT2 1.41421356237309504880

#define HIPR_NAMED(name) __asm__("__hipr_" #name)
#define HIPR_UNARY(name)                \
  double name(double) HIPR_NAMED(name); \
  float name##f(float) HIPR_NAMED(name##f);
#define HIPR_BINARY(name)                       \
  double name(double, double) HIPR_NAMED(name); \
  float name##f(float, float) HIPR_NAMED(name##f);

HIPR_DEVICE_BEGIN
extern "C" {
HIPR_UNARY(acos)
HIPR_UNARY(acosh) HIPR_UNARY(asin) HIPR_UNARY(asinh) HIPR_UNARY(atan) HIPR_UNARY(atanh) HIPR_UNARY(cbrt)
    HIPR_UNARY(ceil) HIPR_UNARY(cos) HIPR_UNARY(cosh) HIPR_UNARY(erf) HIPR_UNARY(erfc) HIPR_UNARY(exp)
        HIPR_UNARY(exp10) HIPR_UNARY(exp2) HIPR_UNARY(expm1) HIPR_UNARY(fabs) HIPR_UNARY(floor) HIPR_UNARY(j0)
            HIPR_UNARY(j1) HIPR_UNARY(y0) HIPR_UNARY(y1) HIPR_UNARY(lgamma) HIPR_UNARY(log) HIPR_UNARY(log10)
                HIPR_UNARY(log1p) HIPR_UNARY(log2) HIPR_UNARY(logb) HIPR_UNARY(nearbyint) HIPR_UNARY(rint)
                    HIPR_UNARY(round) HIPR_UNARY(sin) HIPR_UNARY(sinh) HIPR_UNARY(sqrt) HIPR_UNARY(tan)
                        HIPR_UNARY(tanh) HIPR_UNARY(tgamma) HIPR_UNARY(trunc) HIPR_BINARY(atan2)
                            HIPR_BINARY(copysign) HIPR_BINARY(fdim) HIPR_BINARY(fmax) HIPR_BINARY(fmin)
                                HIPR_BINARY(fmod) HIPR_BINARY(hypot) HIPR_BINARY(nextafter) HIPR_BINARY(pow)
                                    HIPR_BINARY(remainder) double fma(double, double, double) HIPR_NAMED(fma);
float fmaf(float, float, float) HIPR_NAMED(fmaf);
double frexp(double, int*) HIPR_NAMED(frexp);
float frexpf(float, int*) HIPR_NAMED(frexpf);
double ldexp(double, int) HIPR_NAMED(ldexp);
float ldexpf(float, int) HIPR_NAMED(ldexpf);
double scalbn(double, int) HIPR_NAMED(scalbn);
float scalbnf(float, int) HIPR_NAMED(scalbnf);
double modf(double, double*) HIPR_NAMED(modf);
float modff(float, float*) HIPR_NAMED(modff);
double remquo(double, double, int*) HIPR_NAMED(remquo);
float remquof(float, float, int*) HIPR_NAMED(remquof);
int ilogb(double) HIPR_NAMED(ilogb);
int ilogbf(float) HIPR_NAMED(ilogbf);
}

// PTX has no type that is wider than double: a long double is one.
inline long double cbrtl(long double x) { return cbrt(static_cast<double>(x)); }
inline long double erfl(long double x) { return erf(static_cast<double>(x)); }
inline long double erfcl(long double x) { return erfc(static_cast<double>(x)); }
inline long double expl(long double x) { return exp(static_cast<double>(x)); }
inline long double fabsl(long double x) { return fabs(static_cast<double>(x)); }
inline long double j0l(long double x) { return j0(static_cast<double>(x)); }
inline long double j1l(long double x) { return j1(static_cast<double>(x)); }
inline long double lgammal(long double x) { return lgamma(static_cast<double>(x)); }
inline long double logl(long double x) { return log(static_cast<double>(x)); }
inline long double sqrtl(long double x) { return sqrt(static_cast<double>(x)); }
inline long double y0l(long double x) { return y0(static_cast<double>(x)); }
inline long double y1l(long double x) { return y1(static_cast<double>(x)); }
HIPR_DEVICE_END
