// SPDX-License-Identifier: Apache-2.0
// What kernels may call gives the same on every kind of device: warp operations, atomics, math, half
// precision.
#include <climits>
#include <cmath>
#include <string>

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"
#include "tests/api/module_fixture.h"

namespace tf::api_test {
namespace {

constexpr int kThreads = 128;

template <typename Value>
std::vector<Value> read(const void* device, std::size_t count) {
  std::vector<Value> values(count);
  EXPECT_EQ(hipMemcpy(values.data(), device, count * sizeof(Value), hipMemcpyDeviceToHost), hipSuccess);
  return values;
}

int wave_size() {
  int size = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&size, hipDeviceAttributeWarpSize, 0), hipSuccess);
  return size;
}

TEST(DeviceFunctions, WarpsExchange) {
  const int wave = wave_size();
  ASSERT_TRUE(wave == 32 || wave == 64) << wave;
  DeviceBuffer out(6 * kThreads * sizeof(int)), votes(kThreads * sizeof(unsigned long long));
  launch_warp_functions(out.get<int>(), votes.get<unsigned long long>(), kThreads);
  HIP_OK(hipDeviceSynchronize());
  const auto rows = read<int>(out.get(), 6 * kThreads);
  const auto ballots = read<unsigned long long>(votes.get(), kThreads);
  unsigned long long thirds = 0;
  for (int lane = 0; lane < wave; lane += 3) thirds |= 1ull << lane;
  for (int i = 0; i < kThreads; ++i) {
    const int first = i / wave * wave, lane = i - first;
    const auto row = [&](int n) { return rows[static_cast<std::size_t>(n * kThreads + i)]; };
    EXPECT_EQ(row(0), first + 5) << i;
    EXPECT_EQ(row(1), i ^ 1) << i;
    EXPECT_EQ(row(2), i % 8 < 6 ? i + 2 : i) << i;
    EXPECT_EQ(row(3), wave * first + wave * (wave - 1) / 2) << i;
    EXPECT_EQ(row(4), 1 + 2 + 8 + 16 + 32) << i;
    EXPECT_EQ(row(5), lane % 2 == 0 ? i ^ 2 : 1000 + (i ^ 4)) << i;
    EXPECT_EQ(ballots[static_cast<std::size_t>(i)], thirds) << i;
  }
}

TEST(DeviceFunctions, AtomicsLoseNothing) {
  constexpr int kBlocks = 16, kAll = kBlocks * kThreads;
  DeviceBuffer memory(512);
  HIP_OK(hipMemset(memory.get(), 0, 512));
  HIP_OK(hipMemset(memory.at(64 + 8), 0xff, 4));  // for atomicAnd
  launch_atomic_functions(memory.get<int>(), reinterpret_cast<unsigned*>(memory.at(64)),
                          reinterpret_cast<unsigned long long*>(memory.at(128)),
                          reinterpret_cast<float*>(memory.at(192)), reinterpret_cast<double*>(memory.at(256)),
                          kBlocks, kThreads);
  HIP_OK(hipDeviceSynchronize());
  int mixed = 0;
  for (int i = 0; i < kAll; ++i) mixed ^= i;
  EXPECT_EQ(read<int>(memory.get(), 7),
            (std::vector<int>{kAll, -2 * kAll, -(kAll - 1), kAll - 1, mixed, 3 * kAll, kAll}));
  EXPECT_EQ(read<unsigned>(memory.at(64), 3), (std::vector<unsigned>{kAll % 7, ~0u, ~0xffu}));
  EXPECT_EQ(read<unsigned long long>(memory.at(128), 2),
            (std::vector<unsigned long long>{static_cast<unsigned long long>(kAll) << 33, 5ull * kAll}));
  EXPECT_EQ(read<float>(memory.at(192), 1)[0], 0.5f * kAll);
  EXPECT_EQ(read<double>(memory.at(256), 1)[0], 0.25 * kAll);
}

TEST(DeviceFunctions, MathIsAsExactAsTheHosts) {
  std::vector<float> x(kThreads);
  std::vector<double> y(kThreads);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] = 0.0625f + static_cast<float>(i) * 0.171875f;
  constexpr std::size_t kRows = 8;
  DeviceBuffer on_x(kThreads * 4), on_y(kThreads * 8), single(kRows * kThreads * 4),
      wide(kRows * kThreads * 8);
  HIP_OK(hipMemcpy(on_x.get(), x.data(), kThreads * 4, hipMemcpyHostToDevice));
  HIP_OK(hipMemcpy(on_y.get(), y.data(), kThreads * 8, hipMemcpyHostToDevice));
  launch_math_functions(on_x.get<float>(), single.get<float>(), on_y.get<double>(), wide.get<double>(),
                        kThreads);
  HIP_OK(hipDeviceSynchronize());
  const auto singles = read<float>(single.get(), kRows * kThreads);
  const auto doubles = read<double>(wide.get(), kRows * kThreads);
  for (std::size_t i = 0; i < kThreads; ++i) {
    const double a = y[i];
    const double expected[2][kRows] = {
        {std::sin(a), std::exp(a), std::log(a), std::pow(a, 1.5), std::tanh(a), std::sqrt(a),
         std::floor(a) + std::fmin(a, 2.0) + a, a + 0.5},
        {std::sin(a), std::exp(a), std::log(a), std::pow(a, 1.5), std::atan2(a, 2.0), std::cbrt(a),
         std::erf(a), std::fmod(a, 0.75) + std::rint(a) + std::fma(a, a, 1.0)}};
    for (std::size_t row = 0; row < kRows; ++row) {
      const double off = row == 7 ? 1.0 / 1024 : 4e-7;  // the last one is in half precision
      EXPECT_NEAR(singles[row * kThreads + i], expected[0][row], off * std::fabs(expected[0][row]) + 1e-7)
          << row << " of " << a;
      EXPECT_NEAR(doubles[row * kThreads + i], expected[1][row], 4e-15 * std::fabs(expected[1][row]) + 1e-16)
          << row << " of " << a;
    }
  }
}

// Expected are the exact values, rounded: within one unit of the last place.
TEST(DeviceFunctions, DelicateMathIsExactOnCores) {
  if (is_nvidia()) GTEST_SKIP() << "another library, with errors of its own";
  const double values[][2] = {{-3.7537392533070797e307, -3.3482769050024575e102},
                              {-18446744073709551616.0, -3.7846590327458372e-07},
                              {1e300, 1e300},
                              {0.0, 0.2672612419124244},
                              {-2.2250738585072019e-308, -1.9719203645301425e-308},
                              {1e-300, 26.209469960516124},
                              {20.0, 0.02817434874105132},
                              {-37.0, 5.725571222524577e-300},
                              {1e-10, -6.361340902404057},
                              {50.0, 2.9325537838493362e20},
                              {-0.0, -0.0},
                              {NAN, 0.0},
                              {-4294967295.9999995, 1.4980281131690111e-06},
                              {-2.5000003721875403, -0.056244127078170038}};
  DeviceBuffer memory(sizeof values);
  HIP_OK(hipMemcpy(memory.get(), values, sizeof values, hipMemcpyHostToDevice));
  launch_delicate_functions(memory.get<double>());
  const std::vector<double> found = read<double>(memory.get(), sizeof values / sizeof(double));
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const double answer = found[2 * i + 1], exact = values[i][1];
    EXPECT_GE(answer, std::nextafter(exact, -INFINITY)) << i;
    EXPECT_LE(answer, std::nextafter(exact, INFINITY)) << i;
  }
}

// Kernels for the host's cores only: on other devices lanes part where these rely on a lockstep wave.
TEST(DeviceFunctions, LanesSynchronizeOnCores) {
  hipDeviceProp_t properties{};
  HIP_OK(hipGetDeviceProperties(&properties, 0));
  if (std::string(properties.gcnArchName) != "x86_64-cpu") GTEST_SKIP() << properties.gcnArchName;
  LoadedModule module(WAVE_KERNEL_FILE);
  const auto in = counting_ints(kThreads, 0);
  DeviceBuffer source(kThreads * sizeof(int)), out(kThreads * sizeof(int));
  HIP_OK(hipMemcpy(source.get(), in.data(), kThreads * sizeof(int), hipMemcpyHostToDevice));
  void *from = source.get(), *to = out.get();
  void* arguments[] = {&from, &to};
  HIP_OK(hipModuleLaunchKernel(module.function("tile_sums"), 1, 1, 1, kThreads, 1, 1, 0, nullptr, arguments,
                               nullptr));
  const auto sums = read_ints(to, kThreads / 16);
  for (int tile = 0; tile < kThreads / 16; ++tile) {
    const int once = 16 * 16 * tile + 120;
    EXPECT_EQ(sums[static_cast<std::size_t>(tile)], tile % 2 == 0 ? once : 2 * once + 16) << tile;
  }
  HIP_OK(hipModuleLaunchKernel(module.function("volatile_sum"), 1, 1, 1, 128, 1, 1, 0, nullptr, arguments,
                               nullptr));
  EXPECT_EQ(read_ints(to, 1)[0], 127 * 64);
}

TEST(DeviceFunctions, DotProducts) {
  DeviceBuffer memory(256);
  launch_dot_products(memory.get<int>(), reinterpret_cast<unsigned*>(memory.at(64)),
                      reinterpret_cast<float*>(memory.at(128)));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(read<int>(memory.get(), 4), (std::vector<int>{INT_MAX, INT_MIN + 5, -16122, 93}));
  EXPECT_EQ(read<unsigned>(memory.at(64), 4), (std::vector<unsigned>{UINT_MAX, 4294705159u, 260105u, 125u}));
  EXPECT_EQ(read<float>(memory.at(128), 3), (std::vector<float>{9.5f, 1.0f, 0.25f}));
}

// LLVM 14 made code for NVIDIA's devices that took zeros for the bits above the sign.
TEST(DeviceFunctions, ASignFillsTheBitsAboveIt) {
  const std::vector<long long> numbers{0, 1, -1, LLONG_MIN, LLONG_MAX, -(1ll << 60), 1ll << 60};
  const std::size_t count = numbers.size();
  DeviceBuffer x(count * sizeof(long long)), out(2 * count * sizeof(long long));
  HIP_OK(hipMemcpy(x.get(), numbers.data(), count * sizeof(long long), hipMemcpyHostToDevice));
  launch_sign_fields(x.get<long long>(), out.get<long long>(), static_cast<int>(count));
  const std::vector<long long> found = read<long long>(out.get(), 2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(found[i], numbers[i] < 0 ? 7 : 0) << numbers[i];
    EXPECT_EQ(found[count + i], (numbers[i] >> 60) & 0xff) << numbers[i];
  }
}

// What a type does not hold becomes the nearest that it holds.
TEST(DeviceFunctions, ConversionsToIntegersSaturate) {
  std::vector<double> numbers{1e300, -1e300, INFINITY, 3e9, -3e9, 70000, -1.5, 7.9};
  if (!is_nvidia()) numbers.push_back(NAN);
  const std::size_t count = numbers.size();
  DeviceBuffer x(count * sizeof(double)), out(3 * count * sizeof(long long));
  HIP_OK(hipMemcpy(x.get(), numbers.data(), count * sizeof(double), hipMemcpyHostToDevice));
  launch_integers_of(x.get<double>(), out.get<long long>(), static_cast<int>(count));
  const std::vector<long long> found = read<long long>(out.get(), 3 * count);
  const auto nearest = [](double number, double least, double most) {
    return std::isnan(number) ? 0
                              : static_cast<long long>(std::trunc(std::fmin(std::fmax(number, least), most)));
  };
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(found[i], nearest(numbers[i], INT_MIN, INT_MAX)) << numbers[i];
    EXPECT_EQ(found[count + i], nearest(numbers[i], 0, UINT_MAX)) << numbers[i];
    EXPECT_EQ(found[2 * count + i], nearest(numbers[i], SHRT_MIN, SHRT_MAX)) << numbers[i];
  }
}

TEST(DeviceFunctions, PrintingDisturbsNothing) {
  launch_print_values(40);
  HIP_OK(hipDeviceSynchronize());
}

}  // namespace
}  // namespace tf::api_test
