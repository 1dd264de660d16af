// SPDX-License-Identifier: Apache-2.0
// HIP's keywords that a source may use before it includes a HIP header, as with the vendor's compiler.
// Included before HIP sources. Spelled as in HIP's own headers, which define them again.
#if defined(__HIP__) && !__CLANG_HIP_RUNTIME_WRAPPER_INCLUDED__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#endif

// hiprtc's, from HIP 6.1 on: ptrdiff_t is the type that it is on Windows.
#if defined(__AMDGCN__) && defined(__HIPRTC_PTRDIFF_T_IS_LONG_LONG__)
#if __HIPRTC_PTRDIFF_T_IS_LONG_LONG__
#undef __PTRDIFF_TYPE__
#define __PTRDIFF_TYPE__ long long
#endif
#endif
