// SPDX-License-Identifier: Apache-2.0
// Half precision conversions that LLVM 14 calls on x86-64 without F16C. Linked as an object into code objects
// that use half; round to nearest even, as the hardware does. In them a half is an integer. From LLVM 15 on it
// is in a vector register, also in __truncdfhf2; libgcc has those, and a definition here would hide them.
#if __clang_major__ < 15
#include <stdint.h>
#include <string.h>

#define API __attribute__((visibility("hidden")))

API float __gnu_h2f_ieee(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t exponent = (half >> 10) & 31, fraction = half & 1023, bits;
  if (exponent == 31) {
    bits = sign | 0x7f800000u | fraction << 13;
  } else if (exponent != 0) {
    bits = sign | (exponent + 112) << 23 | fraction << 13;
  } else if (fraction == 0) {
    bits = sign;
  } else {
    exponent = 113;
    for (; !(fraction & 1024); fraction <<= 1) --exponent;
    bits = sign | exponent << 23 | (fraction & 1023) << 13;
  }
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint16_t from_bits(uint16_t sign, int32_t exponent, uint64_t fraction, int bits) {
  // fraction has `bits` bits below the leading one; exponent is unbiased.
  if (exponent > 15) return sign | 0x7c00;
  int drop = bits - 10;
  uint64_t whole = fraction | (uint64_t)1 << bits;
  int32_t biased = exponent + 15;
  if (biased <= 0) {
    drop += 1 - biased;
    biased = 0;
    if (drop > bits + 1) return sign;
  }
  const uint64_t kept = whole >> drop, rest = whole & (((uint64_t)1 << drop) - 1),
                 middle = (uint64_t)1 << (drop - 1);
  uint16_t result = (uint16_t)(biased ? (uint64_t)biased << 10 | (kept & 1023) : kept);
  if (rest > middle || (rest == middle && (kept & 1)))
    ++result;  // a carry runs into the exponent as it should
  return sign | result;
}

API uint16_t __gnu_f2h_ieee(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint16_t sign = (uint16_t)((bits >> 16) & 0x8000);
  const int32_t exponent = (int32_t)((bits >> 23) & 255);
  const uint32_t fraction = bits & 0x7fffff;
  if (exponent == 255) return (uint16_t)(sign | 0x7c00 | (fraction ? 512 | fraction >> 13 : 0));
  if (exponent == 0) return sign;
  return from_bits(sign, exponent - 127, fraction, 23);
}

API uint16_t __truncdfhf2(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint16_t sign = (uint16_t)((bits >> 48) & 0x8000);
  const int32_t exponent = (int32_t)((bits >> 52) & 2047);
  const uint64_t fraction = bits & 0xfffffffffffffull;
  if (exponent == 2047) return (uint16_t)(sign | 0x7c00 | (fraction ? 512 | fraction >> 42 : 0));
  if (exponent == 0) return sign;
  return from_bits(sign, exponent - 1023, fraction, 52);
}
#endif
