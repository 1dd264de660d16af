// SPDX-License-Identifier: Apache-2.0
// malloc() and free() of kernels (hipr_heap_names.h), where no header of clang's defines them.
#if defined(__HIP__) && defined(__cplusplus)
extern "C" {
__attribute__((device)) unsigned long long __ockl_dm_alloc(unsigned long long);
__attribute__((device)) void __ockl_dm_dealloc(unsigned long long);
__attribute__((device)) inline void* malloc(__SIZE_TYPE__ bytes) {
  return reinterpret_cast<void*>(__ockl_dm_alloc(bytes));
}
__attribute__((device)) inline void free(void* memory) {
  __ockl_dm_dealloc(reinterpret_cast<unsigned long long>(memory));
}
}
#endif
