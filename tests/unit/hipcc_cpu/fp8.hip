// SPDX-License-Identifier: Apache-2.0
// What hip_fp8.h makes of numbers, on the host and in a kernel. Reads doubles from standard input; for each
// format, side and number it writes a line "FORMAT SIDE of NUMBER: CODE..."; for each code "FORMAT SIDE is
// CODE: VALUE...".
#include <hip/hip_fp8.h>

#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kCodes = 256;

// Of one number: without and with saturation from a double, from a float, a half and a bfloat16; by the type.
struct Codes {
  unsigned char plain, saturated, from_float, from_half, from_bfloat16, by_type, by_float, two_low, two_high,
      four[4];
};

struct Values {
  float number, half, bfloat16, pair_low, pair_high, four[4];
  int whole;
  unsigned int natural;
  signed char small;
  unsigned long long large;
  bool is_set;
};

template <typename One, typename Two, typename Four>
__host__ __device__ Codes encode(double value) {
  constexpr auto kind = One::__default_interpret;
  const float single = static_cast<float>(value);
  const Two two(make_double2(value, -value));
  const Four four(make_float4(single, -single, 2 * single, 1.0f));
  const __half half(single);
  const __hip_bfloat16 bfloat16(single);
  Codes made = {__hip_cvt_double_to_fp8(value, __HIP_NOSAT, kind),
                __hip_cvt_double_to_fp8(value, __HIP_SATFINITE, kind),
                __hip_cvt_float_to_fp8(single, __HIP_NOSAT, kind),
                One(half).__x,
                One(bfloat16).__x,
                One(value).__x,
                One(single).__x,
                static_cast<unsigned char>(two.__x),
                static_cast<unsigned char>(two.__x >> 8),
                {}};
  for (int i = 0; i < 4; ++i) made.four[i] = static_cast<unsigned char>(four.__x >> (8 * i));
  return made;
}

template <typename One, typename Two, typename Four>
__host__ __device__ Values decode(int code) {
  One one;
  one.__x = static_cast<unsigned char>(code);
  Two two;
  two.__x = static_cast<unsigned short>(code << 8 | 1);
  Four four;
  four.__x = static_cast<unsigned int>(code) << 24 | static_cast<unsigned int>(code) << 8;
  const float2 pair = two;
  const float4 all = four;
  const __half half = one;
  const __hip_bfloat16 bfloat16 = one;
  return {one,
          static_cast<float>(half),
          static_cast<float>(bfloat16),
          pair.x,
          pair.y,
          {all.x, all.y, all.z, all.w},
          one,
          one,
          one,
          one,
          one};
}

template <typename One, typename Two, typename Four>
__global__ void on_device(const double* in, Codes* codes, Values* values, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += blockDim.x)
    codes[i] = encode<One, Two, Four>(in[i]);
  if (threadIdx.x < kCodes) values[threadIdx.x] = decode<One, Two, Four>(static_cast<int>(threadIdx.x));
}

void show(const char* format, const char* side, const std::vector<double>& in, const Codes* codes,
          const Values* values) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::printf("%s %s of %a:", format, side, in[i]);
    unsigned char all[sizeof(Codes)];
    std::memcpy(all, &codes[i], sizeof all);
    for (const unsigned char code : all) std::printf(" %d", code);
    std::printf("\n");
  }
  for (int code = 0; code < kCodes; ++code) {
    const Values& v = values[code];
    std::printf("%s %s is %d: %a %a %a %a %a %a %a %a %a %d %u %d %llu %d\n", format, side, code, v.number,
                v.half, v.bfloat16, v.pair_low, v.pair_high, v.four[0], v.four[1], v.four[2], v.four[3],
                v.whole, v.natural, v.small, v.large, v.is_set);
  }
}

template <typename One, typename Two, typename Four>
bool both_sides(const char* format, const std::vector<double>& in) {
  std::vector<Codes> codes;
  std::vector<Values> values;
  for (const double value : in) codes.push_back(encode<One, Two, Four>(value));
  for (int code = 0; code < kCodes; ++code) values.push_back(decode<One, Two, Four>(code));
  show(format, "host", in, codes.data(), values.data());
  double* device_in = nullptr;
  Codes* device_codes = nullptr;
  Values* device_values = nullptr;
  if (hipMalloc(&device_in, in.size() * sizeof in[0]) != hipSuccess) return false;
  if (hipMalloc(&device_codes, codes.size() * sizeof codes[0]) != hipSuccess) return false;
  if (hipMalloc(&device_values, values.size() * sizeof values[0]) != hipSuccess) return false;
  (void)hipMemcpy(device_in, in.data(), in.size() * sizeof in[0], hipMemcpyHostToDevice);
  on_device<One, Two, Four>
      <<<1, kCodes>>>(device_in, device_codes, device_values, static_cast<int>(in.size()));
  (void)hipMemcpy(codes.data(), device_codes, codes.size() * sizeof codes[0], hipMemcpyDeviceToHost);
  (void)hipMemcpy(values.data(), device_values, values.size() * sizeof values[0], hipMemcpyDeviceToHost);
  show(format, "device", in, codes.data(), values.data());
  return hipGetLastError() == hipSuccess;
}

int main() {
  std::vector<double> in;
  for (double value = 0; std::scanf("%lf", &value) == 1;) in.push_back(value);
  const bool well =
      both_sides<__hip_fp8_e4m3, __hip_fp8x2_e4m3, __hip_fp8x4_e4m3>("e4m3", in) &&
      both_sides<__hip_fp8_e5m2, __hip_fp8x2_e5m2, __hip_fp8x4_e5m2>("e5m2", in) &&
      both_sides<__hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz>("e4m3_fnuz", in) &&
      both_sides<__hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz>("e5m2_fnuz", in);
  return well ? 0 : 1;
}
