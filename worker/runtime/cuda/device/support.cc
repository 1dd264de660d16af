// SPDX-License-Identifier: Apache-2.0
// What AMD's device libraries and the amdgcn back end give a kernel, for NVIDIA GPUs: indices, barriers, warp
// operations, clocks, integer helpers. hipcc-cpu links it into every PTX code object as IR.
//
// Names starting with __hipr_amdgcn_ replace llvm.amdgcn.* (dots become underscores). Compiled by clang as
// CUDA without the toolkit's headers, never part of the project's own libraries. What is missing here (DPP
// moves, grid barriers, ...) is an error of hipcc-cpu that names it.
//
// HIP's warp functions name no lanes: those that are active at the call take part, as activemask tells.
#include <stdint.h>

#pragma clang force_cuda_host_device begin
#include <predicates.h>

#define API extern "C" __attribute__((always_inline))

namespace {
constexpr uint32_t kWaveSize = 32;
constexpr uint32_t kWholeWave = 0x1f;  // the clamp of a shuffle over all lanes

__attribute__((always_inline)) inline uint32_t active() {
  uint32_t mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
  return mask;
}
__attribute__((always_inline)) inline uint32_t lane() { return __nvvm_read_ptx_sreg_laneid(); }
__attribute__((always_inline)) inline uint32_t from_lane(uint32_t value, uint32_t source) {
  return static_cast<uint32_t>(__nvvm_shfl_sync_idx_i32(active(), static_cast<int32_t>(value),
                                                        static_cast<int32_t>(source), kWholeWave));
}
__attribute__((always_inline)) inline uint64_t ballot(bool predicate) {
  return __nvvm_vote_ballot_sync(active(), predicate);
}
__attribute__((always_inline)) inline uint32_t pick(uint32_t d, uint32_t x, uint32_t y, uint32_t z,
                                                    uint32_t otherwise) {
  return d == 0 ? x : d == 1 ? y : d == 2 ? z : otherwise;
}
}  // namespace

// ---- indices ------------------------------------------------------------------------------------------
API uint32_t __hipr_amdgcn_workitem_id_x() { return __nvvm_read_ptx_sreg_tid_x(); }
API uint32_t __hipr_amdgcn_workitem_id_y() { return __nvvm_read_ptx_sreg_tid_y(); }
API uint32_t __hipr_amdgcn_workitem_id_z() { return __nvvm_read_ptx_sreg_tid_z(); }
API uint32_t __hipr_amdgcn_workgroup_id_x() { return __nvvm_read_ptx_sreg_ctaid_x(); }
API uint32_t __hipr_amdgcn_workgroup_id_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
API uint32_t __hipr_amdgcn_workgroup_id_z() { return __nvvm_read_ptx_sreg_ctaid_z(); }
API uint64_t __ockl_get_local_id(uint32_t d) {
  return pick(d, __nvvm_read_ptx_sreg_tid_x(), __nvvm_read_ptx_sreg_tid_y(), __nvvm_read_ptx_sreg_tid_z(), 0);
}
API uint64_t __ockl_get_group_id(uint32_t d) {
  return pick(d, __nvvm_read_ptx_sreg_ctaid_x(), __nvvm_read_ptx_sreg_ctaid_y(),
              __nvvm_read_ptx_sreg_ctaid_z(), 0);
}
API uint64_t __ockl_get_local_size(uint32_t d) {
  return pick(d, __nvvm_read_ptx_sreg_ntid_x(), __nvvm_read_ptx_sreg_ntid_y(), __nvvm_read_ptx_sreg_ntid_z(),
              1);
}
API uint64_t __ockl_get_num_groups(uint32_t d) {
  return pick(d, __nvvm_read_ptx_sreg_nctaid_x(), __nvvm_read_ptx_sreg_nctaid_y(),
              __nvvm_read_ptx_sreg_nctaid_z(), 1);
}
API uint64_t __ockl_get_global_size(uint32_t d) {
  return __ockl_get_num_groups(d) * __ockl_get_local_size(d);
}
API uint64_t __ockl_get_global_id(uint32_t d) {
  return __ockl_get_group_id(d) * __ockl_get_local_size(d) + __ockl_get_local_id(d);
}
API uint32_t __ockl_lane_u32() { return lane(); }
API uint32_t __hipr_amdgcn_wavefrontsize() { return kWaveSize; }
API uint32_t __hipr_amdgcn_mbcnt_lo(uint32_t mask, uint32_t base) {
  return base + static_cast<uint32_t>(__builtin_popcount(mask & ((1u << lane()) - 1)));
}
API uint32_t __hipr_amdgcn_mbcnt_hi(uint32_t, uint32_t base) { return base; }  // lanes from 32 on
API uint32_t __hipr_amdgcn_groupstaticsize() {
  uint32_t all, dynamic;
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(all));
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic));
  return all - dynamic;
}

// ---- barriers -----------------------------------------------------------------------------------------
API void __hipr_amdgcn_s_barrier() { __nvvm_bar_sync(0); }
// Of truth values, which is all that HIP's functions give them.
API int32_t __ockl_wgred_add_i32(int32_t a) { return __nvvm_bar0_popc(a); }
API int32_t __ockl_wgred_and_i32(int32_t a) { return __nvvm_bar0_and(a); }
API int32_t __ockl_wgred_or_i32(int32_t a) { return __nvvm_bar0_or(a); }
API void __hipr_amdgcn_wave_barrier() { __nvvm_bar_warp_sync(active()); }
// Order and scope as OpenCL numbers them: relaxed 0, ..., sequentially consistent 5; lane 0, block 1, device
// 2, system 3, warp 4.
API void __atomic_work_item_fence(uint32_t, uint32_t order, uint32_t scope) {
  if (order == 0 || scope == 0) return;
  if (scope == 2) {
    asm volatile("fence.sc.gpu;" ::: "memory");
  } else if (scope == 3) {
    asm volatile("fence.sc.sys;" ::: "memory");
  } else {
    asm volatile("fence.acq_rel.cta;" ::: "memory");
  }
}

// ---- warp operations ----------------------------------------------------------------------------------
API uint32_t __hipr_amdgcn_ds_bpermute(uint32_t byte_index, uint32_t value) {
  return from_lane(value, (byte_index >> 2) % kWaveSize);
}
API uint32_t __hipr_amdgcn_ds_swizzle(uint32_t value, uint32_t pattern) {
  const uint32_t self = lane();
  const uint32_t quad = (self & ~3u) | ((pattern >> (2 * (self & 3))) & 3);
  const uint32_t masked = ((self & (pattern & 31)) | ((pattern >> 5) & 31)) ^ ((pattern >> 10) & 31);
  return from_lane(value, pattern & 0x8000 ? quad : masked);
}
API uint32_t __hipr_amdgcn_readfirstlane(uint32_t value) {
  return from_lane(value, static_cast<uint32_t>(__builtin_ctz(active())));
}
API uint32_t __hipr_amdgcn_readlane(uint32_t value, uint32_t source) {
  return from_lane(value, source % kWaveSize);
}
API uint64_t __hipr_amdgcn_icmp_i64_i32(uint32_t a, uint32_t b, int32_t predicate) {
  return ballot(compare_int<uint32_t, int32_t>(a, b, predicate));
}
API uint64_t __hipr_amdgcn_icmp_i64_i64(uint64_t a, uint64_t b, int32_t predicate) {
  return ballot(compare_int<uint64_t, int64_t>(a, b, predicate));
}
API uint64_t __hipr_amdgcn_fcmp_i64_f32(float a, float b, int32_t predicate) {
  return ballot(compare_float(a, b, predicate));
}
API uint64_t __hipr_amdgcn_fcmp_i64_f64(double a, double b, int32_t predicate) {
  return ballot(compare_float(a, b, predicate));
}
API uint64_t __hipr_amdgcn_read_exec() { return active(); }
API bool __ockl_wfany_i32(int32_t a) { return __nvvm_vote_any_sync(active(), a != 0); }
API bool __ockl_wfall_i32(int32_t a) { return __nvvm_vote_all_sync(active(), a != 0); }
API uint32_t __ockl_activelane_u32() {
  return static_cast<uint32_t>(__builtin_popcount(active() & ((1u << lane()) - 1)));
}

// ---- clocks, memory -----------------------------------------------------------------------------------
// The wall clock ticks at 100 MHz, as AMD's does; the other one with the multiprocessor.
API uint64_t __hipr_amdgcn_s_memrealtime() {
  uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds / 10;
}
API uint64_t __ockl_steadyctr_u64() { return __hipr_amdgcn_s_memrealtime(); }
API uint64_t __hipr_amdgcn_s_memtime() {
  uint64_t ticks;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(ticks)::"memory");
  return ticks;
}
API void __hipr_amdgcn_s_sleep(int32_t units) {  // of 64 clocks
  asm volatile("nanosleep.u32 %0;" ::"r"(units * 32) : "memory");
}
API void __hipr_amdgcn_s_waitcnt(int32_t) {}
API bool __hipr_amdgcn_is_shared(const char* p) { return __nvvm_isspacep_shared(p); }
API bool __hipr_amdgcn_is_private(const char* p) { return __nvvm_isspacep_local(p); }

extern "C" void* malloc(unsigned long);
extern "C" void free(void*);
API uint64_t __ockl_dm_alloc(uint64_t bytes) { return reinterpret_cast<uint64_t>(malloc(bytes)); }
API void __ockl_dm_dealloc(uint64_t address) { free(reinterpret_cast<void*>(address)); }

// The driver's own: prints the place and ends the grid with an error that says why.
extern "C" void __assertfail(const char* message, const char* file, uint32_t line, const char* function,
                             uint64_t character_bytes);
extern "C" __attribute__((noinline)) void __assert_fail(const char* message, const char* file, uint32_t line,
                                                        const char* function) {
  __assertfail(message, file, line, function, 1);
  __builtin_trap();
}

API uint32_t __hipr_amdgcn_atomic_inc_i32_p0i32(uint32_t* p, uint32_t limit, int32_t, int32_t, bool) {
  uint32_t seen;
  asm volatile("atom.inc.u32 %0, [%1], %2;" : "=r"(seen) : "l"(p), "r"(limit) : "memory");
  return seen;
}
API uint32_t __hipr_amdgcn_atomic_dec_i32_p0i32(uint32_t* p, uint32_t limit, int32_t, int32_t, bool) {
  uint32_t seen;
  asm volatile("atom.dec.u32 %0, [%1], %2;" : "=r"(seen) : "l"(p), "r"(limit) : "memory");
  return seen;
}
API float __hipr_amdgcn_global_atomic_fadd_f32_p0f32_f32(float* p, float value) {
  float seen;
  asm volatile("atom.add.f32 %0, [%1], %2;" : "=f"(seen) : "l"(p), "f"(value) : "memory");
  return seen;
}
API double __hipr_amdgcn_flat_atomic_fadd_f64_p0f64_f64(double* p, double value) {
  double seen;
  asm volatile("atom.add.f64 %0, [%1], %2;" : "=d"(seen) : "l"(p), "d"(value) : "memory");
  return seen;
}
API void __ockl_atomic_add_noret_f32(float* p, float value) {
  __hipr_amdgcn_global_atomic_fadd_f32_p0f32_f32(p, value);
}
#pragma clang force_cuda_host_device end
