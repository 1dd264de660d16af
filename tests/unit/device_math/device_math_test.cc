// SPDX-License-Identifier: Apache-2.0
// The math of PTX kernels against the system's long double functions, in units in the last place; special
// values and exact functions against the system's double ones.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#define UNARY(name) extern "C" double __hipr_##name(double);
#define BINARY(name) extern "C" double __hipr_##name(double, double);
UNARY(exp)
UNARY(exp2)
UNARY(exp10) UNARY(expm1) UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p)
    UNARY(asinh) UNARY(acosh) UNARY(atanh) UNARY(cbrt) UNARY(sin) UNARY(cos) UNARY(tan) UNARY(atan)
        UNARY(asin) UNARY(acos) UNARY(erf) UNARY(erfc) UNARY(tgamma) UNARY(lgamma) UNARY(round) UNARY(logb)
            BINARY(pow) BINARY(atan2) BINARY(hypot) BINARY(fmod) BINARY(remainder) BINARY(nextafter)
                BINARY(fdim) extern "C" float __hipr_sinf(float);
extern "C" float __hipr_expf(float);
extern "C" float __hipr_nextafterf(float, float);
extern "C" double __hipr_ldexp(double, int);
extern "C" double __hipr_frexp(double, int*);
extern "C" double __hipr_remquo(double, double, int*);
extern "C" double __hipr_modf(double, double*);
extern "C" int __hipr_ilogb(double);

namespace {

constexpr int kRounds = 4000;  // a kind of number

class Numbers {
 public:
  double next(int kind) {
    const double unit = static_cast<double>(engine_() >> 11) * 0x1p-53;
    if (kind == 0) return (unit - 0.5) * 20;
    if (kind == 1) return (unit - 0.5) * 1500;
    if (kind == 2) return (unit - 0.5) * 2.2;
    if (kind == 3) return (unit - 0.5) * 2e-3;
    const std::uint64_t bits = engine_();
    double any;
    std::memcpy(&any, &bits, sizeof any);
    return any;
  }

 private:
  std::mt19937_64 engine_{1};
};

const std::vector<double> kSpecial = {0.0,     -0.0,     1.0,       -1.0, 0.5,     -0.5,
                                      2.0,     -2.0,     3.0,       -3.0, 1e300,   5e-324,
                                      -5e-324, INFINITY, -INFINITY, NAN,  DBL_MAX, DBL_MIN};

double distance(double got, long double want) {
  const double rounded = static_cast<double>(want);
  if ((std::isnan(got) && std::isnan(rounded)) || got == rounded) return 0;
  if (!std::isfinite(got) || !std::isfinite(rounded)) return 1e30;
  int exponent = 0;
  (void)std::frexp(rounded, &exponent);
  return std::fabs(static_cast<double>((got - want) / std::ldexp(1.0L, std::max(exponent, -1021) - 53)));
}

void compare(const char* name, double (*ours)(double), long double (*theirs)(long double), double limit,
             double from = -INFINITY) {
  Numbers numbers;
  const auto check = [&](double x) {
    if (x < from) return;
    ASSERT_LE(distance(ours(x), theirs(static_cast<long double>(x))), limit) << name << " of " << x;
  };
  for (int kind = 0; kind < 5; ++kind) {
    for (int i = 0; i < kRounds; ++i) check(numbers.next(kind));
  }
  for (const double x : kSpecial) {
    check(x);
    if (const double y = ours(x); y == 0 && x >= from && static_cast<double>(theirs(x)) == 0) {
      EXPECT_EQ(std::signbit(y), std::signbit(theirs(x))) << name << " of " << x;
    }
  }
}

#define COMPARE(name, limit, ...) \
  compare(                        \
      #name, __hipr_##name, [](long double x) { return ::name##l(x); }, limit __VA_OPT__(, ) __VA_ARGS__)

TEST(DeviceMath, ElementaryFunctions) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "no fused multiply-add";
  COMPARE(exp, 1);
  COMPARE(exp2, 1);
  COMPARE(exp10, 1);
  COMPARE(expm1, 2);
  COMPARE(sinh, 2.5);
  COMPARE(cosh, 2.5);
  COMPARE(tanh, 2.5);
  COMPARE(log, 0.6);
  COMPARE(log2, 0.6);
  COMPARE(log10, 0.6);
  COMPARE(log1p, 1);
  COMPARE(asinh, 2);
  COMPARE(acosh, 2);
  COMPARE(atanh, 2);
  COMPARE(cbrt, 1);
  COMPARE(sin, 1);
  COMPARE(cos, 1);
  COMPARE(tan, 2.5);
  COMPARE(atan, 1);
  COMPARE(asin, 2);
  COMPARE(acos, 2);
  COMPARE(round, 0);
  COMPARE(logb, 0);
}

TEST(DeviceMath, ErrorAndGammaFunctions) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "no fused multiply-add";
  COMPARE(erf, 10);
  COMPARE(erfc, 10);
  COMPARE(tgamma, 30, 1e-300);
  for (const double x : {-0.5, -1.5, -10.25, -100.75, -1e-200})
    EXPECT_LE(distance(__hipr_tgamma(x), ::tgammal(x)), 100) << x;
  COMPARE(lgamma, 10, 4.0);
  for (double x = -8.3; x < 4; x += 0.0625)
    EXPECT_NEAR(__hipr_lgamma(x), static_cast<double>(::lgammal(x)), 1e-13) << x;
}

TEST(DeviceMath, FunctionsOfTwo) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "no fused multiply-add";
  struct {
    const char* name;
    double (*ours)(double, double);
    long double (*theirs)(long double, long double);
    double limit;
  } const pairs[] = {{"pow", __hipr_pow, ::powl, 1},       {"atan2", __hipr_atan2, ::atan2l, 1},
                     {"hypot", __hipr_hypot, ::hypotl, 1}, {"fmod", __hipr_fmod, ::fmodl, 0},
                     {"fdim", __hipr_fdim, ::fdiml, 0.5},  {"remainder", __hipr_remainder, ::remainderl, 0}};
  for (const auto& pair : pairs) {
    Numbers numbers;
    for (int i = 0; i < 25 * kRounds / 5; ++i) {
      const double y = numbers.next(i / 5 % 5),
                   x = i % 2 ? std::fabs(numbers.next(i % 5)) : numbers.next(i % 5);
      ASSERT_LE(distance(pair.ours(x, y), pair.theirs(x, y)), pair.limit)
          << pair.name << " of " << x << ", " << y;
    }
    for (const double x : kSpecial) {
      for (const double y : kSpecial) {
        const double got = pair.ours(x, y), want = static_cast<double>(pair.theirs(x, y));
        EXPECT_LE(distance(got, want), 1) << pair.name << " of " << x << ", " << y;
        if (!std::isnan(want)) {
          EXPECT_EQ(std::signbit(got), std::signbit(want)) << pair.name << " of " << x << ", " << y;
        }
      }
    }
  }
}

TEST(DeviceMath, PartsOfNumbers) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "no fused multiply-add";
  Numbers numbers;
  std::mt19937 engine(2);
  for (int i = 0; i < kRounds; ++i) {
    const double x = numbers.next(i % 5), y = numbers.next(i / 5 % 5);
    const int by = static_cast<int>(engine() % 5000) - 2500;
    EXPECT_EQ(0, distance(__hipr_ldexp(x, by), std::ldexp(x, by))) << x << ", " << by;
    int ours = 0, theirs = 0;
    EXPECT_EQ(0, distance(__hipr_frexp(x, &ours), std::frexp(x, &theirs))) << x;
    if (std::isfinite(x)) {
      EXPECT_EQ(ours, theirs) << x;
    }
    EXPECT_EQ(0, distance(__hipr_nextafter(x, y), std::nextafter(x, y))) << x << ", " << y;
    const float fx = static_cast<float>(x), fy = static_cast<float>(y);
    EXPECT_EQ(0, distance(__hipr_nextafterf(fx, fy), std::nextafterf(fx, fy))) << fx << ", " << fy;
    double whole = 0, their_whole = 0;
    EXPECT_EQ(0, distance(__hipr_modf(x, &whole), std::modf(x, &their_whole))) << x;
    EXPECT_EQ(0, distance(whole, their_whole)) << x;
    if (std::isfinite(x) && x != 0) {
      EXPECT_EQ(__hipr_ilogb(x), std::ilogb(x)) << x;
    }
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    EXPECT_EQ(0, distance(__hipr_remquo(x, y, &ours), std::remquo(x, y, &theirs))) << x << ", " << y;
    EXPECT_EQ(ours & 7, theirs & 7) << x << ", " << y;
  }
}

TEST(DeviceMath, FloatsAreCorrectlyRounded) {
  if (!__builtin_cpu_supports("fma")) GTEST_SKIP() << "no fused multiply-add";
  Numbers numbers;
  for (int i = 0; i < kRounds; ++i) {
    const float x = static_cast<float>(numbers.next(i % 4));
    EXPECT_EQ(__hipr_sinf(x), static_cast<float>(::sinl(x))) << x;
    EXPECT_EQ(__hipr_expf(x), static_cast<float>(::expl(x))) << x;
  }
}

}  // namespace
