// SPDX-License-Identifier: Apache-2.0
// What HIP 5's headers need and clang 22 no longer has. Included before HIP sources only.
#if defined(__HIP__) && __clang_major__ >= 22
#ifndef __AMDGCN_WAVEFRONT_SIZE
#ifdef __gfx1030__
#define __AMDGCN_WAVEFRONT_SIZE 32
#else
#define __AMDGCN_WAVEFRONT_SIZE 64
#endif
#endif
typedef _Float16 __hipr_2f16 __attribute__((ext_vector_type(2)));
extern "C" __attribute__((device)) inline _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) {
  return static_cast<_Float16>(1) / x;
}
extern "C" __attribute__((device)) inline __hipr_2f16 __llvm_amdgcn_rcp_2f16(__hipr_2f16 x) {
  return static_cast<__hipr_2f16>(static_cast<_Float16>(1)) / x;
}
#endif
