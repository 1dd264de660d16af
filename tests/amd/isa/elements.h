// SPDX-License-Identifier: Apache-2.0
// Elements of the matrices of MFMA and SMFMAC.
#pragma once

#include "tests/amd/isa/arithmetic.h"
#include "tests/amd/isa/float8.h"
#include "tests/amd/isa/lanes.h"

namespace tf::amd::isa {

// What an element of A or B is: how many a lane holds, and the e-th of lane `lane`.
struct FloatElement {
  using Sum = float;
  static constexpr int kPerLane = 1;
  static float get(const Row* from, int lane, int /*e*/) { return std::bit_cast<float>(from->lane[lane]); }
};
struct HalfElement {
  using Sum = float;
  static constexpr int kPerLane = 4;
  static float get(const Row* from, int lane, int e) {
    return half_to_float(from[e / 2].lane[lane] >> (16 * (e % 2)) & 0xffff);
  }
};
template <int PerLane>
struct BrainElement {
  using Sum = float;
  static constexpr int kPerLane = PerLane;
  static float get(const Row* from, int lane, int e) {
    return std::bit_cast<float>(from[e / 2].lane[lane] >> (16 * (e % 2)) << 16);
  }
};
template <int PerLane>
struct ByteElement {
  using Sum = std::int32_t;
  static constexpr int kPerLane = PerLane;
  static std::int32_t get(const Row* from, int lane, int e) {
    return sign_bits(from[e / 4].lane[lane] >> (8 * (e % 4)) & 0xff, 8);
  }
};
// Floats of 8 bits.
template <class Format>
struct Float8Element {
  using Sum = float;
  static constexpr int kPerLane = 8;
  static float get(const Row* from, int lane, int e) {
    return Format::to_float(from[e / 4].lane[lane] >> (8 * (e % 4)) & 0xff);
  }
};
// Floats of which 10 bits of the mantissa count. They are rounded to nearest, ties to even, as rocBLAS's own
// reference does.
struct ShortFloatElement {
  using Sum = float;
  static constexpr int kPerLane = 2;
  static float get(const Row* from, int lane, int e) {
    const std::uint32_t bits = from[e].lane[lane];
    if ((bits & 0x7f800000) == 0x7f800000) return std::bit_cast<float>(bits);
    return std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000);
  }
};
struct DoubleElement {
  using Sum = double;
  static constexpr int kPerLane = 1;
  static double get(const Row* from, int lane, int /*e*/) {
    return F64::of(from[0].lane[lane], from[1].lane[lane]);
  }
};

inline std::int32_t multiply_add(std::int32_t a, std::int32_t b, std::int32_t c) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b) +
                                   static_cast<std::uint32_t>(c));
}
inline float multiply_add(float a, float b, float c) { return madd(a, b, c); }
inline double multiply_add(double a, double b, double c) { return madd(a, b, c); }

}  // namespace tf::amd::isa
