// SPDX-License-Identifier: Apache-2.0
// Integer helpers of AMD's device libraries and the amdgcn back end: for kernels on the CPU and, through
// worker/runtime/cuda/device/ocml.cc, on NVIDIA GPUs. Linked as IR, clang only. Stateless; any thread.
#include <stdint.h>

#define INTEGER_API extern "C" __attribute__((visibility("hidden"), always_inline))

INTEGER_API uint32_t __ockl_mul24_u32(uint32_t a, uint32_t b) { return (a & 0xffffff) * (b & 0xffffff); }
INTEGER_API int32_t __ockl_mul24_i32(int32_t a, int32_t b) {
  const uint32_t x = static_cast<uint32_t>(static_cast<int32_t>(static_cast<uint32_t>(a) << 8) >> 8);
  const uint32_t y = static_cast<uint32_t>(static_cast<int32_t>(static_cast<uint32_t>(b) << 8) >> 8);
  return static_cast<int32_t>(x * y);
}
INTEGER_API uint32_t __ockl_mul_hi_u32(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}
INTEGER_API int32_t __ockl_mul_hi_i32(int32_t a, int32_t b) { return static_cast<int32_t>(int64_t{a} * b >> 32); }
INTEGER_API uint32_t __ockl_sadd_u32(uint32_t a, uint32_t b, uint32_t c) { return (a > b ? a - b : b - a) + c; }
INTEGER_API uint8_t __ockl_clz_u8(uint8_t a) { return a ? static_cast<uint8_t>(__builtin_clz(a) - 24) : 8; }
INTEGER_API uint16_t __ockl_clz_u16(uint16_t a) { return a ? static_cast<uint16_t>(__builtin_clz(a) - 16) : 16; }
INTEGER_API uint32_t __ockl_clz_u32(uint32_t a) { return a ? static_cast<uint32_t>(__builtin_clz(a)) : 32; }
INTEGER_API uint64_t __ockl_clz_u64(uint64_t a) { return a ? static_cast<uint64_t>(__builtin_clzll(a)) : 64; }
INTEGER_API uint32_t __hipr_amdgcn_sad_u8(uint32_t a, uint32_t b, uint32_t c) {
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    const uint32_t x = (a >> shift) & 255, y = (b >> shift) & 255;
    c += x > y ? x - y : y - x;
  }
  return c;
}
INTEGER_API uint32_t __hipr_amdgcn_alignbyte(uint32_t high, uint32_t low, uint32_t bytes) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> (8 * (bytes & 3)));
}
INTEGER_API uint32_t __hipr_amdgcn_ubfe_i32(uint32_t a, uint32_t offset, uint32_t width) {
  return (width & 31) ? (a >> (offset & 31)) & ((1u << (width & 31)) - 1) : 0;
}
INTEGER_API int32_t __hipr_amdgcn_sbfe_i32(int32_t a, uint32_t offset, uint32_t width) {
  width &= 31;
  if (width == 0) return 0;
  const uint32_t field = static_cast<uint32_t>(a >> (offset & 31)) << (32 - width);
  return static_cast<int32_t>(field) >> (32 - width);
}

// Dot products of words that hold 32 / bits numbers each, plus c; exact before they are saturated or cut off.
namespace {
__attribute__((always_inline)) inline uint32_t unsigned_dot(uint32_t a, uint32_t b, uint32_t c, uint32_t bits,
                                                            bool saturate) {
  uint64_t sum = c;
  const uint32_t mask = (1u << bits) - 1;
  for (uint32_t at = 0; at < 32; at += bits) sum += uint64_t{(a >> at) & mask} * ((b >> at) & mask);
  return saturate && sum > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(sum);
}
__attribute__((always_inline)) inline int32_t signed_part(uint32_t word, uint32_t at, uint32_t bits) {
  return static_cast<int32_t>(word << (32 - bits - at)) >> (32 - bits);
}
__attribute__((always_inline)) inline int32_t signed_dot(uint32_t a, uint32_t b, int32_t c, uint32_t bits,
                                                         bool saturate) {
  int64_t sum = c;
  for (uint32_t at = 0; at < 32; at += bits) sum += int64_t{signed_part(a, at, bits)} * signed_part(b, at, bits);
  if (saturate && sum > INT32_MAX) return INT32_MAX;
  if (saturate && sum < INT32_MIN) return INT32_MIN;
  return static_cast<int32_t>(sum);
}
}  // namespace
#define DOT_PRODUCTS(count)                                                                               \
  INTEGER_API uint32_t __hipr_udot##count(uint32_t a, uint32_t b, uint32_t c, uint32_t saturate) {        \
    return unsigned_dot(a, b, c, 32 / count, saturate != 0);                                              \
  }                                                                                                       \
  INTEGER_API int32_t __hipr_sdot##count(uint32_t a, uint32_t b, int32_t c, uint32_t saturate) {          \
    return signed_dot(a, b, c, 32 / count, saturate != 0);                                                \
  }
DOT_PRODUCTS(2)
DOT_PRODUCTS(4)
DOT_PRODUCTS(8)
