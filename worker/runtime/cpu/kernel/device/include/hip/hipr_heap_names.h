// SPDX-License-Identifier: Apache-2.0
// malloc() and free() of kernels by other names for the linker: those of the C library are the NVIDIA
// driver's. Before the C library's header, so that `using ::malloc` there means both.
#if defined(__HIP__) && defined(__cplusplus)
extern "C" {
__attribute__((device)) inline void* malloc(__SIZE_TYPE__ bytes) __asm__("__hipr_malloc");
__attribute__((device)) inline void free(void* memory) __asm__("__hipr_free");
}
#endif
