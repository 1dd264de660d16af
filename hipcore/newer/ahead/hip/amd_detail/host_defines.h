// SPDX-License-Identifier: Apache-2.0
// In front of HIP's own header, which makes __noinline__ an empty macro where the compiler is not clang.
// libstdc++ of gcc 16 has that word in an attribute, which would then be no attribute any more.
#pragma GCC system_header
#include_next <hip/amd_detail/host_defines.h>
#ifndef __clang__
#undef __noinline__
#endif
