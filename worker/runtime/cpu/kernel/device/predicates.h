// SPDX-License-Identifier: Apache-2.0
// Comparisons that the amdgcn back end numbers, for kernels on the CPU and on NVIDIA GPUs. Clang only.
#pragma once

#include <stdint.h>

namespace {
template <typename T, typename S>
__attribute__((always_inline)) inline bool compare_int(T a, T b, int32_t predicate) {
  const S sa = static_cast<S>(a), sb = static_cast<S>(b);
  switch (predicate) {  // llvm::CmpInst::Predicate
    case 32: return a == b;
    case 33: return a != b;
    case 34: return a > b;
    case 35: return a >= b;
    case 36: return a < b;
    case 37: return a <= b;
    case 38: return sa > sb;
    case 39: return sa >= sb;
    case 40: return sa < sb;
    default: return sa <= sb;
  }
}
__attribute__((always_inline)) inline bool compare_float(double a, double b, int32_t predicate) {
  const bool holds = ((predicate & 1) && a == b) || ((predicate & 2) && a > b) || ((predicate & 4) && a < b);
  return holds || ((predicate & 8) && __builtin_isunordered(a, b));
}
}  // namespace
