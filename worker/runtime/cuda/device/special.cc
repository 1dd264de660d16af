// SPDX-License-Identifier: Apache-2.0
// The rest of <math.h> for NVIDIA GPUs: what the hardware has, remainders, error and gamma functions (these
// to about ten units in the last place; lgamma near its zeros at 1 and 2 is exact absolutely, not
// relatively).
//
// Pure functions; compiled by clang as CUDA, and by a test for the host.
#include <math.h>
#include <stdint.h>

HIPR_DEVICE_BEGIN

namespace {
constexpr double kInfinity = __builtin_inf();
constexpr double kNan = __builtin_nan("");
constexpr double kPi = 3.14159265358979323846;

template <typename To, typename From>
inline To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpretation");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// |x| mod |y| and the low bits of the quotient; both finite, y not 0.
inline double divide(double x, double y, uint32_t& quotient) {
  quotient = 0;
  x = __builtin_fabs(x);
  y = __builtin_fabs(y);
  if (x < y) return x;
  int ex = 0, ey = 0;
  uint64_t mx = static_cast<uint64_t>(ldexp(frexp(x, &ex), 53)),
           my = static_cast<uint64_t>(ldexp(frexp(y, &ey), 53));
  for (int left = ex - ey;; --left) {
    quotient <<= 1;
    if (mx >= my) {
      mx -= my;
      quotient |= 1;
    }
    if (left == 0) break;
    mx <<= 1;
  }
  return ldexp(static_cast<double>(mx), ey - 53);
}
// Next to x on the way to y, on the bits of either width.
template <typename T, typename Bits>
inline T step(T x, T y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return __builtin_copysign(same_bits<T>(Bits{1}), y);
  const Bits bits = same_bits<Bits>(x);
  return same_bits<T>(static_cast<Bits>((x < y) == (x > 0) ? bits + 1 : bits - 1));
}

// e^(-x^2), the square taken exactly.
inline double gauss(double x) {
  const double s = x * x, rest = __builtin_fma(x, x, -s);
  return s > 800 ? 0 : exp(-s) * (1 - rest);
}
// The trapezoidal rule on an integral of erfc over the whole line, which converges so fast that 14 points do;
// the last term is the residue of its poles. x from 0.5 on.
inline double erfc_upper(double x) {
  constexpr double kStep = 0.5;
  const double square = x * x;
  double sum = 0, e = exp(-kStep * kStep), ratio = e;
  const double growth = ratio * ratio;
  for (int n = 1; n <= 13; ++n) {  // e = e^(-n^2 h^2)
    sum += e / (n * n * (kStep * kStep) + square);
    ratio *= growth;
    e *= ratio;
  }
  const double value = 2 * kStep * x / kPi * gauss(x) * (0.5 / square + sum);
  return x < 2 * kPi ? value - 2 / expm1(2 * kPi * x / kStep) : value;
}
inline double erf_series(double x) {
  double term = x, sum = x;
  for (int n = 1; n < 60; ++n) {
    term *= 2 * x * x / (2 * n + 1);
    sum += term;
    if (term <= 1e-18 * sum) break;
  }
  return 1.12837916709551257390 * exp(-x * x) * sum;  // 2 / sqrt(pi)
}

// Stirling's series beyond its leading part; x from 15 on.
inline double stirling(double x) {
  const double r = 1 / x, z = r * r;
  return r * (1.0 / 12 +
              z * (-1.0 / 360 +
                   z * (1.0 / 1260 +
                        z * (-1.0 / 1680 + z * (1.0 / 1188 + z * (-691.0 / 360360 + z * (1.0 / 156)))))));
}
inline double sin_of_pi(double x) {
  const double r = x - 2 * __builtin_rint(x / 2), a = __builtin_fabs(r);  // exact
  return __builtin_copysign(sin(kPi * (a > 0.5 ? 1 - a : a)), r);
}
inline double gamma_positive(double x) {
  double below = 1;
  while (x < 15) {
    below *= x;
    x += 1;
  }
  if (x > 180) return kInfinity;
  const double half = pow(x, 0.5 * (x - 0.5));
  return 2.50662827463100050242 * half * exp(-x) * half * exp(stirling(x)) / below;
}
inline double log_gamma_positive(double x) {
  if (x == 1 || x == 2) return 0;
  if (x < 20) return log(gamma_positive(x));
  return (x - 0.5) * log(x) - x + 0.91893853320467274178 + stirling(x);
}
}  // namespace

extern "C" {
// ---- what the hardware has ----------------------------------------------------------------------------
#define HARDWARE(name)                                  \
  double name(double x) { return __builtin_##name(x); } \
  float name##f(float x) { return __builtin_##name##f(x); }
#define HARDWARE_BINARY(name)                                        \
  double name(double x, double y) { return __builtin_##name(x, y); } \
  float name##f(float x, float y) { return __builtin_##name##f(x, y); }
HARDWARE(ceil)
HARDWARE(fabs)
HARDWARE(floor)
HARDWARE(nearbyint)
HARDWARE(rint)
HARDWARE(sqrt)
HARDWARE(trunc)
HARDWARE_BINARY(copysign)
HARDWARE_BINARY(fmax)
HARDWARE_BINARY(fmin)
double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
double round(double x) {
  const double t = __builtin_trunc(x);
  const double r = __builtin_fabs(x - t) >= 0.5 ? t + __builtin_copysign(1.0, x) : t;
  return __builtin_copysign(r, x);
}
float roundf(float x) { return static_cast<float>(round(static_cast<double>(x))); }
double fdim(double x, double y) { return x != x || y != y ? kNan : x > y ? x - y : 0; }
float fdimf(float x, float y) { return x != x || y != y ? static_cast<float>(kNan) : x > y ? x - y : 0; }

// ---- parts and remainders -----------------------------------------------------------------------------
int ilogb(double x) {
  if (x == 0) return -2147483647 - 1;
  if (!(__builtin_fabs(x) < kInfinity)) return 2147483647;
  int e = 0;
  (void)frexp(x, &e);
  return e - 1;
}
int ilogbf(float x) { return ilogb(x); }
double logb(double x) {
  if (x == 0) return -kInfinity;
  return __builtin_fabs(x) < kInfinity ? ilogb(x) : x * x;
}
float logbf(float x) { return static_cast<float>(logb(x)); }
double scalbn(double x, int e) { return ldexp(x, e); }
float scalbnf(float x, int e) { return ldexpf(x, e); }
double modf(double x, double* whole) {
  *whole = __builtin_trunc(x);
  return __builtin_copysign(__builtin_fabs(x) < kInfinity || x != x ? x - *whole : 0, x);
}
float modff(float x, float* whole) {
  double part = 0;
  const float rest = static_cast<float>(modf(x, &part));
  *whole = static_cast<float>(part);
  return rest;
}
double fmod(double x, double y) {
  if (!(__builtin_fabs(x) < kInfinity) || y == 0 || y != y) return kNan;
  if (__builtin_fabs(y) == kInfinity) return x;
  uint32_t quotient = 0;
  return __builtin_copysign(divide(x, y, quotient), x);
}
float fmodf(float x, float y) { return static_cast<float>(fmod(x, y)); }
double remquo(double x, double y, int* quotient) {
  *quotient = 0;
  if (!(__builtin_fabs(x) < kInfinity) || y == 0 || y != y) return kNan;
  if (__builtin_fabs(y) == kInfinity) return x;
  uint32_t low = 0;
  const double size = __builtin_fabs(y);
  double rest = divide(x, y, low);
  const double other = size - rest;  // exact where it matters: between half of y and y
  if (rest > other || (rest == other && (low & 1))) {
    rest -= size;
    ++low;
  }
  const int bits = static_cast<int>(low & 0x7fffffff);
  *quotient = __builtin_signbit(x) == __builtin_signbit(y) ? bits : -bits;
  return rest == 0 ? __builtin_copysign(0.0, x) : __builtin_signbit(x) ? -rest : rest;
}
float remquof(float x, float y, int* quotient) { return static_cast<float>(remquo(x, y, quotient)); }
double remainder(double x, double y) {
  int quotient = 0;
  return remquo(x, y, &quotient);
}
float remainderf(float x, float y) { return static_cast<float>(remainder(x, y)); }
double nextafter(double x, double y) { return step<double, uint64_t>(x, y); }
float nextafterf(float x, float y) { return step<float, uint32_t>(x, y); }
double hypot(double x, double y) {
  x = __builtin_fabs(x);
  y = __builtin_fabs(y);
  if (x == kInfinity || y == kInfinity) return kInfinity;
  if (x != x || y != y) return kNan;
  double a = x < y ? y : x, b = x < y ? x : y;
  if (b == 0 || a > b * 0x1p60) return a + b;
  int e = 0;
  a = frexp(a, &e);
  b = ldexp(b, -e);
  const double square = a * a, h = __builtin_sqrt(__builtin_fma(b, b, square)), hh = h * h;
  const double error =
      __builtin_fma(-b, b, hh - square) + __builtin_fma(h, h, -hh) - __builtin_fma(a, a, -square);
  return ldexp(h - error / (2 * h), e);
}
float hypotf(float x, float y) { return static_cast<float>(hypot(x, y)); }

// ---- error and gamma functions ------------------------------------------------------------------------
double erf(double x) {
  const double a = __builtin_fabs(x);
  if (x != x) return x;
  const double r = a < 1 ? erf_series(a) : a < 6 ? 1 - erfc_upper(a) : 1;
  return __builtin_copysign(r, x);
}
double erfc(double x) {
  if (x != x) return x;
  if (x < 0.5) return 1 - erf(x);
  return x < 28 ? erfc_upper(x) : 0;
}
double tgamma(double x) {
  if (x != x || x == kInfinity) return x;
  if (x == 0) return __builtin_copysign(kInfinity, x);
  if (x > 0) return gamma_positive(x);
  if (x == __builtin_floor(x)) return kNan;
  if (x < -190) return 0;
  if (x > -1) return kPi / (sin_of_pi(x) * gamma_positive(1 - x));
  return kPi / (sin_of_pi(x) * -x) / gamma_positive(-x);  // the last quotient is where it gets small
}
double lgamma(double x) {
  if (x != x) return x;
  if (__builtin_fabs(x) == kInfinity) return kInfinity;
  if (x > 0) return log_gamma_positive(x);
  if (x == __builtin_floor(x)) return kInfinity;
  return 1.14472988584940017414 - log(__builtin_fabs(sin_of_pi(x))) - log_gamma_positive(1 - x);  // of pi
}
float erff(float x) { return static_cast<float>(erf(x)); }
float erfcf(float x) { return static_cast<float>(erfc(x)); }
float tgammaf(float x) { return static_cast<float>(tgamma(x)); }
float lgammaf(float x) { return static_cast<float>(lgamma(x)); }
}

HIPR_DEVICE_END
