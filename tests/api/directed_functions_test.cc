// SPDX-License-Identifier: Apache-2.0
// Conversions and arithmetic that round in one direction give what the host's processor gives.
#include <cfenv>
#include <climits>
#include <cmath>
#include <limits>

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"

namespace tf::api_test {
namespace {

template <typename Value>
std::vector<Value> read_back(const void* device, std::size_t count) {
  std::vector<Value> values(count);
  EXPECT_EQ(hipMemcpy(values.data(), device, count * sizeof(Value), hipMemcpyDeviceToHost), hipSuccess);
  return values;
}

// What is next below and above, and the one of them that is nearer to zero.
template <typename To, typename From>
void expect_directed(const double* found, From value, const char* what) {
  const auto wide = static_cast<long double>(value);
  const auto down = static_cast<long double>(found[0]), up = static_cast<long double>(found[1]);
  EXPECT_LE(down, wide) << what;
  EXPECT_GE(up, wide) << what;
  if (down != up) {
    EXPECT_EQ(std::nextafter(static_cast<To>(found[0]), std::numeric_limits<To>::infinity()),
              static_cast<To>(found[1]))
        << what;
  }
  EXPECT_EQ(found[2], value < 0 ? found[1] : found[0]) << what;
}

TEST(DirectedFunctions, ConversionsThatRoundInOneDirection) {
  DeviceBuffer memory(15 * sizeof(double));
  for (const double x : {0.1, -0.1, 0.5, -70000.0, 1e-7, 3e-8, -1e-60, 1e300, HUGE_VAL, -HUGE_VAL}) {
    for (const long long n :
         {1ll, -(1ll << 24) - 1, (1ll << 31) - 1, (1ll << 62) + 1, -(1ll << 60) - 3, LLONG_MAX}) {
      launch_directed_conversions(x, n, memory.get<double>());
      const std::vector<double> found = read_back<double>(memory.get(), 15);
      expect_directed<float>(&found[0], x, "double to float");
      expect_directed<float>(&found[6], static_cast<int>(n), "int to float");
      expect_directed<float>(&found[9], static_cast<unsigned long long>(n), "64 bits to float");
      expect_directed<double>(&found[12], n, "64 bits to double");
      const float y = static_cast<float>(x);
      if (std::isinf(y)) continue;
      EXPECT_LE(found[3], y);
      EXPECT_GE(found[4], y);
      const double largest = 65504;
      if (std::fabs(y) > largest) {
        EXPECT_EQ(std::fabs(y > 0 ? found[3] : found[4]), largest);
      } else {
        EXPECT_LE(found[4] - found[3], std::fmax(std::fabs(y) / 1024, 0x1p-24)) << y;
      }
      EXPECT_EQ(found[5], y < 0 ? found[4] : found[3]);
    }
  }
}

// What the host's processor answers. What is volatile is not worked out before the rounding is set.
template <typename T>
std::vector<T> directed_on_the_host(const T* x) {
  const volatile T a = x[0], b = x[1], c = x[2];
  T (*volatile root)(T) = std::sqrt;
  T (*volatile fused)(T, T, T) = std::fma;
  std::vector<T> results;
  for (const int direction : {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
    std::fesetround(direction);
    const volatile T sum = a + b, difference = a - b, product = a * b, quotient = a / b, of = root(a),
                     both = fused(a, b, c);
    std::fesetround(FE_TONEAREST);
    results.insert(results.end(), {sum, difference, product, quotient, of, both});
  }
  return results;
}

// Small and large numbers, those next to them, and what underflows or overflows with another.
template <typename T>
std::vector<T> delicate_numbers() {
  using Limits = std::numeric_limits<T>;
  const T one = 1, third = one / 3, least = Limits::denorm_min(), most = Limits::max(),
          normal = Limits::min();
  const T numbers[] = {0,
                       one,
                       -one,
                       third,
                       -third,
                       least,
                       -least,
                       most,
                       -most,
                       normal,
                       std::nextafter(one, most),
                       std::sqrt(normal) * third,
                       Limits::infinity()};
  std::vector<T> all;
  for (const T a : numbers)
    for (const T b : numbers)
      for (const T c : {one, -third, least, -most}) all.insert(all.end(), {a, b, c});
  return all;
}

template <typename T>
void expect_as_on_the_host(const std::vector<T>& in, const std::vector<T>& found) {
  for (std::size_t i = 0; i < in.size() / 3; ++i) {
    const std::vector<T> expected = directed_on_the_host(&in[3 * i]);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const T wanted = expected[k], answer = found[expected.size() * i + k];
      if (std::isnan(wanted) && std::isnan(answer)) continue;
      EXPECT_EQ(answer, wanted) << k << " of " << in[3 * i] << ", " << in[3 * i + 1] << ", " << in[3 * i + 2];
      EXPECT_EQ(std::signbit(answer), std::signbit(wanted))
          << k << " of " << in[3 * i] << ", " << in[3 * i + 1];
    }
  }
}

TEST(DirectedFunctions, ArithmeticThatRoundsInOneDirection) {
  const auto x = delicate_numbers<float>();
  const auto y = delicate_numbers<double>();
  const std::size_t count = x.size() / 3, results = count * kDirectedResults;
  DeviceBuffer on_x(x.size() * sizeof(float)), on_y(y.size() * sizeof(double)),
      single(results * sizeof(float)), wide(results * sizeof(double));
  HIP_OK(hipMemcpy(on_x.get(), x.data(), x.size() * sizeof(float), hipMemcpyHostToDevice));
  HIP_OK(hipMemcpy(on_y.get(), y.data(), y.size() * sizeof(double), hipMemcpyHostToDevice));
  launch_directed_arithmetic(on_x.get<float>(), single.get<float>(), on_y.get<double>(), wide.get<double>(),
                             static_cast<int>(count));
  HIP_OK(hipDeviceSynchronize());
  expect_as_on_the_host(x, read_back<float>(single.get(), results));
  expect_as_on_the_host(y, read_back<double>(wide.get(), results));
}

}  // namespace
}  // namespace tf::api_test
