// SPDX-License-Identifier: Apache-2.0
// Arithmetic that rounds in one direction (__ocml_add_rtn_f32 and its like), for NVIDIA GPUs: instructions of
// PTX.
#include <math.h>

#define API extern "C" __attribute__((visibility("hidden")))

HIPR_DEVICE_BEGIN

// Clang's letters: of the direction as PTX has it, of the type.
#define ROUNDED(T, suffix, letter, mode, direction)                                                 \
  API T __ocml_add_##mode##_##suffix(T a, T b) { return __nvvm_add_##direction##_##letter(a, b); }  \
  API T __ocml_sub_##mode##_##suffix(T a, T b) { return __nvvm_add_##direction##_##letter(a, -b); } \
  API T __ocml_mul_##mode##_##suffix(T a, T b) { return __nvvm_mul_##direction##_##letter(a, b); }  \
  API T __ocml_div_##mode##_##suffix(T a, T b) { return __nvvm_div_##direction##_##letter(a, b); }  \
  API T __ocml_sqrt_##mode##_##suffix(T a) { return __nvvm_sqrt_##direction##_##letter(a); }        \
  API T __ocml_fma_##mode##_##suffix(T a, T b, T c) { return __nvvm_fma_##direction##_##letter(a, b, c); }
#define ROUNDED_BOTH(mode, direction) \
  ROUNDED(float, f32, f, mode, direction) ROUNDED(double, f64, d, mode, direction)
ROUNDED_BOTH(rte, rn)
ROUNDED_BOTH(rtn, rm)
ROUNDED_BOTH(rtp, rp)
ROUNDED_BOTH(rtz, rz)

HIPR_DEVICE_END
