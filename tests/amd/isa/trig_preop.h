// SPDX-License-Identifier: Apache-2.0
// Parts of 2/pi, which a reduction of large arguments of sin and cos multiplies [CDNA2 chapter 12.12,
// V_TRIG_PREOP_F64].
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tf::amd::isa {

constexpr unsigned kTwoOverPiBits = 1201;  // so many follow the binary point, and then zeros
constexpr std::array<std::uint64_t, 19> kTwoOverPi = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000,
};

// The bits [first, first + 53) behind the binary point of 2/pi, as an integer.
inline std::uint64_t two_over_pi_bits(unsigned first) {
  const unsigned word = first / 64, shift = first % 64;
  const auto at = [](unsigned index) { return index < kTwoOverPi.size() ? kTwoOverPi[index] : 0; };
  const std::uint64_t bits = shift == 0 ? at(word) : at(word) << shift | at(word + 1) >> (64 - shift);
  return bits >> 11;
}

// `segment` of 53 bits; for a large x, from where its lowest bit times 2/pi is less than a whole turn.
inline double trig_preop(double x, std::uint32_t segment) {
  constexpr int kSmall = 1077;   // exponent fields up to here begin at the binary point
  constexpr int kScaled = 1968;  // from here the result is 2^128 times as large, lest it be denormal
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 2047);
  const int first = static_cast<int>(segment & 31) * 53 + std::max(exponent - kSmall, 0);
  const int scale = -53 - first + (exponent >= kScaled ? 128 : 0);
  return std::ldexp(static_cast<double>(two_over_pi_bits(static_cast<unsigned>(first))), scale);
}

}  // namespace tf::amd::isa
