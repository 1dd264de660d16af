// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms, powers and angles for NVIDIA GPUs. Doubles to about one unit in the last place (a
// test holds them to two); floats by way of doubles, so correctly rounded but for rare ties.
//
// Where one double is not exact enough, a value is the unevaluated sum of two. Needs fused multiply-add, and
// that the compiler fuses nothing else. Pure functions; compiled by clang as CUDA, and by a test for the
// host.
#include <math.h>
#include <stdint.h>

#ifdef __CUDA__
#define HIPR_TABLE __attribute__((device))
#else
#define HIPR_TABLE
#endif

namespace {
__extension__ typedef unsigned __int128 Wide;

// 2/pi, from the bit of weight 2^63 on.
HIPR_TABLE const uint64_t kTwoOverPi[] = {0,
                                          0xa2f9836e4e441529,
                                          0xfc2757d1f534ddc0,
                                          0xdb6295993c439041,
                                          0xfe5163abdebbc561,
                                          0xb7246e3a424dd2e0,
                                          0x06492eea09d1921c,
                                          0xfe1deb1cb129a73e,
                                          0xe88235f52ebb4484,
                                          0xe99c7026b45f7e41,
                                          0x3991d639835339f4,
                                          0x9c845f8bbdf9283b,
                                          0x1ff897ffde05980f,
                                          0xef2f118b5a0a6d1f,
                                          0x6d367ecf27cb09b7,
                                          0x4f463f669e5fea2d,
                                          0x7527bac7ebe5f17b,
                                          0x3d0739f78a5292ea,
                                          0x6bfb5fb11f8d5d08,
                                          0x56033046fc7b6bab};
}  // namespace

HIPR_DEVICE_BEGIN

namespace {
constexpr double kInfinity = __builtin_inf();
constexpr double kNan = __builtin_nan("");
constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54,
                 kHalfPiLowest = -0x1.f1976b7ed8fbcp-110;
constexpr double kLn2High = 0x1.62e42p-1, kLn2Rest = 0x1.fdf473de6af28p-22;  // k * kLn2High is exact
constexpr double kLog2E = 0x1.71547652b82fep+0;

struct Pair {
  double hi, lo;
};

inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline Pair sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
inline Pair product(double a, double b) {
  const double p = a * b;
  return {p, fused(a, b, -p)};
}
inline Pair times(Pair a, Pair b) {
  const Pair p = product(a.hi, b.hi);
  return {p.hi, p.lo + fused(a.hi, b.lo, a.lo * b.hi)};
}
inline uint64_t bits_of(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline double from_bits(uint64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
inline double power_of_two(int e) { return from_bits(static_cast<uint64_t>(e + 1023) << 52); }
inline bool is_finite(double x) { return __builtin_fabs(x) < kInfinity; }

inline double horner(double, double c) { return c; }
template <typename... Rest>
inline double horner(double x, double c, Rest... rest) {
  return fused(x, horner(x, rest...), c);
}

// e^(x + lo) - 1 for |x| <= 0.35.
inline double small_expm1(double x, double lo) {
  const double q = horner(x, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
                          1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0);
  const double tail = x * x * q;
  return x + fused(lo, 1 + (x + tail), tail);
}
// x + lo less k times ln 2.
inline Pair reduce_exp(double x, double lo, double k) {
  const double r = fused(-k, kLn2High, x), hi = fused(-k, kLn2Rest, r);
  return {hi, fused(-k, kLn2Rest, r - hi) + lo};
}
inline double exp_of(double x, double lo) {
  if (x > 1000) return kInfinity;
  if (x < -1000) return 0;
  const double k = __builtin_rint(x * kLog2E);
  const Pair r = reduce_exp(x, lo, k);
  return ldexp(1 + small_expm1(r.hi, r.lo), static_cast<int>(k));
}

// log(m), where x = m * 2^k with m in [sqrt(1/2), sqrt(2)). x is positive and finite.
inline Pair log_mantissa(double x, double& k) {
  int e = 0;
  double m = frexp(x, &e);
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --e;
  }
  k = e;
  // With s = f / (2 + f): log(1 + f) = 2s + 2/3 s^3 + 2/5 s^5 + ...
  const double f = m - 1, below = 2 + f, below_lo = f - (below - 2);
  const double s = f / below;
  const double s_lo = (fused(-s, below, f) - s * below_lo) / below;
  Pair z = product(s, s);
  z.lo += 2 * s * s_lo;
  const double rest = z.hi * horner(z.hi, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17,
                                    2.0 / 19, 2.0 / 21, 2.0 / 23);
  Pair q = sum(0x1.5555555555555p-1, rest);
  q.lo += 0x1.5555555555555p-55;
  const Pair w = times(z, q);
  Pair whole = sum(2, w.hi);
  whole.lo += w.lo;
  return times({s, s_lo}, whole);
}
inline Pair log_of(double x) {
  double k = 0;
  const Pair l = log_mantissa(x, k);
  const Pair high = sum(k * kLn2High, l.hi);
  const Pair all = sum(high.hi, fused(k, kLn2Rest, high.lo + l.lo));
  return all;
}

// Turns x into quadrants of the circle, mod 4, and the angle from there, within pi/4. |x| >= 1e5.
inline int reduce_large(double x, Pair& r) {
  const uint64_t bits = bits_of(x);
  const int exponent = static_cast<int>((bits >> 52) & 2047) - 1075;
  const uint64_t m = (bits & 0xfffffffffffff) | (uint64_t{1} << 52);
  // Bits of 2/pi that make m * 2^exponent whole multiples of four circles' quarters are passed over.
  const unsigned first = static_cast<unsigned>(exponent + 62), at = first / 64, shift = first % 64;
  uint64_t w[3];
  for (unsigned i = 0; i < 3; ++i) {
    w[i] = kTwoOverPi[at + i] << shift;
    if (shift != 0) w[i] |= kTwoOverPi[at + i + 1] >> (64 - shift);
  }
  const Wide low = static_cast<Wide>(m) * w[2], middle = static_cast<Wide>(m) * w[1] + (low >> 64);
  const uint64_t top = m * w[0] + static_cast<uint64_t>(middle >> 64);
  int quadrant = static_cast<int>(top >> 62);
  Wide fraction = static_cast<Wide>(top << 2 | static_cast<uint64_t>(middle) >> 62) << 64 |
                  (static_cast<uint64_t>(middle) << 2 | static_cast<uint64_t>(low) >> 62);
  double sign = 1;
  if (fraction >> 127) {
    fraction = ~fraction + 1;
    sign = -1;
    ++quadrant;
  }
  const uint64_t head = static_cast<uint64_t>(fraction >> 64);
  const int zeros = head ? __builtin_clzll(head) : 63;  // no double comes nearer to a multiple
  fraction <<= zeros;
  const double scale = sign * power_of_two(-zeros);
  const Pair part = {static_cast<double>(static_cast<uint64_t>(fraction >> 75)) * 0x1p-53 * scale,
                     static_cast<double>(static_cast<uint64_t>(fraction >> 11)) * 0x1p-117 * scale};
  r = times(part, {kHalfPi, kHalfPiLow});
  if (x < 0) {
    r = {-r.hi, -r.lo};
    quadrant = -quadrant;
  }
  return quadrant & 3;
}
inline int reduce_angle(double x, Pair& r) {
  if (__builtin_fabs(x) >= 1e5) return reduce_large(x, r);
  const double k = __builtin_rint(x * 0x1.45f306dc9c883p-1);
  const double t = fused(-k, kHalfPi, x);  // exact
  const Pair w = product(k, kHalfPiLow);
  const Pair s = sum(t, -w.hi);
  const double lo = s.lo - fused(k, kHalfPiLowest, w.lo);
  r = sum(s.hi, lo);
  return static_cast<int>(k) & 3;
}
inline double sin_within(Pair r) {
  const double z = r.hi * r.hi;
  const double p = horner(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                          1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0);
  return r.hi + fused(r.hi * z, p, fused(-0.5 * z, r.lo, r.lo));
}
inline double cos_within(Pair r) {
  const double z = r.hi * r.hi, half = 0.5 * z, w = 1 - half;
  const double p = horner(z, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                          -1.0 / 87178291200.0, 1.0 / 20922789888000.0, -1.0 / 6402373705728000.0);
  return w + (((1 - w) - half) + (fused(z * z, p, -r.hi * r.lo) - 0.5 * fused(r.hi, r.hi, -z)));
}

// atan(q + lo), q not negative.
inline Pair atan_of(double q, double lo) {
  Pair base = {0, 0};
  double t = q;
  if (q >= 39.0 / 16) {
    base = {kHalfPi, kHalfPiLow};
    t = -1 / q;
  } else if (q >= 19.0 / 16) {
    base = {0x1.f730bd281f69bp-1, 0x1.007887af0cbbdp-56};
    t = (q - 1.5) / fused(1.5, q, 1);
  } else if (q >= 11.0 / 16) {
    base = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
    t = (q - 1) / (q + 1);
  } else if (q >= 7.0 / 16) {
    base = {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56};
    t = fused(2, q, -1) / (2 + q);
  }
  const double z = t * t;
  const double p = horner(z, -1.0 / 3, 1.0 / 5, -1.0 / 7, 1.0 / 9, -1.0 / 11, 1.0 / 13, -1.0 / 15, 1.0 / 17,
                          -1.0 / 19, 1.0 / 21, -1.0 / 23, 1.0 / 25, -1.0 / 27, 1.0 / 29, -1.0 / 31, 1.0 / 33,
                          -1.0 / 35, 1.0 / 37, -1.0 / 39, 1.0 / 41, -1.0 / 43, 1.0 / 45);
  lo = q < 0x1p500 ? lo / fused(q, q, 1) : 0;
  const Pair head = sum(base.hi, t);
  return {head.hi, head.lo + (base.lo + fused(t * z, p, lo))};
}
}  // namespace

extern "C" {
// ---- parts of a number --------------------------------------------------------------------------------
double frexp(double x, int* exponent) {
  *exponent = 0;
  if (x == 0 || !is_finite(x)) return x;
  int shift = 0;
  if (__builtin_fabs(x) < 0x1p-1022) {
    x *= 0x1p54;
    shift = 54;
  }
  const uint64_t bits = bits_of(x);
  *exponent = static_cast<int>((bits >> 52) & 2047) - 1022 - shift;
  return from_bits((bits & 0x800fffffffffffff) | 0x3fe0000000000000);
}
double ldexp(double x, int e) {
  // In steps whose factors exist; 2^53 is kept in hand going down, so that only the last one rounds.
  for (int step = 0; step < 2; ++step) {
    if (e > 1023) {
      x *= 0x1p1023;
      e -= 1023;
    } else if (e < -1022) {
      x *= 0x1p-969;
      e += 969;
    }
  }
  return x * power_of_two(e > 1023 ? 1023 : e < -1022 ? -1022 : e);
}

// ---- exponentials -------------------------------------------------------------------------------------
double exp(double x) { return x != x ? x : exp_of(x, 0); }
double exp2(double x) {
  if (x != x) return x;
  if (x > 1100) return kInfinity;
  if (x < -1100) return 0;
  const double k = __builtin_rint(x), f = x - k;
  const Pair r = times({f, 0}, {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56});
  return ldexp(1 + small_expm1(r.hi, r.lo), static_cast<int>(k));
}
double exp10(double x) {
  if (x != x) return x;
  if (__builtin_fabs(x) > 400) return x > 0 ? kInfinity : 0;
  const Pair r = times({x, 0}, {0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53});
  return exp_of(r.hi, r.lo);
}
double expm1(double x) {
  if (x != x || x == 0) return x;
  if (x > 40) return exp_of(x, 0);
  if (x < -40) return -1;
  const double k = __builtin_rint(x * kLog2E);
  const Pair r = reduce_exp(x, 0, k);
  const double p = small_expm1(r.hi, r.lo), scale = power_of_two(static_cast<int>(k));
  const Pair rest = sum(scale, -1);
  return fused(p, scale, rest.hi) + rest.lo;
}
double sinh(double x) {
  const double a = __builtin_fabs(x);
  double r;
  if (a < 22) {
    const double t = expm1(a);
    r = 0.5 * (t + t / (t + 1));
  } else {
    const double h = exp(0.5 * a);
    r = a < 1400 ? 0.5 * h * h : kInfinity;
    if (a < 709) r = 0.5 * exp(a);
  }
  return __builtin_copysign(x != x ? x : r, x);
}
double cosh(double x) {
  const double a = __builtin_fabs(x);
  if (x != x) return x;
  if (a < 0.35) {
    const double t = expm1(a);
    return 1 + t * t / (2 * (1 + t));
  }
  if (a < 709) {
    const double e = exp(a);
    return 0.5 * e + 0.5 / e;
  }
  const double h = exp(0.5 * a);
  return a < 1400 ? 0.5 * h * h : kInfinity;
}
double tanh(double x) {
  const double a = __builtin_fabs(x);
  if (x != x) return x;
  if (a > 20) return __builtin_copysign(1.0, x);
  const double t = expm1(2 * a);
  return __builtin_copysign(t / (t + 2), x);
}

// ---- logarithms and powers ----------------------------------------------------------------------------
double log(double x) {
  if (!(x > 0) || x == kInfinity) return x == 0 ? -kInfinity : x < 0 ? kNan : x;
  const Pair l = log_of(x);
  return l.hi + l.lo;
}
double log2(double x) {
  if (!(x > 0) || x == kInfinity) return log(x);
  double k = 0;
  const Pair l = times(log_mantissa(x, k), {kLog2E, 0x1.777d0ffda0d24p-56});
  const Pair all = sum(k, l.hi);
  return all.hi + (all.lo + l.lo);
}
double log10(double x) {
  if (!(x > 0) || x == kInfinity) return log(x);
  const Pair l = times(log_of(x), {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57});
  return l.hi + l.lo;
}
double log1p(double x) {
  if (!(x > -1) || x == kInfinity) return log(1 + x);
  if (__builtin_fabs(x) < 0x1p-54) return x;
  const Pair u = sum(1, x), l = log_of(u.hi);
  return l.hi + (l.lo + u.lo / u.hi);
}
double asinh(double x) {
  const double a = __builtin_fabs(x);
  if (!(a < kInfinity) || a < 0x1p-28) return x;
  const double r =
      a > 0x1p28 ? log(a) + 0x1.62e42fefa39efp-1 : log1p(a + a * a / (1 + __builtin_sqrt(fused(a, a, 1))));
  return __builtin_copysign(r, x);
}
double acosh(double x) {
  if (!(x >= 1)) return kNan;
  if (x > 0x1p28) return log(x) + 0x1.62e42fefa39efp-1;
  const double t = x - 1;
  return log1p(t + __builtin_sqrt(fused(t, t, 2 * t)));
}
double atanh(double x) {
  const double a = __builtin_fabs(x);
  if (!(a <= 1)) return kNan;
  if (a < 0x1p-28) return x;
  return __builtin_copysign(a == 1 ? kInfinity : 0.5 * log1p(2 * a / (1 - a)), x);
}
double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return kNan;
  const double a = __builtin_fabs(x), limit = __builtin_fabs(y);
  if (limit == kInfinity) return a == 1 ? 1 : (a > 1) == (y > 0) ? kInfinity : 0;
  const bool whole = __builtin_trunc(y) == y;
  const bool odd = whole && limit < 0x1p53 && (static_cast<int64_t>(y) & 1);
  double result = 0;
  if (a == 0 || a == kInfinity) {
    result = (a == 0) == (y < 0) ? kInfinity : 0;
  } else if (x < 0 && !whole) {
    return kNan;
  } else {
    const Pair l = log_of(a), p = product(y, l.hi);
    const double lo = __builtin_fabs(p.hi) < 1000 ? fused(y, l.lo, p.lo) : 0;
    result = exp_of(p.hi, lo);
  }
  return odd ? __builtin_copysign(result, x) : result;
}
double cbrt(double x) {
  if (x == 0 || !is_finite(x)) return x;
  int e = 0;
  double a = frexp(__builtin_fabs(x), &e);
  const int rest = ((e % 3) + 3) % 3;
  a *= power_of_two(rest);
  double t = exp(log(a) / 3);
  const Pair square = product(t, t);
  t -= (fused(t, square.hi, -a) + t * square.lo) / (3 * square.hi);
  return __builtin_copysign(ldexp(t, (e - rest) / 3), x);
}

// ---- angles -------------------------------------------------------------------------------------------
double sin(double x) {
  if (!is_finite(x)) return kNan;
  if (__builtin_fabs(x) < 0x1p-27) return x;
  Pair r;
  const int quadrant = reduce_angle(x, r);
  const double value = quadrant & 1 ? cos_within(r) : sin_within(r);
  return quadrant & 2 ? -value : value;
}
double cos(double x) {
  if (!is_finite(x)) return kNan;
  Pair r;
  const int quadrant = reduce_angle(x, r);
  const double value = quadrant & 1 ? sin_within(r) : cos_within(r);
  return (quadrant + 1) & 2 ? -value : value;
}
double tan(double x) {
  if (!is_finite(x)) return kNan;
  if (__builtin_fabs(x) < 0x1p-27) return x;
  Pair r;
  const bool turned = reduce_angle(x, r) & 1;
  const double s = sin_within(r), c = cos_within(r);
  return turned ? -c / s : s / c;
}
double atan(double x) {
  if (x != x) return x;
  const Pair r = atan_of(__builtin_fabs(x), 0);
  return __builtin_copysign(r.hi + r.lo, x);
}
double atan2(double y, double x) {
  if (x != x || y != y) return kNan;
  const double a = __builtin_fabs(x), b = __builtin_fabs(y);
  Pair r = {0, 0};
  if (b == kInfinity) {
    r = a == kInfinity ? Pair{0.5 * kHalfPi, 0.5 * kHalfPiLow} : Pair{kHalfPi, kHalfPiLow};
  } else if (b != 0) {
    const double q = b / a;
    const bool exact = q > 0x1p-900 && q < 0x1p900 && a < 0x1p900 && a > 0x1p-900;
    r = atan_of(q, exact ? fused(-q, a, b) / a : 0);
  }
  if (__builtin_signbit(x)) {
    const Pair turned = sum(2 * kHalfPi, -r.hi);
    r = {turned.hi, turned.lo + (2 * kHalfPiLow - r.lo)};
  }
  return __builtin_copysign(r.hi + r.lo, y);
}
double asin(double x) {
  return __builtin_fabs(x) < 0x1p-27 ? x : atan2(x, __builtin_sqrt((1 - x) * (1 + x)));
}
double acos(double x) { return atan2(__builtin_sqrt((1 - x) * (1 + x)), x); }
}

#define BY_DOUBLE(name) \
  extern "C" float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); }
BY_DOUBLE(exp)
BY_DOUBLE(exp2) BY_DOUBLE(exp10) BY_DOUBLE(expm1) BY_DOUBLE(sinh) BY_DOUBLE(cosh) BY_DOUBLE(tanh)
    BY_DOUBLE(log) BY_DOUBLE(log2) BY_DOUBLE(log10) BY_DOUBLE(log1p) BY_DOUBLE(asinh) BY_DOUBLE(acosh)
        BY_DOUBLE(atanh) BY_DOUBLE(cbrt) BY_DOUBLE(sin) BY_DOUBLE(cos) BY_DOUBLE(tan) BY_DOUBLE(atan)
            BY_DOUBLE(asin) BY_DOUBLE(acos) extern "C" float powf(float x, float y) {
  return static_cast<float>(pow(x, y));
}
extern "C" float atan2f(float y, float x) { return static_cast<float>(atan2(y, x)); }
extern "C" float ldexpf(float x, int e) { return static_cast<float>(ldexp(x, e)); }
extern "C" float frexpf(float x, int* e) { return static_cast<float>(frexp(x, e)); }

HIPR_DEVICE_END
