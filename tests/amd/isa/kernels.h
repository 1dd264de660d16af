// SPDX-License-Identifier: Apache-2.0
// What the tests' kernels compute, one item at a time: compiled for gfx90a and for the host.
#pragma once

#ifdef __AMDGCN__
#define TF_BOTH __attribute__((device)) static inline
#else
#define TF_BOTH static inline
#endif

// Every operation once or more; results of all kinds in one record.
struct Record {
  float f[12];
  double d[8];
  unsigned u[16];
  unsigned long long l[8];
  int i[8];
};

TF_BOTH unsigned mix_bits(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ x >> 16;
}

TF_BOTH float small_float(unsigned bits) { return (float)(int)(bits & 0xffff) / 64.0F - 512.0F; }

TF_BOTH void floats_of(unsigned n, Record* r) {
  const float a = small_float(mix_bits(n));
  const float b = small_float(mix_bits(n + 1000)) + 0.125F;
  const float c = small_float(mix_bits(n + 2000));
  r->f[0] = a + b;
  r->f[1] = a * b;
  r->f[2] = __builtin_fmaf(a, b, c);
  r->f[3] = a / b;
  r->f[4] = a < b ? a - c : c;
  r->f[5] = __builtin_floorf(a);
  r->f[6] = __builtin_truncf(b);
  r->f[7] = __builtin_fabsf(c) - -a;
  r->f[8] = __builtin_rintf(a);
  r->f[9] = (float)(a * 1e-39F) * 3.0F;  // denormal
  r->f[10] = 1e-20F * a / (b * 1e18F);
  r->f[11] = __builtin_ceilf(a * 0.25F);
}

TF_BOTH void doubles_of(unsigned n, Record* r) {
  const double a = (double)small_float(mix_bits(n)) * 1.0009765625;
  const double b = (double)small_float(mix_bits(n + 5)) + 0.0625;
  r->d[0] = a + b;
  r->d[1] = a * b;
  r->d[2] = a / b;
  r->d[3] = __builtin_fma(a, b, 0.5);
  r->d[4] = __builtin_floor(a);
  r->d[5] = (double)(float)a;
  r->d[6] = (double)(int)b + (double)(unsigned)(n * 77U);
  r->d[7] = a > b ? a : -b;
}

TF_BOTH void integers_of(unsigned n, Record* r) {
  const unsigned a = mix_bits(n);
  const unsigned b = mix_bits(n + 17) | 1;
  const unsigned long long wide = (unsigned long long)a << 32 | b;
  r->u[0] = a + b;
  r->u[1] = a * b;
  r->u[2] = a / (b >> (n & 15));
  r->u[3] = a % (b >> (n & 15));
  r->u[4] = (unsigned)__builtin_popcount(a);
  r->u[5] = (unsigned)__builtin_clz(b);
  r->u[6] = (unsigned)__builtin_ctz(a | 1U << 31);
  r->u[7] = a << (b & 31) | a >> (32 - (b & 31 ? b & 31 : 1));
  r->u[8] = (a & b) | (~a & n);
  r->u[9] = a > b ? a : b;
  r->u[10] = (unsigned)((unsigned long long)a * b >> 32);
  r->u[11] = (a & 0xffff) * 3U + (b >> 16);
  r->u[12] = (unsigned)(unsigned char)(a + 7);
  r->u[13] = __builtin_bswap32(a);
  r->u[14] = (a >> 5) & 0x3ff;
  r->u[15] = (unsigned)(unsigned short)(a * 5U);
  r->l[0] = wide * 6364136223846793005ULL + 1442695040888963407ULL;
  r->l[1] = wide / (b >> 3);
  r->l[2] = wide % 1000003;
  r->l[3] = wide << (n & 63);
  r->l[4] = wide >> (n & 63);
  r->l[5] = wide - 12345678901234ULL;
  r->l[6] = (unsigned long long)((long long)wide >> (n & 31));
  r->l[7] = wide < 0x8000000000000000ULL ? wide : ~wide;
  r->i[0] = (int)a / ((int)b >> 8 | 1);
  r->i[1] = (int)a % ((int)b >> 8 | 1);
  r->i[2] = (int)a >> (b & 31);
  r->i[3] = (signed char)a;
  r->i[4] = (int)(short)b;
  r->i[5] = (int)a < (int)b ? (int)a : (int)b;
  r->i[6] = (int)small_float(a);
  r->i[7] = (int)((long long)(int)a * (int)b >> 32);
}

// XORWOW as Marsaglia gives it ("Xorshift RNGs", 2003): `count` steps.
TF_BOTH unsigned xorwow(unsigned seed, unsigned count) {
  unsigned x = seed ^ 123456789U, y = 362436069U, z = 521288629U, w = 88675123U, v = 5783321U, d = 6615241U;
  unsigned sum = 0;
  for (unsigned k = 0; k < count; ++k) {
    const unsigned t = x ^ x >> 2;
    x = y;
    y = z;
    z = w;
    w = v;
    v = (v ^ v << 4) ^ (t ^ t << 1);
    d += 362437U;
    sum += d + v;
  }
  return sum;
}
