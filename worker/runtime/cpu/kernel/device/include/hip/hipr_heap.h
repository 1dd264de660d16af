// SPDX-License-Identifier: Apache-2.0
// malloc() and free() of kernels, where clang itself brings none: it does where it finds HIP's own folders.
// Before the C library's header, so that `using ::malloc` there means both.
#if defined(__HIP__) && defined(__cplusplus)
extern "C" {
__attribute__((device)) unsigned long long __ockl_dm_alloc(unsigned long long);
__attribute__((device)) void __ockl_dm_dealloc(unsigned long long);
// By other names for the linker: those of the C library are the NVIDIA driver's.
__attribute__((device)) inline void* malloc(__SIZE_TYPE__ bytes) __asm__("__hipr_malloc");
__attribute__((device)) inline void free(void* memory) __asm__("__hipr_free");
__attribute__((device)) inline void* malloc(__SIZE_TYPE__ bytes) {
  return reinterpret_cast<void*>(__ockl_dm_alloc(bytes));
}
__attribute__((device)) inline void free(void* memory) {
  __ockl_dm_dealloc(reinterpret_cast<unsigned long long>(memory));
}
}
#endif
