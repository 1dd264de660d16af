// SPDX-License-Identifier: Apache-2.0
// Arithmetic that rounds in one direction (__ocml_add_rtn_f32 and its like), for kernels on the CPU: the
// processor's own instructions, between two changes of its rounding. Linked as IR, clang only; any thread.
#include <math.h>
#include <stdint.h>

#define API extern "C" __attribute__((visibility("hidden")))
// Nothing else of a kernel may come between the two changes.
#define ALONE __attribute__((noinline))

namespace {
constexpr uint32_t kRounding = 0x6000, kDown = 0x2000, kUp = 0x4000, kToZero = 0x6000;  // bits of MXCSR

// The operands pass through the first change and the result through the second, so that the operation stays
// between.
template <typename T, typename Operation>
__attribute__((always_inline)) inline T rounded(uint32_t direction, Operation operation, T a, T b, T c) {
  uint32_t before = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(before));
  const uint32_t now = (before & ~kRounding) | direction;
  __asm__ volatile("ldmxcsr %3" : "+x"(a), "+x"(b), "+x"(c) : "m"(now) : "memory");
  T result = operation(a, b, c);
  __asm__ volatile("ldmxcsr %1" : "+x"(result) : "m"(before) : "memory");
  return result;
}
float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
float square_root(float x) { return __builtin_sqrtf(x); }
double square_root(double x) { return __builtin_sqrt(x); }
}  // namespace

#define NEAREST(T, suffix)                                       \
  API T __ocml_add_rte_##suffix(T a, T b) { return a + b; }      \
  API T __ocml_sub_rte_##suffix(T a, T b) { return a - b; }      \
  API T __ocml_mul_rte_##suffix(T a, T b) { return a * b; }      \
  API T __ocml_div_rte_##suffix(T a, T b) { return a / b; }      \
  API T __ocml_sqrt_rte_##suffix(T a) { return square_root(a); } \
  API T __ocml_fma_rte_##suffix(T a, T b, T c) { return fused(a, b, c); }
NEAREST(float, f32)
NEAREST(double, f64)

#define DIRECTED(T, suffix, mode, direction)                               \
  API ALONE T __ocml_add_##mode##_##suffix(T a, T b) {                     \
    return rounded<T>(                                                     \
        direction, [](T x, T y, T) { return x + y; }, a, b, 0);            \
  }                                                                        \
  API ALONE T __ocml_sub_##mode##_##suffix(T a, T b) {                     \
    return rounded<T>(                                                     \
        direction, [](T x, T y, T) { return x - y; }, a, b, 0);            \
  }                                                                        \
  API ALONE T __ocml_mul_##mode##_##suffix(T a, T b) {                     \
    return rounded<T>(                                                     \
        direction, [](T x, T y, T) { return x * y; }, a, b, 0);            \
  }                                                                        \
  API ALONE T __ocml_div_##mode##_##suffix(T a, T b) {                     \
    return rounded<T>(                                                     \
        direction, [](T x, T y, T) { return x / y; }, a, b, 0);            \
  }                                                                        \
  API ALONE T __ocml_sqrt_##mode##_##suffix(T a) {                         \
    return rounded<T>(                                                     \
        direction, [](T x, T, T) { return square_root(x); }, a, 0, 0);     \
  }                                                                        \
  API ALONE T __ocml_fma_##mode##_##suffix(T a, T b, T c) {                \
    return rounded<T>(                                                     \
        direction, [](T x, T y, T z) { return fused(x, y, z); }, a, b, c); \
  }
#define DIRECTED_BOTH(mode, direction) \
  DIRECTED(float, f32, mode, direction) DIRECTED(double, f64, mode, direction)
DIRECTED_BOTH(rtn, kDown)
DIRECTED_BOTH(rtp, kUp)
DIRECTED_BOTH(rtz, kToZero)
